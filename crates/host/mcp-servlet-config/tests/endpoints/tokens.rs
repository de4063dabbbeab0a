//! Which tokens and keys an endpoint accepts.

use mcp_servlet_server::Sha256;
use puppet::eventually;
use serde_json::{Value, json};
use wire::{
    Sse,
    message::{HANDSHAKE, initialize, numbered, request, stateless},
};

use crate::{
    issuer::{ISSUER, Issuer, RESOURCE, base64, now, payload},
    site::{OLD, Site, WEB},
    wasm::servlet,
};

const KEY: &str = "a-key-of-a-machine";
const OLD_KEY: &str = "a-key-that-has-ended";

/// Another issuer of the same endpoint, which has keys of its own.
const STRICT: &str = "https://strict.example";

/// A site whose endpoint knows its callers, and these keys of the issuer and of [`STRICT`].
async fn site(keys: &[Value], strict: &[Value]) -> Site {
    let (key, old) = (Sha256::of(KEY.as_bytes()), Sha256::of(OLD_KEY.as_bytes()));
    let config = format!(
        "{WEB}auth = \"corp\"\n[servlet.a]\nsource = \"a.wasm\"\n\
         [auth.corp]\nresource = \"{RESOURCE}\"\nrealm = \"acme\"\nscopes = [\"mcp\"]\n\
         [[auth.corp.jwt]]\nissuer = \"{ISSUER}\"\njwks = \"keys.json\"\n\
         [[auth.corp.jwt]]\nissuer = \"{STRICT}\"\njwks = \"strict.json\"\nalgorithms = [\"ES256\"]\n\
         audience = [\"{RESOURCE}\", \"https://root.example\"]\n\
         [[auth.corp.key]]\nname = \"ci\"\nsha256 = \"{key}\"\nscopes = [\"mcp\"]\n\
         [[auth.corp.key]]\nname = \"machine\"\nsha256 = \"{key}\"\nscopes = [\"mcp\"]\nheader = \"x-api-key\"\n\
         [[auth.corp.key]]\nname = \"old\"\nsha256 = \"{old}\"\nscopes = [\"mcp\"]\nuntil = 2020-02-29\n"
    );
    let [keys, strict] = [keys, strict].map(|keys| json!({ "keys": keys }).to_string());
    let files = [
        ("a.wasm", &*servlet(&["t"], "a")),
        ("keys.json", keys.as_bytes()),
        ("strict.json", strict.as_bytes()),
    ];
    Site::start(&config, &files).await
}

/// How often requests were refused for this reason.
pub(crate) fn refused(site: &Site, reason: &str) -> u64 {
    let metrics = site.service.metrics();
    let line = format!("servlet_refused_total{{what=\"{reason}\"}} ");
    let mut lines = metrics.lines();
    let count = lines.find_map(|one| one.strip_prefix(&*line));
    count.map_or(0, |count| count.parse().expect("a number"))
}

/// A head with this algorithm and the key of its kind.
fn head(algorithm: &str) -> Value {
    let kid = match algorithm {
        "ES256" => "ec",
        "EdDSA" => "ed",
        _ => "rsa",
    };
    json!({ "alg": algorithm, "kid": kid })
}

/// The same with other members.
fn head_with(algorithm: &str, members: &Value) -> Value {
    let mut head = head(algorithm);
    for (name, value) in members.as_object().into_iter().flatten() {
        head[name] = value.clone();
    }
    let members = head.as_object_mut().expect("an object");
    members.retain(|_, value| !value.is_null());
    head
}

/// A token, the status of the response to it, and the reason that operators see.
type Case = (&'static str, String, u16, &'static str);

