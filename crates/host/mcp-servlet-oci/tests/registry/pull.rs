//! Pulls: what is found in images, and each error.

use axum::{http::header, response::IntoResponse as _};
use mcp_servlet_oci::{Client, Digest, Reference, Settings};
use tokio::net::TcpListener;

use crate::site::{DOCKER_IMAGE, Site, WASM, WASM_CONFIG, broken, chain, status};

#[tokio::test]
async fn a_module_is_pulled_by_tag_and_by_digest() {
    let site = Site::start().await;
    let digest = site.module("1");
    for image in [":1".to_owned(), format!("@{digest}")] {
        let pulled = site.pull(&image).await.expect("a module");
        assert_eq!(pulled.wasm, WASM);
        assert_eq!(pulled.digest, digest);
    }
}

#[tokio::test]
async fn an_index_has_an_image_for_wasm_or_a_single_one() {
    let site = Site::start().await;
    let mut images = Vec::new();
    for (tag, platform) in [
        ("arm", r#""platform":{"architecture":"arm64","os":"linux"}"#),
        ("amd", r#""platform":{"architecture":"amd64","os":"linux"}"#),
        (
            "wasm",
            r#""platform":{"architecture":"wasm","os":"wasip1"}"#,
        ),
        (
            "attestation",
            r#""platform":{"architecture":"unknown","os":"unknown"}"#,
        ),
    ] {
        let module = [WASM, tag.as_bytes()].concat();
        let layer = site.blob("application/wasm", &module);
        let digest = site.image(tag, WASM_CONFIG, &[layer]);
        images.push(format!(
            r#"{{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"{digest}","size":1,{platform}}}"#
        ));
    }
    let built_on_arm = [images[0].clone(), images[3].clone()];
    for (chosen, expected) in [
        (&images[..], "wasm"),
        (&images[..2], "amd"),
        (&images[..1], "arm"),
        (&built_on_arm, "arm"),
    ] {
        let json = format!(
            r#"{{"schemaVersion":2,"manifests":[{}]}}"#,
            chosen.join(",")
        );
        let digest = site.manifest("index", json);
        let pulled = site.pull(":index").await.expect("a module");
        assert!(pulled.wasm.ends_with(expected.as_bytes()), "{expected}");
        assert_eq!(pulled.digest, digest, "the digest of the index");
    }
    let no_linux = images[0].replace("linux", "windows");
    let json = format!(r#"{{"manifests":[{no_linux},{no_linux}]}}"#);
    site.manifest("none", json);
    let (code, message) = site.refused(":none").await;
    assert_eq!(code, "no-wasm", "{message}");
}

#[tokio::test]
async fn images_and_lists_in_the_format_of_docker_are_read() {
    let site = Site::start().await;
    let docker = "application/vnd.docker";
    let config = site.blob(&format!("{docker}.container.image.v1+json"), b"{}");
    let layer = site.blob(&format!("{docker}.image.rootfs.diff.tar.gzip"), WASM);
    let manifest = format!("{docker}.distribution.manifest.v2+json");
    let json = format!(
        r#"{{"schemaVersion":2,"mediaType":"{manifest}","config":{config},"layers":[{layer}]}}"#
    );
    let image = site.manifest("image", json);
    let json = format!(
        r#"{{"schemaVersion":2,"mediaType":"{docker}.distribution.manifest.list.v2+json","manifests":[{{"mediaType":"{manifest}","digest":"{image}","size":1,"platform":{{"architecture":"amd64","os":"linux"}}}}]}}"#
    );
    site.manifest("list", json);
    for tag in [":image", ":list"] {
        assert_eq!(site.pull(tag).await.expect("a module").wasm, WASM);
    }
}

#[tokio::test]
async fn an_image_without_a_module_says_what_it_has() {
    let site = Site::start().await;
    let layer = site.blob("application/vnd.oci.image.layer.v1.tar+gzip", b"no archive");
    site.image("1", DOCKER_IMAGE, &[layer]);
    let (code, message) = site.refused(":1").await;
    assert_eq!(code, "no-wasm");
    assert!(message.contains("layer.v1.tar+gzip"), "{message}");
    assert!(message.contains("this is an image for docker"), "{message}");
}

#[tokio::test]
async fn a_missing_tag_is_an_error() {
    let site = Site::start().await;
    let (code, message) = site.refused(":none").await;
    assert_eq!(code, "manifest-unknown");
    assert!(message.contains("no such tag or repository, or no right to read it"));
}

#[tokio::test]
async fn a_denied_repository_is_an_error_with_the_text_of_the_registry() {
    let site = Site::start().await;
    site.rule(|_| {
        let json = r#"{"errors":[{"code":"DENIED","message":"not yours"}]}"#;
        Some((axum::http::StatusCode::FORBIDDEN, json).into_response())
    });
    let (code, message) = site.refused(":1").await;
    assert_eq!(code, "denied");
    assert!(message.contains("DENIED: not yours"), "{message}");
}

#[tokio::test]
async fn a_changed_manifest_or_layer_is_refused() {
    let site = Site::start().await;
    let digest = site.module("1");
    site.put(&format!("manifests/{digest}"), "{}");
    let (code, message) = site.refused(&format!("@{digest}")).await;
    assert_eq!(code, "digest-differs");
    assert!(message.contains(&format!("expected {digest}")), "{message}");
    assert!(
        message.contains(&Digest::of(b"{}").to_string()),
        "{message}"
    );

    let layer = Digest::of(WASM);
    for other in [
        b"\0asm\x02\0\0\0".to_vec(),
        [WASM, b"more"].concat(),
        WASM[..7].to_vec(),
    ] {
        site.put(&format!("blobs/{layer}"), other);
        let (code, message) = site.refused(":1").await;
        assert_eq!(code, "digest-differs", "{message}");
        assert!(message.contains("the layer from 127.0.0.1"), "{message}");
    }
}

#[tokio::test]
async fn a_manifest_that_is_not_what_the_registry_announces_is_refused() {
    let site = Site::start().await;
    site.module("1");
    site.rule(|asked| {
        let digest = [("docker-content-digest", Digest::of(b"other").to_string())];
        asked
            .line
            .contains("/manifests/")
            .then(|| (digest, "{}").into_response())
    });
    assert_eq!(site.refused(":1").await.0, "digest-differs");
}

#[tokio::test]
async fn limits_hold() {
    let site = Site::start().await;
    let layer = format!(
        r#"{{"digest":"{}","size":{}}}"#,
        Digest::of(WASM),
        (64 << 20) + 1
    );
    site.image("layer", WASM_CONFIG, &[layer]);
    let many = vec![site.blob("a/b", b"x"); 17];
    site.image("layers", WASM_CONFIG, &many);
    site.manifest("manifest", format!("{{}}{}", " ".repeat(4 << 20)));
    for (tag, what) in [
        (":layer", "a layer"),
        (":layers", "the number of layers"),
        (":manifest", "the manifest"),
    ] {
        let (code, message) = site.refused(tag).await;
        assert_eq!(code, "too-large", "{message}");
        assert!(message.contains(what), "{message}");
    }
}

#[tokio::test]
async fn a_layer_that_breaks_off_is_continued() {
    let site = Site::start().await;
    site.module("1");
    let mut left = 1;
    site.rule(move |asked| {
        let breaks = left > 0 && asked.line.contains("/blobs/");
        breaks.then(|| {
            left -= 1;
            broken(WASM.len(), &WASM[..5])
        })
    });
    assert_eq!(site.pull(":1").await.expect("a module").wasm, WASM);
    let ranges: Vec<_> = site
        .asked()
        .into_iter()
        .filter_map(|asked| asked.range)
        .collect();
    assert_eq!(ranges, ["bytes=5-"]);
}

#[tokio::test]
async fn a_layer_that_breaks_off_after_its_last_byte_is_complete() {
    let site = Site::start().await;
    site.module("1");
    site.rule(|asked| {
        asked
            .line
            .contains("/blobs/")
            .then(|| broken(WASM.len() + 1, WASM))
    });
    assert_eq!(site.pull(":1").await.expect("a module").wasm, WASM);
}

#[tokio::test]
async fn a_layer_that_always_breaks_off_is_an_error() {
    let site = Site::start().await;
    site.module("1");
    site.rule(|asked| {
        asked
            .line
            .contains("/blobs/")
            .then(|| broken(WASM.len(), b""))
    });
    assert_eq!(site.refused(":1").await.0, "unreachable");
}

#[tokio::test]
async fn an_overloaded_registry_is_asked_again() {
    let site = Site::start().await;
    site.module("1");
    let mut failures = vec![503, 502];
    site.rule(move |_| Some(status(failures.pop()?)));
    assert_eq!(site.pull(":1").await.expect("a module").wasm, WASM);
    assert_eq!(site.lines().len(), 4);
}

#[tokio::test]
async fn a_registry_may_say_when_to_ask_again() {
    let site = Site::start().await;
    site.module("1");
    let later = |seconds: &'static str| {
        let headers = [(header::RETRY_AFTER, seconds)];
        (axum::http::StatusCode::TOO_MANY_REQUESTS, headers).into_response()
    };
    let mut first = true;
    site.rule(move |_| std::mem::take(&mut first).then(|| later("1")));
    assert!(site.pull(":1").await.is_ok());
    site.rule(move |_| Some(later("3600")));
    let (code, message) = site.refused(":1").await;
    assert_eq!(code, "rate-limited");
    assert!(message.contains("for 3600 seconds"), "{message}");
}

#[tokio::test]
async fn a_registry_of_an_unknown_authority_is_refused() {
    let site = Site::start().await;
    let settings = Settings {
        ca: None,
        ..site.settings()
    };
    let client = Client::new(settings).expect("certificates");
    let error = client
        .pull(&site.reference(":1"))
        .await
        .expect_err("untrusted");
    assert_eq!(error.code(), "untrusted-certificate");
    assert!(error.help().contains("tls = { ca ="), "{}", error.help());
    assert!(chain(&error).contains("UnknownIssuer"), "{}", chain(&error));
}

#[tokio::test]
async fn a_registry_that_does_not_run_is_an_error() {
    let site = Site::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let reference = Reference::parse(&format!("oci://{address}/a:1")).expect("a reference");
    let error = site
        .client()
        .pull(&reference)
        .await
        .expect_err("unreachable");
    assert_eq!(error.code(), "unreachable");
    assert!(
        chain(&error).contains(&address.to_string()),
        "{}",
        chain(&error)
    );
}

#[tokio::test]
async fn a_redirect_to_http_is_not_followed() {
    let site = Site::start().await;
    site.module("1");
    site.rule(|asked| {
        let location = [(header::LOCATION, "http://127.0.0.1/blob")];
        let redirect = (axum::http::StatusCode::TEMPORARY_REDIRECT, location);
        asked
            .line
            .contains("/blobs/")
            .then(|| redirect.into_response())
    });
    let (code, message) = site.refused(":1").await;
    assert_eq!(code, "insecure");
    let problem = "sends its clients to `http://127.0.0.1/blob`";
    assert!(message.contains(problem), "{message}");
}

#[tokio::test]
async fn an_answer_that_is_not_in_the_specification_is_an_error() {
    let site = Site::start().await;
    site.manifest("1", "<html>".to_owned());
    let (code, message) = site.refused(":1").await;
    assert_eq!(code, "unexpected-answer");
    assert!(message.contains("the manifest is not valid"), "{message}");
    site.rule(|_| Some(status(418)));
    let (code, message) = site.refused(":1").await;
    assert_eq!(code, "unexpected-answer");
    assert!(message.contains("status 418"), "{message}");
}
