//! What a tool reads about its caller.

use mcp_servlet::prelude::*;
use serde_json::json;

#[tool]
fn who(context: &Context) -> String {
    let Some(caller) = context.caller() else {
        return "not told".to_owned();
    };
    let tenant: Option<String> = caller.claim("tenant");
    let (pay, admin) = (caller.has_scope("pay"), caller.has_role("admin"));
    format!(
        "{} {}, {:?}, {tenant:?}, {pay}, {admin}",
        caller.kind, caller.subject, caller.client
    )
}

#[tool]
fn how(context: &Context) -> String {
    let (session, region) = (context.session(), context.header("X-Region"));
    let certificate = context.certificate();
    let names = certificate.as_ref().map(|own| own.alternative_names("dns"));
    let serial = certificate.map(|own| own.serial);
    format!("{session:?}, {region:?}, {serial:?}, {names:?}")
}

mcp_servlet::export!(static SERVLET = { tools: [who, how] });

#[test]
fn a_caller_has_a_name_scopes_roles_and_claims() {
    assert_eq!(who(SERVLET.client().context()), "not told");
    let caller = json!({
        "kind": "jwt", "subject": "ann", "client": "ide", "scopes": ["pay"], "roles": [],
        "claims": { "tenant": "acme" },
    });
    let client = SERVLET.client().with_meta("mcp-servlet/caller", caller);
    let expected = r#"jwt ann, Some("ide"), Some("acme"), true, false"#;
    assert_eq!(who(client.context()), expected);
    let result = client.call("who", json!({})).unwrap();
    assert_eq!(result.text(), expected);
}

#[test]
fn a_request_has_a_session_headers_and_a_certificate() {
    assert_eq!(how(SERVLET.client().context()), "None, None, None, None");
    let certificate = json!({
        "subject": "CN=a", "serial": "07",
        "sans": [{ "type": "uri", "value": "urn:a" }, { "type": "dns", "value": "a.example" }],
    });
    let client = SERVLET
        .client()
        .with_meta("mcp-servlet/session", "s-1")
        .with_meta("mcp-servlet/headers", json!({ "x-region": "eu" }))
        .with_meta("mcp-servlet/certificate", certificate);
    let expected = r#"Some("s-1"), Some("eu"), Some("07"), Some(["a.example"])"#;
    assert_eq!(how(client.context()), expected);
    let without = SERVLET.client().with_meta("mcp-servlet/session", "");
    assert_eq!(how(without.context()), "None, None, None, None");
}
