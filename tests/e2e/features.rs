//! Resources, prompts and completion of an example, in the host and for clients of both protocol eras.

use e2e::{Client, Era, Profile, fixture, servlet_command, wasm};
use mcp_servlet_call::CallErrorKind;
use mcp_servlet_host::{Content, Listed, Servlet};
use mcp_servlet_runtime::{LoadOptions, block_on};
use rmcp::model::ClientRequest;
use serde_json::{Value, json};

use crate::support::{load, module, object};

/// `kv-notes` with one note.
fn notes() -> Servlet {
    let notes = load(&wasm("kv_notes", Profile::Servlet), &LoadOptions::default());
    let arguments = json!({ "name": "to do", "text": "sleep" });
    let result = block_on(notes.call("write_note", Some(object(&arguments))));
    assert!(!result.expect("a result").is_error());
    notes
}

fn keys(entries: &[Listed]) -> Vec<&str> {
    entries.iter().map(Listed::key).collect()
}

#[test]
fn servlet_exports_only_what_its_source_has() {
    let module = module(&wasm("kv_notes", Profile::Servlet));
    let functions = module.exports.into_iter().filter(|export| export.function);
    let mut names: Vec<_> = functions.map(|export| export.name).collect();
    names.sort();
    assert_eq!(
        names,
        [
            "call",
            "complete",
            "describe",
            "get_prompt",
            "list_prompts",
            "list_resource_templates",
            "list_resources",
            "read_resource",
        ]
    );
}

#[test]
fn the_host_lists_reads_fills_in_and_suggests() {
    let notes = notes();
    assert_eq!(keys(notes.resources()), ["notes://index"]);
    assert_eq!(keys(notes.resource_templates()), ["notes://note/{name}"]);
    assert_eq!(keys(notes.prompts()), ["summarize"]);
    let note = block_on(notes.read_resource("notes://note/to%20do")).expect("a note");
    let uri = "notes://note/to%20do";
    assert_eq!(
        Value::from(note.into_json()),
        json!({ "contents": [{ "uri": uri, "mimeType": "text/plain", "text": "sleep" }] })
    );
    let arguments = json!({ "name": "to do" });
    let prompt = block_on(notes.get_prompt("summarize", Some(object(&arguments))));
    let prompt = prompt.expect("messages");
    let content = prompt.messages().nth(1).expect("two messages").content;
    let Content::Resource { resource, .. } = content else {
        panic!("a resource, not {content:?}");
    };
    assert_eq!(resource.text(), Some("sleep"));
    let params = json!({
        "ref": { "type": "ref/prompt", "name": "summarize" },
        "argument": { "name": "name", "value": "T" },
    });
    let suggested = block_on(notes.complete(object(&params))).expect("suggestions");
    assert!(suggested.values().eq(["to do"]));
}

#[test]
fn reports_unknown_entries_by_kind() {
    let notes = notes();
    let uri = "notes://note/other";
    let error = block_on(notes.read_resource(uri)).expect_err("there is none");
    assert!(
        matches!(&error.kind, CallErrorKind::UnknownResource { uri: asked, fault: None, .. } if asked == uri)
    );
    let error = block_on(notes.get_prompt("sumarize", None)).expect_err("no such");
    assert_eq!(
        error.help().as_deref(),
        Some("there is a prompt `summarize`")
    );
    let error = block_on(notes.get_prompt("summarize", None)).expect_err("no name");
    assert_eq!(error.to_rpc_error().code, -32602);
    assert!(error.to_string().contains("`/name` is missing"), "{error}");
}

/// Sends a request; errors are protocol errors.
fn ask(client: &Client, method: &str, params: Value) -> Result<Value, Value> {
    let request = json!({ "method": method, "params": params });
    let request: ClientRequest = serde_json::from_value(request).expect("a request");
    match client.ask(request) {
        Ok(result) => Ok(result),
        Err(rmcp::ServiceError::McpError(error)) => Err(serde_json::to_value(error).expect("JSON")),
        Err(error) => panic!("{method}: {error}"),
    }
}

#[test]
fn clients_of_both_protocol_eras_get_the_same_features() {
    for (era, not_found) in [(Era::Handshake, -32002), (Era::Stateless, -32602)] {
        let mut command = servlet_command(["serve"]);
        command.arg(wasm("kv_notes", Profile::Servlet));
        command.env("RUST_LOG", "off");
        let client = Client::start_in(era, command).expect("a server that speaks MCP");
        let server = client.server();
        let capabilities = &server["capabilities"];
        for name in ["tools", "resources", "prompts", "completions"] {
            assert!(capabilities[name].is_object(), "{name} in {capabilities}");
        }
        let arguments = json!({ "name": "to do", "text": "sleep" });
        client.call("write_note", arguments).expect("a result");

        let listed = ask(&client, "resources/list", json!({})).expect("a list");
        assert_eq!(listed["resources"][0]["uri"], "notes://index");
        let listed = ask(&client, "resources/templates/list", json!({})).expect("a list");
        let template = &listed["resourceTemplates"][0]["uriTemplate"];
        assert_eq!(template, "notes://note/{name}");
        let read = ask(
            &client,
            "resources/read",
            json!({ "uri": "notes://note/to%20do" }),
        );
        assert_eq!(read.expect("a note")["contents"][0]["text"], "sleep");
        let uri = "notes://note/other";
        let error = ask(&client, "resources/read", json!({ "uri": uri })).expect_err("none");
        assert_eq!(error["code"], not_found, "{era:?}");
        assert_eq!(error["data"], json!({ "uri": uri }));

        let listed = ask(&client, "prompts/list", json!({})).expect("a list");
        let [name, sentences] = &listed["prompts"][0]["arguments"].as_array().expect("two")[..]
        else {
            panic!("two arguments, not {listed}");
        };
        assert_eq!(name["required"], true);
        assert_eq!(sentences["name"], "sentences");
        let params = json!({ "name": "summarize", "arguments": { "name": "to do" } });
        let prompt = ask(&client, "prompts/get", params).expect("a prompt");
        assert_eq!(prompt["messages"][0]["role"], "user");
        let params = json!({
            "ref": { "type": "ref/resource", "uri": "notes://note/{name}" },
            "argument": { "name": "name", "value": "to" },
        });
        let suggested = ask(&client, "completion/complete", params).expect("suggestions");
        assert_eq!(suggested["completion"]["values"], json!(["to do"]));
        client.stop().expect("an end");
    }
}

#[test]
fn a_servlet_with_tools_alone_declares_nothing_else() {
    let mut command = servlet_command(["serve"]);
    command
        .arg(wasm("greet", Profile::Servlet))
        .env("RUST_LOG", "off");
    let client = Client::start(command).expect("a server that speaks MCP");
    let server = client.server();
    let capabilities = &server["capabilities"];
    for name in ["resources", "prompts", "completions"] {
        assert!(capabilities[name].is_null(), "{name} in {capabilities}");
    }
    client.stop().expect("an end");
}

#[test]
fn errors_of_tools_and_resources_have_the_codes_of_their_types() {
    let servlet = load(&fixture("errors"), &LoadOptions::default());
    let result = block_on(servlet.call("find", None)).expect("a result");
    let meta = result.json()["_meta"].to_string();
    assert_eq!(meta, r#"{"mcp-servlet/error":{"code":"missing"}}"#);
    let error = block_on(servlet.read_resource("test://missing")).expect_err("a fault");
    let data = error.to_rpc_error().data;
    assert_eq!(data, Some(json!({ "code": "missing" })));
}
