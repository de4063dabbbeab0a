//! How a login in the browser succeeds, and why it fails.

use std::time::Duration;

use mcp_servlet_client::ErrorKind;
use puppet::{AuthorizationServer, browse};

use crate::oauth::Stage;
use crate::support::count_tools;

#[tokio::test]
async fn refused_registration_fails_before_the_browser() {
    for (registers, text) in [
        (true, "refuses to register this client"),
        (false, "does not register clients"),
    ] {
        let stage = Stage::new(AuthorizationServer {
            registers,
            refuses_clients: true,
            ..Default::default()
        })
        .await;
        let error = stage.login_error(false).await;
        assert_eq!(error.kind(), ErrorKind::Authentication);
        assert!(error.message().contains(text), "{error}");
        assert!(error.to_string().contains("`--client-id ID`"), "{error}");
    }
}

#[tokio::test]
async fn an_authorization_server_without_pkce_is_refused() {
    let stage = Stage::new(AuthorizationServer {
        has_pkce: false,
        ..Default::default()
    })
    .await;
    let error = stage.login_error(false).await;
    assert!(error.message().contains("PKCE"), "{error}");
}

#[tokio::test]
async fn a_token_endpoint_elsewhere_without_tls_is_refused() {
    for endpoint in [
        "http://login.example.com/token",
        "https://10.0.0.1/token",
        "https://169.254.169.254/token",
        "file:///etc/passwd",
    ] {
        let stage = Stage::new(AuthorizationServer {
            token_endpoint: Some(endpoint),
            ..Default::default()
        })
        .await;
        let error = stage.login_error(false).await;
        assert_eq!(error.kind(), ErrorKind::Protocol);
        assert!(error.message().contains(endpoint), "{error}");
    }
}

#[tokio::test]
async fn an_answer_with_another_state_does_not_end_the_login() {
    let stage = Stage::new(AuthorizationServer {
        state: Some("another"),
        ..Default::default()
    })
    .await;
    let oauth = stage.oauth().wait(Duration::from_millis(300));
    let error = oauth.login(&stage.http(), browse).await;
    let error = error.expect_err("no answer to this login");
    assert_eq!(error.kind(), ErrorKind::RequestTimeout, "{error}");
    assert_eq!(stage.server.count("authorization_code"), 0);
    assert!(stage.files().is_empty());
}

/// The URL of the parameter `redirect_uri`.
fn redirect_uri(url: &str) -> String {
    let url: url::Url = url.parse().expect("a URL");
    let mut parameters = url.query_pairs();
    let found = parameters.find(|(name, _)| name == "redirect_uri");
    found.expect("a redirect URI").1.into_owned()
}

#[tokio::test]
async fn a_login_survives_answers_that_are_not_for_it() {
    let stage = Stage::new(AuthorizationServer::default()).await;
    let show = |url: &str| {
        let callback = redirect_uri(url);
        browse(&format!("{callback}?error=access_denied&state=guessed"));
        browse(&format!("{callback}?code=stolen"));
        browse(&callback);
        std::thread::sleep(Duration::from_millis(100));
        browse(url);
    };
    let login = stage.oauth().login(&stage.http(), show).await;
    login.expect("a login");
    assert_eq!(count_tools(&stage.session().await).await, 1);
}

#[tokio::test]
async fn an_answer_of_another_issuer_is_refused_before_anything_else_of_it_is_used() {
    for denies in [false, true] {
        let stage = Stage::new(AuthorizationServer {
            issuer: Some("https://attacker.example"),
            denies,
            ..Default::default()
        })
        .await;
        let error = stage.login_error(true).await;
        assert_eq!(error.kind(), ErrorKind::Protocol);
        assert!(
            error.message().contains("found `https://attacker.example`"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_user_can_refuse() {
    let stage = Stage::new(AuthorizationServer {
        denies: true,
        ..Default::default()
    })
    .await;
    let error = stage.login_error(true).await;
    assert_eq!(error.kind(), ErrorKind::Authentication);
    assert!(error.message().contains("`access_denied`"), "{error}");
}

#[tokio::test]
async fn a_login_that_nobody_does_ends() {
    let stage = Stage::new(AuthorizationServer::default()).await;
    let oauth = stage.oauth().wait(Duration::from_millis(20));
    let error = oauth.login(&stage.http(), |_| {}).await;
    assert_eq!(error.expect_err("nobody").kind(), ErrorKind::RequestTimeout);
}
