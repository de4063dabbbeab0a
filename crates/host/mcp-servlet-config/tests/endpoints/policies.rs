//! The policies of the guide, called and explained.

use mcp_servlet_client::{Http, Options, Session};
use mcp_servlet_config::{Config, Served};
use mcp_servlet_server::Caller;
use serde_json::{Value, json};

use crate::{
    issuer::{ISSUER, Issuer, RESOURCE},
    site::{Site, WEB},
    wasm::echo_as,
};

/// A servlet whose tools return their requests.
fn servlet() -> Vec<u8> {
    let (text, number) = (json!({ "type": "string" }), json!({ "type": "number" }));
    let tool = |name: &str, properties: Value, annotations: Value| {
        let schema = json!({ "type": "object", "properties": properties });
        json!({ "name": name, "inputSchema": schema, "annotations": annotations })
    };
    let none = || json!({});
    let tools = [
        tool("gh_get", json!({ "owner": text, "repo": text }), none()),
        tool("pay", json!({ "amount": number }), none()),
        tool("files_read", json!({ "path": text }), none()),
        tool(
            "report",
            json!({ "x": text }),
            json!({ "readOnlyHint": true }),
        ),
        tool(
            "wipe",
            json!({ "x": text }),
            json!({ "destructiveHint": true }),
        ),
        tool("note", json!({ "x": text }), none()),
        tool(
            "update",
            json!({ "x": text }),
            json!({ "destructiveHint": false }),
        ),
        tool(
            "odd",
            json!({ "x": text }),
            json!({ "readOnlyHint": true, "destructiveHint": true }),
        ),
        json!({ "name": "closed", "inputSchema": {
            "type": "object", "properties": { "x": text }, "additionalProperties": false,
        } }),
    ];
    echo_as(&json!({ "tools": tools }).to_string())
}

/// The blocks of the chapter about policies.
fn policies() -> [String; 2] {
    let guide = include_str!("../../../../../docs/access.md");
    let (_, chapter) = guide.split_once("### Policies").expect("the chapter");
    let (chapter, _) = chapter.split_once("\n### ").expect("the next one");
    let blocks = chapter.split("```toml\n").skip(1);
    let mut blocks = blocks.map(|block| block.split("```").next().expect("a block"));
    [(); 2].map(|()| {
        let block = blocks.next().expect("a block");
        block.replace("endpoint.main", "endpoint.web")
    })
}

/// The claims of a caller.
fn claims(name: &str) -> Value {
    match name {
        "ann" => json!({ "sub": "ann", "tenant": "acme" }),
        "bob" => json!({ "sub": "bob", "tenant": "zeta" }),
        _ => json!({ "sub": "admin", "roles": ["admin"] }),
    }
}

/// The same caller, as a file for `servlet config explain` has it.
fn caller(name: &str) -> Caller {
    let claims = claims(name);
    let tenant = claims
        .get("tenant")
        .map(|tenant| json!({ "tenant": tenant }));
    let caller = json!({
        "kind": "jwt",
        "subject": claims["sub"],
        "issuer": ISSUER,
        "scopes": ["mcp", "read"],
        "roles": claims.get("roles").cloned().unwrap_or_else(|| json!([])),
        "claims": tenant.unwrap_or_else(|| json!({})),
    });
    serde_json::from_value(caller).expect("a caller")
}

