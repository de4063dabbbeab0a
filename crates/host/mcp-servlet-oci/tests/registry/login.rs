//! Logins: passwords, token servers, and what redirects get.

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use base64::prelude::{BASE64_STANDARD, Engine as _};

use crate::site::{Site, WASM, status};

fn challenge(text: &str) -> Response {
    let headers = [(header::WWW_AUTHENTICATE, text.to_owned())];
    (StatusCode::UNAUTHORIZED, headers).into_response()
}

fn ada() -> String {
    format!("Basic {}", BASE64_STANDARD.encode("ada:s3cret"))
}

/// Asks for a user and a password.
async fn with_passwords() -> Site {
    let site = Site::start().await;
    site.module("1");
    site.rule(|asked| {
        let is_ada = asked.authorization.as_deref() == Some(&*ada());
        (!is_ada).then(|| challenge(r#"Basic realm="test""#))
    });
    site
}

/// Asks for a token of another server.
async fn with_tokens() -> (Site, Site) {
    let (site, tokens) = (Site::start().await, Site::start().await);
    site.module("1");
    site.trust(&tokens);
    let realm = tokens.url("/token");
    site.rule(move |asked| {
        let is_valid = asked.authorization.as_deref() == Some("Bearer t0ken");
        let text =
            format!(r#"Bearer realm="{realm}",service="test",scope="repository:demo/greet:pull""#);
        (!is_valid).then(|| challenge(&text))
    });
    (site, tokens)
}

#[tokio::test]
async fn a_password_is_sent_when_the_registry_asks_for_one() {
    let site = with_passwords().await;
    site.log_in(r#"{"username":"ada","password":"s3cret"}"#);
    assert_eq!(site.pull(":1").await.expect("a module").wasm, WASM);
    let asked = site.asked();
    let unasked = asked.iter().filter(|asked| asked.authorization.is_none());
    assert_eq!(unasked.count(), 1, "only the first request has no password");
}

#[tokio::test]
async fn without_credentials_the_error_names_the_files_and_the_command() {
    let site = with_passwords().await;
    let error = site.pull(":1").await.expect_err("no credentials");
    assert_eq!(error.code(), "unauthorized");
    assert!(error.to_string().contains("auth.json"), "{error}");
    let command = format!("docker login {}", site.address);
    assert!(error.help().contains(&command), "{}", error.help());
}

#[tokio::test]
async fn refused_credentials_are_an_error_that_names_the_user() {
    let site = with_passwords().await;
    site.log_in(r#"{"username":"eve","password":"s3cret"}"#);
    let error = site.pull(":1").await.expect_err("refused");
    assert_eq!(error.code(), "unauthorized");
    assert!(error.to_string().contains("user `eve`"), "{error}");
    assert!(!error.to_string().contains("s3cret"), "{error}");
}

#[tokio::test]
async fn a_token_is_fetched_with_the_password_and_used_again() {
    let (site, tokens) = with_tokens().await;
    site.log_in(r#"{"username":"ada","password":"s3cret"}"#);
    tokens.rule(|asked| {
        assert_eq!(asked.authorization, Some(ada()));
        assert_eq!(
            asked.line,
            "GET /token?service=test&scope=repository%3Ademo%2Fgreet%3Apull"
        );
        Some(r#"{"token":"t0ken"}"#.into_response())
    });
    assert_eq!(site.pull(":1").await.expect("a module").wasm, WASM);
    assert_eq!(tokens.asked().len(), 1);
    assert!(
        site.asked()
            .iter()
            .all(|asked| asked.authorization != Some(ada()))
    );
}

#[tokio::test]
async fn a_token_is_fetched_without_credentials_for_a_public_image() {
    let (site, tokens) = with_tokens().await;
    tokens.rule(|asked| {
        assert_eq!(asked.authorization, None);
        Some(r#"{"token":"","access_token":"t0ken"}"#.into_response())
    });
    assert!(site.pull(":1").await.is_ok());
}

#[tokio::test]
async fn a_refusal_without_a_login_asks_for_one() {
    let (site, tokens) = with_tokens().await;
    let denied = || {
        let json = r#"{"errors":[{"code":"DENIED","message":"requested access"}]}"#;
        Some((StatusCode::FORBIDDEN, json).into_response())
    };
    tokens.rule(move |_| denied());
    for login in [None, Some(r#"{"username":"ada","password":"s3cret"}"#)] {
        if let Some(entry) = login {
            site.log_in(entry);
        }
        let (code, message) = site.refused(":1").await;
        let expected = login.map_or("unauthorized", |_| "denied");
        assert_eq!(code, expected, "{message}");
        assert!(message.contains("DENIED: requested access"), "{message}");
    }
    // The token is valid, but not for this.
    let site = with_passwords().await;
    site.rule(|asked| asked.authorization.is_some().then(|| status(403)));
    site.log_in(r#"{"username":"ada","password":"s3cret"}"#);
    assert_eq!(site.refused(":1").await.0, "denied");
}

#[tokio::test]
async fn an_identity_token_is_exchanged() {
    let (site, tokens) = with_tokens().await;
    site.log_in(r#"{"identitytoken":"long-lived"}"#);
    tokens.rule(|asked| {
        assert_eq!(asked.line, "POST /token");
        let form = String::from_utf8_lossy(&asked.body).into_owned();
        assert!(form.contains("grant_type=refresh_token"), "{form}");
        assert!(form.contains("refresh_token=long-lived"), "{form}");
        Some(r#"{"access_token":"t0ken"}"#.into_response())
    });
    assert!(site.pull(":1").await.is_ok());
}

#[tokio::test]
async fn an_expired_token_is_renewed() {
    let (site, tokens) = with_tokens().await;
    tokens.rule(|_| Some(r#"{"token":"t0ken"}"#.into_response()));
    let mut blobs = 0;
    let realm = tokens.url("/token");
    site.rule(move |asked| {
        blobs += usize::from(asked.line.contains("/blobs/"));
        let expires = blobs == 1 && asked.line.contains("/blobs/");
        expires.then(|| challenge(&format!(r#"Bearer realm="{realm}""#)))
    });
    assert!(site.pull(":1").await.is_ok());
    assert_eq!(tokens.asked().len(), 2);
}

#[tokio::test]
async fn a_token_server_without_tls_gets_no_password() {
    let site = Site::start().await;
    site.log_in(r#"{"username":"ada","password":"s3cret"}"#);
    site.rule(|_| Some(challenge(r#"Bearer realm="http://127.0.0.1/token""#)));
    let (code, message) = site.refused(":1").await;
    assert_eq!(code, "unexpected-answer");
    assert!(message.contains("is not `https`"), "{message}");
}

#[tokio::test]
async fn a_redirect_to_another_server_gets_no_credentials() {
    let (site, storage) = (with_passwords().await, Site::start().await);
    site.trust(&storage);
    site.log_in(r#"{"username":"ada","password":"s3cret"}"#);
    storage.rule(|_| Some(WASM.into_response()));
    let location = storage.url("/signed?key=1");
    site.rule(move |asked| {
        let headers = [(header::LOCATION, location.clone())];
        let redirect = (StatusCode::TEMPORARY_REDIRECT, headers);
        asked
            .line
            .contains("/blobs/")
            .then(|| redirect.into_response())
    });
    assert_eq!(site.pull(":1").await.expect("a module").wasm, WASM);
    let asked = storage.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].authorization, None);
}
