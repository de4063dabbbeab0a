//! Signatures.

use axum::{
    http::header,
    response::{IntoResponse as _, Response},
};
use mcp_servlet_oci::{Client, Digest, Error, Settings, SigningKey, VerifyingKey};
use serde_json::{Value, json};

use crate::site::{Site, WASM, status};

fn key() -> SigningKey {
    SigningKey::generate().expect("random numbers").0
}

async fn signer(site: &Site, keys: &[VerifyingKey]) -> Result<usize, Error> {
    let verified = site.client().verify(&site.reference(":1"), keys).await;
    verified.map(|signed| signed.key)
}

/// The tag with the signatures of an image, in registries without a list of them.
fn tag(digest: &Digest) -> String {
    format!("manifests/sha256-{}", digest.hex())
}

#[tokio::test]
async fn an_image_is_signed_and_verified() {
    let site = Site::start().await;
    let digest = site.module("1");
    let (first, second, other) = (key(), key(), key());
    let missing = signer(&site, &[first.public()])
        .await
        .expect_err("no signature");
    assert_eq!(missing.code(), "not-signed");
    assert!(
        missing.to_string().ends_with("it has no signature"),
        "{missing}"
    );

    let client = site.client();
    for key in [&first, &second] {
        let signed = client.sign(&site.reference(":1"), key).await;
        assert_eq!(signed.expect("it is signed"), digest);
    }
    let index = site.object(&tag(&digest)).expect("an index");
    let index: Value = serde_json::from_slice(&index).expect("JSON");
    assert_eq!(index["manifests"].as_array().map(Vec::len), Some(2));
    let keys = [other.public(), second.public(), first.public()];
    assert_eq!(signer(&site, &keys).await.expect("a signature"), 2);
    assert_eq!(signer(&site, &keys[..2]).await.expect("a signature"), 1);
    let wrong = signer(&site, &keys[..1]).await.expect_err("another key");
    assert!(
        wrong
            .to_string()
            .contains("its 2 signatures are by other keys"),
        "{wrong}"
    );
}

/// A registry that lists what names an image as its subject.
#[tokio::test]
async fn a_list_of_the_registry_is_used() {
    let site = Site::start().await;
    let digest = site.module("1");
    let subject = digest.to_string();
    let mut attached: Vec<Value> = Vec::new();
    site.rule(move |asked| {
        let (method, path) = asked.line.split_once(' ').expect("a request");
        if method == "PUT" && path.contains("/manifests/sha256:") {
            let found = Digest::of(&asked.body);
            attached.push(json!({
                "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "artifactType": "application/vnd.dev.sigstore.bundle.v0.3+json",
                "digest": found.to_string(),
                "size": asked.body.len(),
            }));
        }
        if method == "GET" && path.contains("/referrers/") {
            let index = json!({ "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": attached });
            return Some(index.to_string().into_response());
        }
        None
    });
    let key = key();
    let client = site.client();
    client
        .sign(&site.reference(":1"), &key)
        .await
        .expect("it is signed");
    assert_eq!(
        signer(&site, &[key.public()]).await.expect("a signature"),
        0
    );
    assert!(
        site.lines()
            .iter()
            .any(|line| line.contains(&format!("/referrers/{subject}")))
    );
}

#[tokio::test]
async fn registries_say_in_many_ways_that_they_have_no_list() {
    let answers: [fn() -> Response; 4] = [
        || status(400),
        || status(401),
        || status(501),
        || "<html>".into_response(),
    ];
    for answer in answers {
        let site = Site::start().await;
        site.module("1");
        site.rule(move |asked| asked.line.contains("/referrers/").then(answer));
        let key = key();
        let signed = site.client().sign(&site.reference(":1"), &key).await;
        signed.expect("it is signed");
        assert_eq!(signer(&site, &[key.public()]).await.expect("a tag"), 0);
    }
}

