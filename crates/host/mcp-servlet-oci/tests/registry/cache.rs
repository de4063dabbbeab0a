//! What is kept: blobs by digest, and the last known image of a tag.

use std::path::PathBuf;

use mcp_servlet_oci::{Cache, Cleaned, Client, Digest, Settings};

use crate::site::{Site, WASM, status};

fn blob_file(site: &Site, digest: &Digest) -> PathBuf {
    let folder = site.folder.path().join("cache/blobs/sha256");
    folder.join(digest.hex())
}

#[tokio::test]
async fn a_pinned_image_in_the_cache_needs_no_registry() {
    let site = Site::start().await;
    let digest = site.module("1");
    site.pull(":1").await.expect("a module");
    site.asked();
    site.rule(|_| Some(status(500)));
    let pulled = site.pull(&format!("@{digest}")).await.expect("a module");
    assert_eq!((pulled.wasm, pulled.digest), (WASM.to_vec(), digest));
    assert!(site.asked().is_empty());
}

#[tokio::test]
async fn a_tag_is_asked_for_and_its_layers_are_not_fetched_again() {
    let site = Site::start().await;
    site.module("1");
    site.pull(":1").await.expect("a module");
    site.asked();
    site.pull(":1").await.expect("a module");
    assert_eq!(site.lines(), ["GET /v2/demo/greet/manifests/1"]);
}

#[tokio::test]
async fn a_file_that_has_changed_is_fetched_again() {
    let site = Site::start().await;
    let digest = site.module("1");
    site.pull(":1").await.expect("a module");
    for changed in [Digest::of(WASM), digest.clone()] {
        let path = blob_file(&site, &changed);
        std::fs::write(&path, b"\0asm\x02\0\0\0").expect("a file");
        site.asked();
        let pulled = site.pull(&format!("@{digest}")).await.expect("a module");
        assert_eq!(pulled.wasm, WASM);
        assert_eq!(site.asked().len(), 1);
        let stored = std::fs::read(path).expect("a file");
        assert_eq!(Digest::of(&stored), changed);
    }
}

#[tokio::test]
async fn a_file_that_has_changed_is_not_used_if_the_registry_is_down() {
    let site = Site::start().await;
    let digest = site.module("1");
    site.pull(":1").await.expect("a module");
    let path = blob_file(&site, &Digest::of(WASM));
    std::fs::write(&path, b"\0asm\x02\0\0\0").expect("a file");
    site.rule(|_| Some(status(503)));
    let (code, message) = site.refused(&format!("@{digest}")).await;
    assert_eq!(code, "unexpected-answer", "{message}");
    assert!(!path.exists(), "it is removed");
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_user_can_read_the_cache() {
    use std::os::unix::fs::PermissionsExt as _;
    let site = Site::start().await;
    let digest = site.module("1");
    site.pull(":1").await.expect("a module");
    let mode = |path: PathBuf| {
        let metadata = std::fs::metadata(path).expect("it is there");
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(mode(blob_file(&site, &digest)), 0o600);
    assert_eq!(mode(site.folder.path().join("cache")), 0o700);
}

#[tokio::test]
async fn the_last_known_image_is_used_if_the_registry_is_down_and_that_is_wanted() {
    let site = Site::start().await;
    site.module("1");
    site.pull(":1").await.expect("a module");
    site.rule(|_| Some(status(503)));
    assert_eq!(site.refused(":1").await.0, "unexpected-answer");
    let settings = Settings {
        last_known: true,
        ..site.settings()
    };
    let client = Client::new(settings).expect("certificates");
    let pulled = client.pull(&site.reference(":1")).await;
    assert_eq!(pulled.expect("the last known image").wasm, WASM);
    let unknown = client.pull(&site.reference(":2")).await;
    assert_eq!(unknown.expect_err("never seen").code(), "unexpected-answer");
}

#[tokio::test]
async fn a_tag_that_is_gone_is_not_taken_from_the_cache() {
    let site = Site::start().await;
    site.module("1");
    site.pull(":1").await.expect("a module");
    site.rule(|_| Some(status(404)));
    let settings = Settings {
        last_known: true,
        ..site.settings()
    };
    let client = Client::new(settings).expect("certificates");
    let error = client.pull(&site.reference(":1")).await.expect_err("gone");
    assert_eq!(error.code(), "manifest-unknown");
}

#[tokio::test]
async fn clean_removes_everything() {
    let site = Site::start().await;
    site.module("1");
    site.pull(":1").await.expect("a module");
    let cache = Cache::at(site.folder.path().join("cache"));
    let cleaned = cache.clean().expect("a cache");
    assert_eq!(cleaned.blobs, 2);
    assert!(cleaned.bytes > WASM.len() as u64);
    assert_eq!(cache.clean().expect("no cache"), Cleaned::default());
}
