//! How a login in the browser succeeds, and why it fails.

use std::time::Duration;

use mcp_servlet_client::ErrorKind;
use puppet::{AuthorizationServer, browse, visit};
use serde_json::{Value, json};

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
        let (callback, url) = (redirect_uri(url), url.to_owned());
        std::thread::spawn(move || {
            visit(&format!("{callback}?error=access_denied&state=guessed"));
            visit(&format!("{callback}?code=stolen"));
            visit(&callback);
            // All of them have been answered.
            visit(&url);
        });
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

#[tokio::test]
async fn a_lifetime_is_read_in_any_form() {
    for (first_lifetime, edit_tokens) in [
        (3600, as_text as fn(&mut Value)),
        (0, as_text),
        (0, |tokens| {
            let lifetime = tokens["expires_in"].as_f64();
            tokens["expires_in"] = lifetime.into();
        }),
    ] {
        let stage = Stage::new(AuthorizationServer {
            first_lifetime,
            edit_tokens,
            ..Default::default()
        })
        .await;
        let login = stage.oauth().login(&stage.http(), browse).await;
        login.expect("a login");
        assert_eq!(count_tools(&stage.session().await).await, 1);
        let renewals = usize::from(first_lifetime == 0);
        assert_eq!(stage.server.count("refresh_token"), renewals);
    }
}

fn as_text(tokens: &mut Value) {
    tokens["expires_in"] = tokens["expires_in"].to_string().into();
}

#[tokio::test]
async fn an_error_with_the_status_of_success_is_shown_with_its_code() {
    let stage = Stage::new(AuthorizationServer {
        edit_tokens: |tokens| {
            *tokens = json!({ "error": "invalid_grant", "error_description": "the code was used" });
        },
        ..Default::default()
    })
    .await;
    let login = stage.oauth().login(&stage.http(), browse).await;
    let error = login.expect_err("no token");
    assert_eq!(error.kind(), ErrorKind::Authentication);
    assert_eq!(
        error.message(),
        "the authorization server issued no token: invalid_grant: the code was used"
    );
    let stage = Stage::new(AuthorizationServer {
        edit_client: |client| *client = json!({ "error": "invalid_client_metadata" }),
        ..Default::default()
    })
    .await;
    let error = stage.login_error(false).await;
    assert_eq!(
        error.message(),
        "the authorization server refuses to register this client: invalid_client_metadata"
    );
}

#[tokio::test]
async fn an_unusable_token_response_is_an_error_about_its_member() {
    for (edit_tokens, problem) in [
        (
            (|tokens| tokens["access_token"] = 7.into()) as fn(&mut Value),
            "the member `access_token` of the response must be a string",
        ),
        (
            |tokens| *tokens = json!({ "token_type": "Bearer" }),
            "the response has no member `access_token`",
        ),
        (
            |tokens| *tokens = json!([]),
            "the response is not a JSON object",
        ),
    ] {
        let stage = Stage::new(AuthorizationServer {
            edit_tokens,
            ..Default::default()
        })
        .await;
        let login = stage.oauth().login(&stage.http(), browse).await;
        let error = login.expect_err("no token");
        let expected = format!("the authorization server issued no token: {problem}");
        assert_eq!(error.message(), expected);
    }
}

#[tokio::test]
async fn a_registration_needs_only_the_id_of_the_client() {
    let stage = Stage::new(AuthorizationServer {
        edit_client: |client| *client = json!({ "client_id": client["client_id"] }),
        ..Default::default()
    })
    .await;
    let login = stage.oauth().login(&stage.http(), browse).await;
    assert_eq!(login.expect("a login").client_id(), "client-1");
    assert_eq!(count_tools(&stage.session().await).await, 1);
}

#[tokio::test]
async fn metadata_of_another_resource_is_an_error_with_the_url_to_use() {
    let stage = Stage::new(AuthorizationServer {
        resource: Some("/mcp/"),
        ..Default::default()
    })
    .await;
    let error = stage.login_error(false).await;
    let url = stage.server.url();
    assert_eq!(
        error.to_string(),
        format!(
            "the metadata of the server is for another resource, `{url}/`: `{url}`; use the URL `{url}/`"
        )
    );
}