#[tokio::test]
async fn every_page_of_a_list_is_read() {
    let site = Site::start().await;
    let digest = site.module("1");
    let key = key();
    let signed = site.client().sign(&site.reference(":1"), &key).await;
    signed.expect("it is signed");
    let second = site.object(&tag(&digest)).expect("an index");
    site.put(&tag(&digest), r#"{"schemaVersion":2,"manifests":[]}"#);
    site.rule(move |asked| {
        if !asked.line.contains("/referrers/") {
            return None;
        }
        if asked.line.ends_with("&last=1") {
            return Some(second.clone().into_response());
        }
        let (_, query) = asked.line.split_once('?').expect("a query");
        let link = format!(r#"<?{query}>; rel="prev", <?{query}&last=1>; rel="next""#);
        let first = r#"{"schemaVersion":2,"manifests":[{"artifactType":"other"}]}"#;
        Some(([(header::LINK, link)], first).into_response())
    });
    assert_eq!(signer(&site, &[key.public()]).await.expect("a page"), 0);
}

#[tokio::test]
async fn an_empty_list_may_be_null() {
    let site = Site::start().await;
    site.module("1");
    site.rule(|asked| {
        let is_list = asked.line.contains("/referrers/");
        is_list.then(|| r#"{"schemaVersion":2,"manifests":null}"#.into_response())
    });
    let error = signer(&site, &[key().public()]).await;
    assert_eq!(error.expect_err("no signature").code(), "not-signed");
}

/// As GitLab has it: without a list, the tag names the image.
#[tokio::test]
async fn an_image_is_not_the_list_of_its_signatures() {
    let site = Site::start().await;
    let digest = site.module("1");
    let image = site.object("manifests/1").expect("an image");
    site.put(&tag(&digest), image);
    let key = key();
    let signed = site.client().sign(&site.reference(":1"), &key).await;
    signed.expect("it is signed");
    let index = site.object(&tag(&digest)).expect("an index");
    let index: Value = serde_json::from_slice(&index).expect("JSON");
    assert_eq!(index.get("config"), None, "{index}");
    assert_eq!(signer(&site, &[key.public()]).await.expect("a tag"), 0);
}

#[tokio::test]
async fn signatures_that_cannot_be_read_hide_no_other() {
    let site = Site::start().await;
    let digest = site.module("1");
    let key = key();
    let client = site.client();
    client
        .sign(&site.reference(":1"), &key)
        .await
        .expect("it is signed");
    let index = site.object(&tag(&digest)).expect("an index");
    let mut index: Value = serde_json::from_slice(&index).expect("JSON");
    let right = index["manifests"][0].clone();
    let mut missing = right.clone();
    missing["digest"] = Digest::of(b"missing").to_string().into();
    let mut of_image = right.clone();
    of_image["digest"] = digest.to_string().into();
    index["manifests"] = json!([{ "digest": 1 }, null, missing, of_image, right]);
    site.put(&tag(&digest), index.to_string());
    assert_eq!(
        signer(&site, &[key.public()]).await.expect("a signature"),
        0
    );
    site.put(&tag(&digest), "no index");
    let error = signer(&site, &[self::key().public()]).await;
    assert_eq!(error.expect_err("no index").code(), "unexpected-answer");
}

#[tokio::test]
async fn the_cache_verifies_without_the_registry_and_is_not_trusted() {
    let site = Site::start().await;
    let digest = site.module("1");
    let key = key();
    let client = site.client();
    client
        .sign(&site.reference(":1"), &key)
        .await
        .expect("it is signed");
    let pinned = site.reference(&format!("@{digest}"));
    let verified = client.verify(&pinned, &[key.public()]).await;
    assert_eq!(verified.expect("a signature").digest, digest);
    site.rule(|_| Some(status(403)));
    let verified = client.verify(&pinned, &[key.public()]).await;
    assert_eq!(verified.expect("from the cache").key, 0);
    let other = client.verify(&pinned, &[self::key().public()]).await;
    assert_eq!(other.expect_err("another key").code(), "denied");

    for file in std::fs::read_dir(site.folder.path().join("cache/blobs/sha256")).expect("a cache") {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if text.contains("dsseEnvelope") {
            std::fs::write(&path, text.replace("sig", "sog")).expect("a file");
        }
    }
    let changed = client.verify(&pinned, &[key.public()]).await;
    assert_eq!(changed.expect_err("a changed file").code(), "denied");
}

#[tokio::test]
async fn the_layer_of_an_image_without_the_signature_is_not_fetched() {
    let site = Site::start().await;
    site.module("1");
    let (ours, other) = (key(), key());
    let image = site.reference(":1");
    let sign = async |key| site.client().sign(&image, key).await.expect("it is signed");
    sign(&other).await;
    let settings = Settings {
        signers: vec![vec![ours.public()]],
        ..site.settings()
    };
    let client = Client::new(settings).expect("certificates");
    let layer = format!("GET /v2/demo/greet/blobs/{}", Digest::of(WASM));
    site.asked();
    let refused = client.pull(&image).await.expect_err("another key");
    assert_eq!(refused.code(), "not-signed");
    let lines = site.lines();
    assert!(
        lines.iter().any(|line| line.contains("/blobs/")),
        "{lines:?}"
    );
    assert!(!lines.contains(&layer), "{lines:?}");

    sign(&ours).await;
    site.asked();
    client.pull(&image).await.expect("a module");
    assert!(site.lines().contains(&layer));
}

#[tokio::test]
async fn no_more_than_32_signatures_are_read() {
    let site = Site::start().await;
    let digest = site.module("1");
    let (ours, other) = (key(), key());
    let client = site.client();
    for key in [&other, &ours] {
        let signed = client.sign(&site.reference(":1"), key).await;
        signed.expect("it is signed");
    }
    let index = site.object(&tag(&digest)).expect("an index");
    let mut index: Value = serde_json::from_slice(&index).expect("JSON");
    let [by_other, by_us] = [0, 1].map(|at| index["manifests"][at].clone());
    // The other order would find the signature in the cache.
    for (others, is_read) in [(32, false), (31, true)] {
        let mut entries = vec![by_other.clone(); others];
        entries.push(by_us.clone());
        index["manifests"] = entries.into();
        site.put(&tag(&digest), index.to_string());
        let found = signer(&site, &[ours.public()]).await;
        assert_eq!(found.is_ok(), is_read, "{found:?}");
    }
}

/// The configuration and the image have different digests.
#[tokio::test]
async fn a_signature_of_the_configuration_is_not_one_of_the_image() {
    let site = Site::start().await;
    let digest = site.module("1");
    let image = site.object("manifests/1").expect("a manifest");
    let image: Value = serde_json::from_slice(&image).expect("JSON");
    let config = site.manifest("config", "{}".to_owned());
    assert_eq!(image["config"]["digest"], config.to_string());
    let key = key();
    let signed = site.client().sign(&site.reference(":config"), &key).await;
    assert_eq!(signed.expect("it is signed"), config);
    let signatures = site.object(&tag(&config)).expect("an index");
    site.put(&tag(&digest), signatures);
    let error = signer(&site, &[key.public()]).await;
    assert_eq!(
        error.expect_err("of the configuration").code(),
        "not-signed"
    );
}