/// Tokens with other heads, keys and signatures.
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn heads(issuer: &Issuer, strict: &Issuer) -> Vec<Case> {
    let well = payload(&json!({}));
    let signed = |head: &Value| issuer.sign(head, &well);
    let with = |algorithm: &str, members: Value| signed(&head_with(algorithm, &members));
    let unsigned = |head: &Value| {
        let parts = [head.to_string(), well.clone()].map(|part| base64(part.as_bytes()));
        format!("{}.", parts.join("."))
    };
    let changed = |at: usize, by: &str| {
        let token = signed(&head("ES256"));
        let mut parts: Vec<_> = token.split('.').collect();
        parts[at] = by;
        parts.join(".")
    };
    let other = payload(&json!({ "sub": "eve" }));
    let attacker = Issuer::new();
    let own_key =
        json!({ "jwk": attacker.keys()[0], "jku": "https://evil.example/keys", "kid": "x" });
    vec![
        ("RS256", signed(&head("RS256")), 200, ""),
        ("PS256", signed(&head("PS256")), 200, ""),
        ("ES256", signed(&head("ES256")), 200, ""),
        ("EdDSA", signed(&head("EdDSA")), 200, ""),
        ("long", "a".repeat((16 << 10) + 1), 401, "too_long"),
        ("two parts", "a.b".to_owned(), 401, "not_jwt"),
        (
            "four parts",
            format!("{}.x", signed(&head("ES256"))),
            401,
            "not_jwt",
        ),
        ("characters", "a!b.c.d".to_owned(), 401, "not_jwt"),
        ("head", changed(0, &base64(b"{\"alg\":")), 401, "head"),
        (
            "none",
            unsigned(&json!({ "alg": "none" })),
            401,
            "algorithm",
        ),
        ("HS256", with("HS256", json!({})), 401, "algorithm"),
        (
            "RS256 where ES256 is needed",
            issuer.sign(&head("RS256"), &payload(&json!({ "iss": STRICT }))),
            401,
            "algorithm",
        ),
        (
            "RS256 with the key of ES256",
            with("RS256", json!({ "kid": "ec" })),
            401,
            "key_kind",
        ),
        (
            "PS256 with a key for RS256",
            with("PS256", json!({ "kid": "rs256" })),
            401,
            "key_kind",
        ),
        (
            "crit",
            with("ES256", json!({ "crit": ["b64"], "b64": true })),
            401,
            "crit",
        ),
        (
            "id+jwt",
            with("ES256", json!({ "typ": "id+jwt" })),
            401,
            "type",
        ),
        (
            "dpop+jwt",
            with("ES256", json!({ "typ": "application/dpop+jwt" })),
            401,
            "type",
        ),
        (
            "AT+JWT",
            with("ES256", json!({ "typ": "application/AT+JWT" })),
            200,
            "",
        ),
        (
            "own key",
            attacker.sign(&head_with("ES256", &own_key), &well),
            401,
            "unknown_key",
        ),
        ("no kid", with("ES256", json!({ "kid": null })), 200, ""),
        (
            "no kid, two keys",
            with("EdDSA", json!({ "kid": null })),
            401,
            "no_kid",
        ),
        (
            "use",
            with("RS256", json!({ "kid": "enc" })),
            401,
            "key_use",
        ),
        (
            "key_ops",
            with("RS256", json!({ "kid": "ops" })),
            401,
            "key_use",
        ),
        (
            "1024 bits",
            with("RS256", json!({ "kid": "small" })),
            401,
            "key_size",
        ),
        (
            "one of three keys with this name",
            with("RS256", json!({ "kid": "same" })),
            200,
            "",
        ),
        (
            "none of three keys with this name",
            with("ES256", json!({ "kid": "same" })),
            401,
            "key_use",
        ),
        ("signature", changed(2, &base64(&[7; 64])), 401, "signature"),
        (
            "payload",
            changed(1, &base64(other.as_bytes())),
            401,
            "signature",
        ),
        ("no signature", unsigned(&head("ES256")), 401, "signature"),
        (
            "key of a stranger",
            attacker.sign(&head("ES256"), &well),
            401,
            "signature",
        ),
        (
            "another issuer",
            strict.token(&json!({ "iss": STRICT })),
            200,
            "",
        ),
        (
            "the slash of an empty path",
            strict.token(&json!({ "iss": STRICT, "aud": "https://root.example/" })),
            200,
            "",
        ),
        (
            "key of another issuer",
            strict.sign(&head("ES256"), &well),
            401,
            "signature",
        ),
        (
            "key of another issuer, by a `kid` that only it has",
            strict.sign(&head_with("ES256", &json!({ "kid": "only" })), &well),
            401,
            "unknown_key",
        ),
    ]
}

