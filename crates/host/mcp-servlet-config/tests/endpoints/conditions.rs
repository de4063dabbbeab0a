//! Rules with conditions, for callers with tokens.

use mcp_servlet_client::{Http, Options, Session};
use serde_json::{Value, json};

use crate::{
    issuer::{ISSUER, Issuer, RESOURCE},
    log,
    site::{Site, WEB, tools},
    wasm::echo_as,
};

/// A servlet whose tools return their requests.
fn files() -> Vec<u8> {
    let properties = json!({ "path": { "type": "string" } });
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object", "properties": properties } });
    let tools = ["files_read", "files_write"].map(tool);
    echo_as(&json!({ "tools": tools }).to_string())
}

/// A site with these rules, and claims that they can read.
async fn site(issuer: &Issuer, rules: &str) -> Site {
    let config = format!(
        "{WEB}auth = \"corp\"\n{rules}\n[servlet.files]\nsource = \"files.wasm\"\n\
         [auth.corp]\nresource = \"{RESOURCE}\"\nclaims = [\"tenant\"]\n\
         [[auth.corp.jwt]]\nissuer = \"{ISSUER}\"\njwks = \"keys.json\"\n"
    );
    let keys = json!({ "keys": issuer.keys() }).to_string();
    let files = [("files.wasm", &*files()), ("keys.json", keys.as_bytes())];
    Site::start(&config, &files).await
}

async fn connect(site: &Site, issuer: &Issuer, claims: &Value) -> Session {
    let token = issuer.token(claims);
    let http = Http::new(site.url("web")).expect("a URL");
    let http = http.header("authorization", &format!("Bearer {token}"));
    let http = http.expect("a header").into();
    let session = Session::connect_with(&http, &Options::new()).await;
    session.expect("a session")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_conditions_of_the_guide_do_what_it_says() {
    let guide = include_str!("../../../../../docs/access.md");
    let (_, chapter) = guide.split_once("### Conditions").expect("the chapter");
    let (_, block) = chapter.split_once("[[endpoint").expect("rules");
    let (rules, _) = block.split_once("```").expect("the end of the block");
    let rules = format!("[[endpoint{rules}").replace("endpoint.main", "endpoint.web");
    let issuer = Issuer::new();
    let site = site(&issuer, &rules).await;
    let member = connect(&site, &issuer, &json!({ "tenant": "acme" })).await;
    let admin = connect(&site, &issuer, &json!({ "roles": ["admin"] })).await;
    assert_eq!(tools(&member).await, ["files_read"]);
    assert_eq!(tools(&admin).await, ["files_read", "files_write"]);
    for (session, path, is_allowed) in [
        (&member, "/acme/a", true),
        (&member, "/acme/../other/a", false),
        (&member, "/other/a", false),
        (&member, "/acme", false),
        (&admin, "/other/a", true),
    ] {
        let called = session.call("files_read", json!({ "path": path })).await;
        let result = json!(called.expect("a result").raw);
        assert_eq!(result["isError"] != true, is_allowed, "{path}: {result}");
    }
    let called = member
        .call("files_write", json!({ "path": "/acme/a" }))
        .await;
    called.map(drop).expect_err("an unknown tool");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_condition_that_fails_denies_and_is_logged() {
    let rules = "rules = [{ name = \"short\", deny = [\"files_write\"], when = \"${{ size(arguments.path) > 9 }}\" }, { allow = [\"*\"] }]";
    log::start();
    let issuer = Issuer::new();
    let site = site(&issuer, rules).await;
    let session = connect(&site, &issuer, &json!({})).await;
    for (arguments, is_allowed) in [(json!({ "path": "/a" }), true), (json!({}), false)] {
        let called = session.call("files_write", arguments.clone()).await;
        let result = json!(called.expect("a result").raw);
        assert_eq!(
            result["isError"] != true,
            is_allowed,
            "{arguments}: {result}"
        );
    }
    log::says("cannot evaluate `when`, which denies: a value that the expression reads is absent rule=\"short\"").await;
}