/// A call, and whether it is allowed for each of two callers.
type Row = (&'static str, Value, [bool; 2]);

/// Makes all calls of a table, and compares what happens with the explanations.
async fn check(rules: &str, callers: [&str; 2], rows: &[Row]) {
    let issuer = Issuer::new();
    let config = format!(
        "{WEB}auth = \"corp\"\n{rules}\n[servlet.all]\nsource = \"all.wasm\"\n\
         [auth.corp]\nresource = \"{RESOURCE}\"\nclaims = [\"tenant\"]\n\
         [[auth.corp.jwt]]\nissuer = \"{ISSUER}\"\njwks = \"keys.json\"\n"
    );
    let keys = json!({ "keys": issuer.keys() }).to_string();
    let files = [("all.wasm", &*servlet()), ("keys.json", keys.as_bytes())];
    let site = Site::start(&config, &files).await;
    let config = Config::check(&site.path("servlet.toml")).expect("a configuration");
    let loaded = config.load(None).expect("servlets");
    let served = Served {
        loaded: &loaded,
        remotes: None,
        not_ready: &[],
    };
    let endpoint = config.served_endpoint(served, None).expect("an endpoint");
    for (at, name) in callers.into_iter().enumerate() {
        let http = Http::new(site.url("web")).expect("a URL");
        let token = issuer.token(&claims(name));
        let http = http.header("authorization", &format!("Bearer {token}"));
        let http = http.expect("a header").into();
        let session = Session::connect_with(&http, &Options::new()).await;
        let session = session.expect("a session");
        let lists = json!(session.lists().await.expect("lists")).to_string();
        for (tool, arguments, allowed) in rows {
            let called = session.call(tool, arguments.clone()).await;
            let called = called.is_ok_and(|result| json!(result.raw)["isError"] != true);
            assert_eq!(called, allowed[at], "{name}: {tool} {arguments}");
            let definition = endpoint.tool(tool).expect("a tool");
            let given = arguments.as_object().expect("an object");
            let explained = endpoint.explain(Some(&caller(name)), definition, given);
            let explained = explained.expect("an explanation");
            assert_eq!(
                explained.allowed,
                Some(called),
                "{name}: {tool} {arguments}: {explained:?}"
            );
            let is_listed = lists.contains(&format!("\"{tool}\""));
            assert_eq!(explained.listed, is_listed, "{name}: {tool}");
        }
        session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_repositories_of_one_organization() {
    let [rules, _] = policies();
    let row = |arguments: Value, is_allowed| ("gh_get", arguments, [is_allowed; 2]);
    let rows = [
        row(json!({ "owner": "acme", "repo": "x" }), true),
        row(json!({ "owner": "acme" }), true),
        row(json!({ "owner": "Acme" }), false),
        row(json!({ "owner": "acme " }), false),
        row(json!({ "owner": "acme/x" }), false),
        row(json!({ "owner": "" }), false),
        row(json!({ "repo": "acme" }), false),
        row(json!({ "owner": null }), false),
        row(json!({ "owner": ["acme"] }), false),
        row(json!({ "owner": { "name": "acme" } }), false),
    ];
    check(&rules, ["ann", "admin"], &rows).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_small_payments() {
    let [rules, _] = policies();
    let row = |arguments: Value, is_allowed| ("pay", arguments, [is_allowed; 2]);
    let rows = [
        row(json!({ "amount": 0 }), true),
        row(json!({ "amount": 100 }), true),
        row(json!({ "amount": 1e2 }), true),
        row(json!({ "amount": 99.99 }), true),
        row(json!({ "amount": 100.01 }), false),
        row(json!({ "amount": 1_000_000 }), false),
        row(json!({ "amount": -0.01 }), false),
        row(json!({ "amount": "50" }), false),
        row(json!({ "amount": null }), false),
        row(json!({}), false),
    ];
    check(&rules, ["ann", "admin"], &rows).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_files_of_the_tenant() {
    let [rules, _] = policies();
    let row = |path: &str, is_allowed| ("files_read", json!({ "path": path }), is_allowed);
    let rows = [
        row("/acme/a", [true, false]),
        row("/acme/b/c.txt", [true, false]),
        row("/zeta/a", [false, true]),
        row("/acme", [false; 2]),
        row("/acmes/a", [false; 2]),
        row("acme/a", [false; 2]),
        row("/acme/../zeta/a", [false; 2]),
        row("/zeta/..", [false; 2]),
        row("//acme/a", [false; 2]),
        ("files_read", json!({}), [false; 2]),
    ];
    check(&rules, ["ann", "bob"], &rows).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn destructive_tools_for_admins_alone() {
    let [_, rules] = policies();
    let mut rows = Vec::new();
    for arguments in [json!({}), json!({ "x": "y" })] {
        for (tool, for_ann) in [
            ("report", true),
            ("wipe", false),
            ("note", false),
            ("update", true),
            ("odd", false),
        ] {
            rows.push((tool, arguments.clone(), [for_ann, true]));
        }
    }
    check(&rules, ["ann", "admin"], &rows).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_only_reads() {
    let [rules, _] = policies();
    let mut rows = Vec::new();
    for arguments in [json!({}), json!({ "x": "y" })] {
        for (tool, reads) in [
            ("report", true),
            ("wipe", false),
            ("note", false),
            ("update", false),
            ("odd", true),
        ] {
            rows.push((tool, arguments.clone(), [reads; 2]));
        }
    }
    check(&rules, ["ann", "admin"], &rows).await;
}

/// A rule that allows some calls of a tool comes before one that denies the tool.
#[tokio::test(flavor = "multi_thread")]
async fn the_policies_in_one_file() {
    let [first, second] = policies();
    let (some_calls, reads) = first
        .split_once("# Everything that only reads\n")
        .expect("the last rule");
    let (admins, _) = second.rsplit_once("[[").expect("the last rule");
    let rules = [some_calls, admins, reads].concat();
    let rows = [
        ("gh_get", json!({ "owner": "acme" }), [true; 2]),
        ("gh_get", json!({ "owner": "zeta" }), [false; 2]),
        ("pay", json!({ "amount": 100 }), [true; 2]),
        ("pay", json!({ "amount": 101 }), [false; 2]),
        ("files_read", json!({ "path": "/acme/a" }), [true, false]),
        ("files_read", json!({ "path": "/zeta/a" }), [false; 2]),
        ("report", json!({}), [true; 2]),
        ("odd", json!({}), [false, true]),
        ("wipe", json!({}), [false; 2]),
        ("update", json!({}), [false; 2]),
    ];
    check(&rules, ["ann", "admin"], &rows).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_the_server_refuses_are_refused_in_explanations() {
    let rules = "[[endpoint.web.rules]]\nallow = [\"closed\"]\n";
    let rows = [
        ("closed", json!({ "x": "y" }), [true; 2]),
        ("closed", json!({ "x": "y", "z": "y" }), [false; 2]),
        ("closed", json!({ "x": 1 }), [false; 2]),
    ];
    check(rules, ["ann", "bob"], &rows).await;
}