/// Tokens with other claims.
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn claims(issuer: &Issuer) -> Vec<Case> {
    let token = |claims: Value| issuer.token(&claims);
    let raw = |payload: String| issuer.sign(&head("ES256"), &payload);
    let twice = payload(&json!({})).replacen('{', "{\"sub\":\"eve\",", 1);
    vec![
        (
            "issuer",
            token(json!({ "iss": "https://other.example" })),
            401,
            "issuer",
        ),
        (
            "slash",
            token(json!({ "iss": format!("{ISSUER}/") })),
            401,
            "issuer",
        ),
        (
            "issuer list",
            token(json!({ "iss": [ISSUER] })),
            401,
            "issuer",
        ),
        ("no exp", token(json!({ "exp": null })), 401, "no_exp"),
        (
            "expired 10 s ago",
            token(json!({ "exp": now() - 10 })),
            200,
            "",
        ),
        (
            "expired 31 s ago",
            token(json!({ "exp": now() - 31 })),
            401,
            "expired",
        ),
        ("nbf", token(json!({ "nbf": now() + 3600 })), 401, "not_yet"),
        ("iat", token(json!({ "iat": now() + 3600 })), 401, "not_yet"),
        ("text", token(json!({ "exp": "4102444800" })), 401, "claims"),
        ("negative", token(json!({ "exp": -1 })), 401, "claims"),
        ("huge", token(json!({ "exp": 1e300 })), 401, "claims"),
        ("no aud", token(json!({ "aud": null })), 401, "audience"),
        (
            "aud",
            token(json!({ "aud": "https://other.example/mcp" })),
            401,
            "audience",
        ),
        (
            "prefix",
            token(json!({ "aud": "https://mcp.example" })),
            401,
            "audience",
        ),
        (
            "aud list",
            token(json!({ "aud": ["https://a.example", RESOURCE] })),
            200,
            "",
        ),
        ("no sub", token(json!({ "sub": null })), 401, "subject"),
        ("empty", token(json!({ "sub": "" })), 401, "subject"),
        ("lines", token(json!({ "sub": "ann\r\nx" })), 401, "subject"),
        (
            "long",
            token(json!({ "sub": "a".repeat(300) })),
            401,
            "subject",
        ),
        ("twice", raw(twice), 401, "claims"),
        ("no object", raw("[1]".to_owned()), 401, "claims"),
        (
            "scp",
            token(json!({ "scope": null, "scp": ["read", "mcp"] })),
            200,
            "",
        ),
        (
            "scope list",
            token(json!({ "scope": ["read", "mcp"] })),
            200,
            "",
        ),
        (
            "scope",
            token(json!({ "scope": "read mcp2" })),
            403,
            "scope",
        ),
        ("none", token(json!({ "scope": null })), 403, "scope"),
        (
            "jkt",
            token(json!({ "cnf": { "jkt": "x" } })),
            401,
            "binding",
        ),
    ]
}

/// The keys of the issuer, and some that must not be used.
fn keys(issuer: &Issuer) -> Vec<Value> {
    let mut keys = issuer.keys();
    let rsa = keys[2].clone();
    for (kid, member, value) in [
        ("enc", "use", json!("enc")),
        ("ops", "key_ops", json!(["sign"])),
        ("small", "n", json!(base64(&[0xc5; 128]))),
        ("rs256", "alg", json!("RS256")),
        // Some issuers give the keys for all algorithms and uses the same name.
        ("same", "use", json!("enc")),
        ("same", "alg", json!("RS512")),
        ("same", "alg", json!("RS256")),
    ] {
        let mut key = rsa.clone();
        key["kid"] = kid.into();
        key[member] = value;
        keys.push(key);
    }
    let mut other = Issuer::new().keys()[1].clone();
    other["kid"] = "ed2".into();
    keys.push(other);
    keys
}

/// The challenge for these credentials.
const CHALLENGE: &str = "Bearer realm=\"acme\", scope=\"mcp\", \
    resource_metadata=\"https://mcp.example/.well-known/oauth-protected-resource/mcp\"";
const INVALID: &str = "Bearer realm=\"acme\", error=\"invalid_token\", \
    error_description=\"the token is not valid here\", scope=\"mcp\", \
    resource_metadata=\"https://mcp.example/.well-known/oauth-protected-resource/mcp\"";
const INSUFFICIENT: &str = "Bearer realm=\"acme\", error=\"insufficient_scope\", \
    error_description=\"this needs the scope mcp\", scope=\"mcp\", \
    resource_metadata=\"https://mcp.example/.well-known/oauth-protected-resource/mcp\"";

