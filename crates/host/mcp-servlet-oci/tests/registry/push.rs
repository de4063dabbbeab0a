//! Pushes.

use axum::{
    http::{StatusCode, header},
    response::IntoResponse as _,
};
use mcp_servlet_oci::{Artifact, Digest, Error, Pushed, SERVLET, SigningKey};

use crate::site::{Site, WASM, status};

fn artifact(wasm: &[u8]) -> Artifact {
    Artifact {
        wasm: wasm.to_vec(),
        artifact_type: SERVLET,
        annotations: [("io.mcp-servlet.tools".to_owned(), "greet".to_owned())].into(),
    }
}

fn tags(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Pushes a module with the tag `1`.
async fn push(site: &Site, key: Option<&SigningKey>) -> Result<Pushed, Error> {
    let client = site.client();
    client
        .push(
            &site.reference(""),
            &tags(&["1"]),
            &artifact(WASM),
            false,
            key,
        )
        .await
}

#[tokio::test]
async fn what_is_pushed_can_be_pulled() {
    let site = Site::start().await;
    let (client, artifact) = (site.client(), artifact(WASM));
    let pushed = client
        .push(
            &site.reference(""),
            &tags(&["1", "latest"]),
            &artifact,
            false,
            None,
        )
        .await;
    let pushed = pushed.expect("it is pushed");
    assert_eq!(pushed.digest, Digest::of(&artifact.manifest()));
    for tag in [":1", ":latest"] {
        let pulled = site.pull(tag).await.expect("a module");
        assert_eq!(pulled.wasm, WASM);
        assert_eq!(pulled.digest, pushed.digest);
        assert_eq!(pulled.annotations, artifact.annotations);
    }
    let manifest = site.object("manifests/1").expect("a manifest");
    assert_eq!(manifest, artifact.manifest());
    let config = Digest::of(&artifact.config());
    let config = site
        .object(&format!("blobs/{config}"))
        .expect("a configuration");
    assert_eq!(config, artifact.config());
}

#[tokio::test]
async fn what_the_registry_has_is_not_sent_again() {
    let site = Site::start().await;
    let client = site.client();
    let push = async |names: &[&str]| {
        let pushed = client
            .push(
                &site.reference(""),
                &tags(names),
                &artifact(WASM),
                false,
                None,
            )
            .await;
        let pushed = pushed.expect("it is pushed");
        pushed
            .tags
            .iter()
            .map(|tag| tag.present)
            .collect::<Vec<_>>()
    };
    assert_eq!(push(&["1"]).await, [false]);
    site.asked();
    assert_eq!(push(&["1"]).await, [true]);
    assert_eq!(site.lines(), ["HEAD /v2/demo/greet/manifests/1"]);
    assert_eq!(push(&["1", "2"]).await, [true, false]);
    let puts = site
        .lines()
        .into_iter()
        .filter(|line| line.starts_with("PUT"));
    assert_eq!(puts.collect::<Vec<_>>(), ["PUT /v2/demo/greet/manifests/2"]);
}

#[tokio::test]
async fn a_tag_is_only_moved_with_force() {
    let site = Site::start().await;
    let client = site.client();
    let other = site.module("1");
    let push = async |force| {
        let artifact = artifact(b"\0asm\x02\0\0\0");
        client
            .push(
                &site.reference(""),
                &tags(&["new", "1"]),
                &artifact,
                force,
                None,
            )
            .await
    };
    let error = push(false).await.expect_err("the tag exists");
    assert_eq!(error.code(), "tag-exists");
    assert!(error.to_string().contains(&other.to_string()), "{error}");
    assert_eq!(site.object("manifests/new"), None, "nothing was written");
    let pushed = push(true).await.expect("it is moved");
    let pulled = site.pull(":1").await.expect("a module");
    assert_eq!(pulled.digest, pushed.digest);
}

#[tokio::test]
async fn a_module_that_is_too_large_is_not_sent() {
    let site = Site::start().await;
    let artifact = artifact(&vec![0; (64 << 20) + 1]);
    let pushed = site
        .client()
        .push(&site.reference(""), &tags(&["1"]), &artifact, false, None)
        .await;
    assert_eq!(pushed.expect_err("too large").code(), "too-large");
    assert!(site.asked().is_empty());
}

#[tokio::test]
async fn an_image_is_signed_before_a_tag_names_it() {
    let site = Site::start().await;
    let (key, _) = SigningKey::generate().expect("a key");
    let mut refusals = vec![status(403)];
    site.rule(move |asked| {
        let is_list = asked
            .line
            .starts_with("PUT /v2/demo/greet/manifests/sha256-");
        is_list.then(|| refusals.pop()).flatten()
    });
    let error = push(&site, Some(&key)).await.expect_err("no signature");
    assert_eq!(error.code(), "denied");
    assert_eq!(site.object("manifests/1"), None);
    let pushed = push(&site, Some(&key)).await.expect("it is pushed");
    let keys = [key.public()];
    let signed = site.client().verify(&site.reference(":1"), &keys).await;
    assert_eq!(signed.expect("it is signed").digest, pushed.digest);
}

#[tokio::test]
async fn a_registry_that_refuses_head_is_asked_with_get() {
    let site = Site::start().await;
    site.rule(|asked| asked.line.starts_with("HEAD").then(|| status(405)));
    assert!(push(&site, None).await.is_ok());
    // A response to HEAD has no body.
    site.rule(|_| {
        let json = r#"{"errors":[{"code":"DENIED","message":"not yours"}]}"#;
        Some((StatusCode::FORBIDDEN, json).into_response())
    });
    let error = push(&site, None).await.expect_err("denied");
    assert!(error.to_string().contains("DENIED: not yours"), "{error}");
}

#[tokio::test]
async fn an_upload_is_not_sent_unencrypted() {
    let site = Site::start().await;
    let location = site.url("/upload?key=s3cret").replace("https", "http");
    site.rule(move |asked| {
        let headers = [(header::LOCATION, location.clone())];
        let accepted = (StatusCode::ACCEPTED, headers);
        let starts = asked.line.starts_with("POST");
        starts.then(|| accepted.into_response())
    });
    let error = push(&site, None).await.expect_err("insecure");
    assert_eq!(error.code(), "insecure");
    assert!(error.to_string().contains("`http://127.0.0.1"), "{error}");
    assert!(!error.to_string().contains("s3cret"), "{error}");
}
