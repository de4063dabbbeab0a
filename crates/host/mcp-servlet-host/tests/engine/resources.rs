//! Resources of several servlets in one server.

use mcp_servlet_call::RequestMeta;
use mcp_servlet_host::{Entry, Host, Listed, Loaded};
use mcp_servlet_runtime::{LoadOptions, Source};
use serde_json::{Value, json};

use crate::support::{DESCRIPTION, Wat};

const RETURN: &str = "(call $output {}) (i32.const 0)";

/// A servlet that can read every URI and returns its own name.
fn entry(name: &str, resources: &[&str], templates: &[&str]) -> Entry {
    let list = |key: &str, uris: &[&str]| -> Vec<Value> {
        uris.iter()
            .map(|uri| json!({ key: uri, "name": uri }))
            .collect()
    };
    let resources = json!({ "resources": list("uri", resources) });
    let templates = json!({ "resourceTemplates": list("uriTemplate", templates) });
    let contents = json!({ "contents": [{ "uri": "x:", "text": name }] });
    let suggestions = json!({ "completion": { "values": [name] } });
    let wasm = Wat::new()
        .describe(&DESCRIPTION.replace(r#""t""#, &json!(name).to_string()))
        .answer("{}")
        .export("list_resources", &resources.to_string(), RETURN)
        .export("list_resource_templates", &templates.to_string(), RETURN)
        .export("read_resource", &contents.to_string(), RETURN)
        .export("complete", &suggestions.to_string(), RETURN)
        .wasm();
    let source = Source::Bytes {
        name: name.into(),
        wasm,
    };
    Entry::of(source, LoadOptions::default())
}

fn host(entries: &[Entry]) -> Host {
    Loaded::load(entries, None).expect("a host").host
}

fn problems(host: &Host) -> Vec<String> {
    let problems = host.problems();
    problems.map(ToString::to_string).collect()
}

async fn read(host: &Host, uri: &str) -> String {
    let result = host.read_resource_with(uri, &RequestMeta::default()).await;
    let result = result.expect("contents");
    let contents = result.contents().next().expect("contents");
    contents.text().expect("text").to_owned()
}

#[tokio::test]
async fn a_longer_template_takes_over_no_uris_of_an_earlier_servlet() {
    let host = host(&[
        entry("a", &[], &["file:///{+path}"]),
        entry("b", &[], &["file:///secret/{name}"]),
    ]);
    assert_eq!(read(&host, "file:///secret/x").await, "a");
    assert_eq!(
        problems(&host),
        [
            "resource template `file:///secret/{name}` of `b` matches URIs of `file:///{+path}`, a template of `a`"
        ]
    );
}

#[test]
fn many_equal_resources_are_one_warning() {
    let uris: Vec<String> = (0..50).map(|number| format!("file:///{number}")).collect();
    let uris: Vec<&str> = uris.iter().map(String::as_str).collect();
    let entries = ["a", "b", "c"].map(|name| entry(name, &uris, &["notes://{id}"]));
    assert_eq!(
        problems(&host(&entries)),
        [
            "102 resources and templates are skipped, because earlier members list them; the first: resource `file:///0` of `b` \
             is skipped: `a` already has the resource `file:///0`"
        ]
    );
}

#[tokio::test]
async fn a_uri_belongs_to_the_servlet_that_lists_it() {
    let host = host(&[
        entry("a", &[], &["file:///{+path}"]),
        entry("b", &["file:///b.txt"], &[]),
        entry("c", &["file:///b.txt"], &[]),
    ]);
    assert_eq!(read(&host, "file:///b.txt").await, "b");
    assert_eq!(read(&host, "file:///c.txt").await, "a");
    assert_eq!(host.resources().map(Listed::key).count(), 1);
    assert_eq!(
        problems(&host),
        [
            "resource `file:///b.txt` of `c` is skipped: `b` already has the resource `file:///b.txt`",
            "resource `file:///b.txt` of `b` has a URI of `file:///{+path}`, a template of `a`",
        ]
    );
}

/// A servlet that lists a URI from its second call of `list_resources` on.
fn appearing(name: &str, uri: &str) -> Entry {
    let listed = json!({ "resources": [{ "uri": uri, "name": uri }] }).to_string();
    let contents = json!({ "contents": [{ "uri": uri, "text": name }] });
    let wasm = Wat::new()
        .import(r#"(import "extism:host/user" "notify_resource_list_changed" (func $notify))"#)
        .describe(&DESCRIPTION.replace(r#""t""#, &json!(name).to_string()))
        .answer("{}")
        .each("list_resources", &[r#"{"resources":[]}"#, &listed])
        .export("read_resource", &contents.to_string(), RETURN)
        .wasm();
    let name = name.to_owned();
    Entry::of(Source::Bytes { name, wasm }, LoadOptions::default())
}

#[tokio::test]
async fn a_uri_that_appears_belongs_to_the_first_servlet() {
    for (first, later) in [
        (entry("a", &["x:1"], &[]), appearing("b", "x:1")),
        (appearing("a", "x:1"), entry("b", &["x:1"], &[])),
    ] {
        let before = host(&[first, later]);
        assert!(problems(&before).is_empty());
        let after = before.relisted();
        assert_eq!(
            after.resources().map(Listed::key).collect::<Vec<_>>(),
            ["x:1"]
        );
        assert_eq!(read(&after, "x:1").await, "a");
        assert_eq!(
            problems(&after),
            ["resource `x:1` of `b` is skipped: `a` already has the resource `x:1`"]
        );
    }
}

/// A servlet that only reads URIs with the scheme in lower case, as its templates have it.
fn exact(templates: &[&str]) -> Entry {
    let list = templates
        .iter()
        .map(|uri| json!({ "uriTemplate": uri, "name": uri }));
    let templates = json!({ "resourceTemplates": list.collect::<Vec<_>>() });
    let contents = json!({ "contents": [{ "uri": "x:", "text": "exact" }] });
    let unknown = "no such resource\nmcp-fault: {\"code\":-32002}";
    let before = r#"{"params":{"uri":""#.len();
    let body = format!(
        "(if (i32.eq (call $input (i64.const {before})) (i32.const 100))
            (then {RETURN} (return)))
        (call $error (i32.const 0) (i32.const {})) (i32.const 1)",
        unknown.len()
    );
    let wasm = Wat::new()
        .text(unknown)
        .describe(DESCRIPTION)
        .answer("{}")
        .export("list_resource_templates", &templates.to_string(), RETURN)
        .export("read_resource", &contents.to_string(), &body)
        .wasm();
    let source = Source::Bytes {
        name: "exact".into(),
        wasm,
    };
    Entry::of(source, LoadOptions::default())
}

#[tokio::test]
async fn equivalent_uris_have_the_same_resource() {
    let host = host(&[
        exact(&["docs://caf%C3%A9/{name}"]),
        entry("listed", &["docs://caf%C3%A9/x"], &[]),
    ]);
    assert_eq!(read(&host, "docs://caf%C3%A9/y").await, "exact");
    assert_eq!(read(&host, "DOCS://CAF%c3%a9/y").await, "exact");
    assert_eq!(read(&host, "DOCS://CAF%c3%a9/x").await, "listed");
}

#[tokio::test]
async fn the_template_of_a_completion_may_be_written_in_another_way() {
    let host = host(&[
        entry("other", &[], &["docs://tea/{name}"]),
        entry("wanted", &[], &["docs://caf%C3%A9/{name}"]),
    ]);
    let complete = async |uri: &str| {
        let argument = json!({ "name": "name", "value": "" });
        let params = json!({ "ref": { "type": "ref/resource", "uri": uri }, "argument": argument });
        let params = serde_json::from_value(params).expect("an object");
        let completed = host.complete(&params).await;
        completed.map(|result| result.json()["completion"]["values"][0].clone())
    };
    for uri in ["docs://caf%C3%A9/{name}", "DOCS://CAF%c3%a9/{name}"] {
        assert_eq!(complete(uri).await.expect("suggestions"), "wanted");
    }
    complete("docs://caf/{name}")
        .await
        .expect_err("no template");
}