/// Sends a request with these headers, and compares what the client and what the operator learns.
fn check(site: &Site, name: &str, headers: &[(&str, &str)], (status, reason): (u16, &str)) {
    let before = refused(site, reason);
    let response = site.http("web").with_all(headers).initialize();
    assert_eq!(response.status(), status, "{name}");
    if status == 200 {
        return;
    }
    assert_eq!(refused(site, reason), before + 1, "{name}: {reason}");
    let expected = match (status, reason) {
        (401, "no_credentials" | "scheme") => Some(CHALLENGE),
        (401, _) => Some(INVALID),
        (403, _) => Some(INSUFFICIENT),
        _ => None,
    };
    assert_eq!(response.header("www-authenticate"), expected, "{name}");
    let message = match reason {
        "no_credentials" | "scheme" => "authentication is required: send a token or a key",
        "several_credentials" => "expected one token or key, found several",
        "scope" => "a required scope is missing",
        _ => "the token is not valid here",
    };
    assert_eq!(response.message()["error"]["message"], message, "{name}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_says_what_a_token_has_and_what_is_expected() {
    crate::log::start();
    let issuer = Issuer::new();
    let site = site(&keys(&issuer), &Issuer::new().keys()).await;
    let kid = issuer.sign(
        &head_with("ES256", &json!({ "kid": "k7" })),
        &payload(&json!({})),
    );
    for (token, expected) in [
        (
            issuer.token(&json!({ "aud": "https://logged.example" })),
            format!("expected `aud` `{RESOURCE}`, found `https://logged.example`"),
        ),
        (
            issuer.token(&json!({ "iss": "https://logged.example" })),
            format!("expected `iss` `{ISSUER}` or `{STRICT}`, found `https://logged.example`"),
        ),
        (
            issuer.token(&json!({ "scope": "logged" })),
            "expected `scope` `mcp`, found `logged`".to_owned(),
        ),
        (
            kid,
            "the token has the `kid` `k7` and the `alg` `ES256`".to_owned(),
        ),
    ] {
        let authorization = format!("Bearer {token}");
        let client = site.http("web").with("authorization", &authorization);
        assert_ne!(client.initialize().status(), 200, "{expected}");
        crate::log::says(&format!("its caller is not accepted: {expected}")).await;
        assert!(!crate::log::has(&token), "{expected}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_checked_in_every_part() {
    let (issuer, strict) = (Issuer::new(), Issuer::new());
    let mut of_strict = strict.keys();
    let mut only = of_strict[0].clone();
    only["kid"] = "only".into();
    of_strict.push(only);
    let site = site(&keys(&issuer), &of_strict).await;
    for (name, token, status, reason) in [heads(&issuer, &strict), claims(&issuer)].concat() {
        let authorization = format!("Bearer {token}");
        let headers = [("authorization", &*authorization)];
        check(&site, name, &headers, (status, reason));
        // Now the outcome is known.
        check(&site, name, &headers, (status, reason));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_are_in_one_header() {
    let issuer = Issuer::new();
    let site = site(&issuer.keys(), &issuer.keys()).await;
    let token = issuer.token(&json!({}));
    let bearer = format!("bearer {token}");
    let key = format!("Bearer {KEY}");
    let old = format!("Bearer {OLD_KEY}");
    let wrong = format!("Bearer {KEY}x");
    let authorization = |value| ("authorization", value);
    for (name, headers, outcome) in [
        ("any case", vec![authorization(&*bearer)], (200, "")),
        ("none", vec![], (401, "no_credentials")),
        (
            "two",
            vec![authorization(&bearer), authorization(&bearer)],
            (400, "several_credentials"),
        ),
        (
            "token and key",
            vec![authorization(&bearer), ("x-api-key", KEY)],
            (400, "several_credentials"),
        ),
        ("Basic", vec![authorization("Basic YTpi")], (401, "scheme")),
        ("no scheme", vec![authorization(&token)], (401, "scheme")),
        ("key", vec![authorization(&key)], (200, "")),
        ("key in its header", vec![("x-api-key", KEY)], (200, "")),
        ("wrong key", vec![authorization(&wrong)], (401, "not_jwt")),
        (
            "wrong key in its header",
            vec![("x-api-key", &wrong)],
            (401, "key"),
        ),
        ("ended", vec![authorization(&old)], (401, "key_expired")),
    ] {
        check(&site, name, &headers, outcome);
    }
    let before = refused(&site, "token_in_url");
    let web = site.http("web");
    let named = web.at(&format!("/mcp?a=b&access_token={token}"));
    assert_eq!(named.initialize().status(), 400);
    assert_eq!(refused(&site, "token_in_url"), before + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_says_where_tokens_come_from() {
    let keys = Issuer::new().keys();
    let site = site(&keys, &keys).await;
    assert!(site.service.listeners()[0].authenticates);
    let web = site.http("web");
    let expected = json!({
        "resource": RESOURCE,
        "resource_name": "acme",
        "authorization_servers": [ISSUER, STRICT],
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["mcp"],
    });
    for path in ["", "/mcp"] {
        let metadata = web.at(&format!("/.well-known/oauth-protected-resource{path}"));
        let response = metadata.with("origin", "https://page.example").get();
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.header("access-control-allow-origin"), Some("*"));
        assert_eq!(response.message(), expected);
    }
    let other = web.at("/.well-known/oauth-protected-resource/other");
    let ask = [("access-control-request-headers", "mcp-protocol-version")];
    for (method, headers, status, allowed) in [
        ("GET", &[][..], 404, None),
        ("POST", &[], 405, None),
        ("OPTIONS", &ask, 204, Some("mcp-protocol-version")),
    ] {
        let response = other.with_all(headers).send(method, "");
        assert_eq!(response.status(), status);
        assert_eq!(response.header("access-control-allow-origin"), Some("*"));
        assert_eq!(response.header("access-control-allow-headers"), allowed);
    }
    // Others can ask whether the server runs without a token.
    assert_eq!(web.at("/health").get().status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_are_where_clients_call_the_endpoint() {
    let config = format!(
        "{WEB}auth = \"corp\"\nurl = \"https://mcp.example/weather/mcp\"\n\
         {OLD}auth = \"corp\"\nurl = \"https://mcp.example\"\n\
         [servlet.a]\nsource = \"a.wasm\"\n[auth.corp]\njwt = [{{ issuer = \"{ISSUER}\", jwks = \"keys.json\" }}]\n"
    );
    let keys = json!({ "keys": Issuer::new().keys() }).to_string();
    let files = [
        ("a.wasm", &*servlet(&["t"], "a")),
        ("keys.json", keys.as_bytes()),
    ];
    let site = Site::start(&config, &files).await;
    let web = site.http("web");
    for (path, resource) in [
        ("/weather/mcp", "https://mcp.example/weather/mcp"),
        ("/mcp", "https://mcp.example/weather/mcp"),
        ("/sse", "https://mcp.example"),
        ("", "https://mcp.example"),
    ] {
        let metadata = web.at(&format!("/.well-known/oauth-protected-resource{path}"));
        let metadata = metadata.get().message();
        assert_eq!(metadata["resource"], resource, "{path}");
    }
}

const STEP_UP: &str = "Bearer realm=\"web\", error=\"insufficient_scope\", \
    error_description=\"this needs the scopes mcp pay\", scope=\"mcp pay\", \
    resource_metadata=\"https://mcp.example/.well-known/oauth-protected-resource/mcp\"";

/// The member `a` of a site, as a servlet.
const SERVLET: &str = "[servlet.a]\nsource = \"a.wasm\"\n";

/// A site whose tool `refund`, which is one of this member, needs a scope at both transports.
async fn site_with_scopes(issuer: &Issuer, member: &str) -> Site {
    let auth = "auth = \"corp\"\n";
    let config = format!(
        "{WEB}{auth}{OLD}{auth}url = \"https://mcp.example/sse\"\n\
         [auth.corp]\nresource = \"{RESOURCE}\"\nscopes = [\"mcp\"]\n\
         jwt = [{{ issuer = \"{ISSUER}\", jwks = \"keys.json\", audience = [\"{RESOURCE}\"] }}]\n\
         {member}tool.refund = {{ scopes = [\"pay\"] }}\n\
         [bundle.b.tool.undo]\nhandler = \"a:refund\"\n\
         [bundle.b.tool.both]\nresult = {{ content = [] }}\n\
         step = {{ one = {{ handler = \"a:t\" }}, two = {{ handler = \"a:refund\" }} }}\n"
    );
    let keys = json!({ "keys": issuer.keys() }).to_string();
    let files = [
        ("a.wasm", &*servlet(&["t", "refund"], "done")),
        ("keys.json", keys.as_bytes()),
    ];
    Site::start(&config, &files).await
}

fn bearer(issuer: &Issuer, scope: &str) -> String {
    format!("Bearer {}", issuer.token(&json!({ "scope": scope })))
}

/// A call in a session.
fn call(tool: &str) -> Value {
    numbered("c-1", request("tools/call", json!({ "name": tool })))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_can_need_more_scopes() {
    let issuer = Issuer::new();
    let site = site_with_scopes(&issuer, SERVLET).await;
    refund_needs_a_scope(&site, &issuer);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_of_a_remote_can_need_more_scopes() {
    let issuer = Issuer::new();
    let wasm = servlet(&["t", "refund"], "done");
    let behind = Site::start(&format!("{WEB}{SERVLET}"), &[("a.wasm", &*wasm)]).await;
    let url = behind.url("web");
    let member = format!("[remote.a]\nurl = \"{url}\"\nrequired = true\n");
    let site = site_with_scopes(&issuer, &member).await;
    let client = site
        .http("web")
        .with("authorization", &bearer(&issuer, "mcp"));
    eventually("the virtual tools", async || {
        client.ask("tools/list", json!({})).text().contains("undo")
    })
    .await;
    refund_needs_a_scope(&site, &issuer);
    let metadata = site
        .http("web")
        .at("/.well-known/oauth-protected-resource/mcp");
    let metadata = metadata.get().message();
    assert_eq!(metadata["scopes_supported"], json!(["mcp", "pay"]));
}

/// Checks that each call that reaches `refund` needs the scope `pay`.
fn refund_needs_a_scope(site: &Site, issuer: &Issuer) {
    let (plain, stepped_up) = (bearer(issuer, "mcp"), bearer(issuer, "pay mcp"));
    let web = site.http("web");
    let id = web.with("authorization", &plain).initialize().session();
    let modern = |tool: &str| stateless("tools/call", json!({ "name": tool, "arguments": {} }));
    for (tool, authorization, status) in [
        ("t", &plain, 200),
        ("refund", &plain, 403),
        ("undo", &plain, 403),
        ("both", &plain, 403),
        ("refund", &stepped_up, 200),
        ("undo", &stepped_up, 200),
        ("both", &stepped_up, 200),
    ] {
        let client = web.with("authorization", authorization);
        let session = client.with("mcp-session-id", &id);
        for (client, message, id) in [
            (session, call(tool), json!("c-1")),
            (client, modern(tool), json!(1)),
        ] {
            let before = refused(site, "scope");
            let response = client.post(&message);
            assert_eq!(response.status(), status, "{tool}");
            let challenge = (status == 403).then_some(STEP_UP);
            assert_eq!(response.header("www-authenticate"), challenge, "{tool}");
            assert_eq!(refused(site, "scope") - before, u64::from(status == 403));
            assert_eq!(response.message()["id"], id, "{response:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_with_a_tool_that_needs_more_scopes_is_refused_as_a_whole() {
    let issuer = Issuer::new();
    let site = site_with_scopes(&issuer, SERVLET).await;
    let plain = bearer(&issuer, "mcp");
    let client = site.http("web").with("authorization", &plain);
    let opened = client.post(&initialize("2025-03-26"));
    let session = client.with("mcp-session-id", &opened.session());
    assert_eq!(session.post(&json!([call("t")])).status(), 200);
    let before = refused(&site, "scope");
    let response = session.post(&json!([call("t"), call("refund")]));
    assert_eq!(response.status(), 403);
    assert_eq!(response.header("www-authenticate"), Some(STEP_UP));
    assert_eq!(refused(&site, "scope") - before, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn scopes_of_tools_are_in_the_metadata_and_count_over_sse() {
    let issuer = Issuer::new();
    let site = site_with_scopes(&issuer, SERVLET).await;
    let plain = bearer(&issuer, "mcp");
    let metadata = site
        .http("web")
        .at("/.well-known/oauth-protected-resource/mcp");
    let metadata = metadata.get().message();
    assert_eq!(metadata["scopes_supported"], json!(["mcp", "pay"]));
    // The older transport has its answers elsewhere, but not this one.
    let mut stream = Sse::open(&site.http("old").with("authorization", &plain));
    assert_eq!(stream.post(&initialize(HANDSHAKE)), 202);
    stream.next().expect("the session");
    let refusal = stream.http.post(&call("refund"));
    assert_eq!(refusal.status(), 403);
    assert!(refusal.text().contains("\"FORBIDDEN\""), "{refusal:?}");
}
