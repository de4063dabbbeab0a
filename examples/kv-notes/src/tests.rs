//! Tests of the servlet: `cargo test` runs them natively, `servlet test` against the wasm module.

use mcp_servlet::Fault;
use mcp_servlet::testing::Client;
use serde_json::{Value, json};

/// Writes two notes.
fn write(client: &Client) {
    for (name, text) in [("shopping", "milk, bread"), ("to do / later", "sleep")] {
        let result = call(client, "write_note", json!({ "name": name, "text": text }));
        assert_eq!(result["content"][0]["text"], "written");
    }
}

fn call(client: &Client, tool: &str, arguments: Value) -> Value {
    let result = client.call(tool, arguments).expect("a result");
    serde_json::to_value(result).expect("JSON")
}

fn read(client: &Client, uri: &str) -> Result<String, Fault> {
    let result = client.read_resource(uri)?;
    Ok(result.contents[0].text.clone().unwrap_or_default())
}

#[mcp_servlet::test]
fn a_note_is_read_under_the_address_that_writing_it_gives(client: &Client) {
    write(client);
    let arguments = json!({ "name": "to do / later", "text": "rest" });
    let result = call(client, "write_note", arguments);
    assert_eq!(result["content"][0]["text"], "replaced");
    let uri = result["content"][1]["uri"].as_str().expect("a link");
    assert_eq!(uri, "notes://note/to%20do%20%2F%20later");
    assert_eq!(read(client, uri).as_deref(), Ok("rest"));
    let index = read(client, "notes://index");
    assert_eq!(index.as_deref(), Ok(r#"["shopping","to do / later"]"#));
}

#[mcp_servlet::test]
fn clients_find_what_there_is_in_lists(client: &Client) {
    let resources = client.list_resources().expect("a list");
    assert_eq!(resources[0].uri, "notes://index");
    let templates = client.list_resource_templates().expect("a list");
    assert_eq!(templates[0].uri_template, "notes://note/{name}");
    let prompts = client.list_prompts().expect("a list");
    assert_eq!(prompts[0].name, "summarize");
}

#[mcp_servlet::test]
fn what_was_deleted_is_not_there_any_more(client: &Client) {
    write(client);
    let arguments = json!({ "name": "shopping" });
    let result = call(client, "delete_note", arguments.clone());
    assert_eq!(result["content"][0]["text"], "deleted");
    let fault = read(client, "notes://note/shopping").expect_err("it is gone");
    assert_eq!(fault.code(), Fault::RESOURCE_NOT_FOUND);
    let result = call(client, "delete_note", arguments);
    assert_eq!(result["isError"], true);
    let text = "there is no note called `shopping`";
    assert_eq!(result["content"][0]["text"], text);
}

#[mcp_servlet::test]
fn notes_are_found_by_name_and_text(client: &Client) {
    write(client);
    for (word, count) in [("MILK", 1), ("e", 2), ("later", 1), ("x", 0)] {
        let result = call(client, "find_notes", json!({ "word": word }));
        let found = result["content"].as_array().expect("content");
        assert_eq!(found.len(), count, "{word}");
    }
}

#[mcp_servlet::test]
fn a_summary_embeds_the_note(client: &Client) {
    write(client);
    let arguments = json!({ "name": "shopping", "sentences": "1" });
    let prompt = client.get_prompt("summarize", arguments);
    let [ask, note] = &*prompt.expect("a prompt").messages else {
        panic!("two messages");
    };
    let text = "Summarize this note in 1 sentences.";
    assert_eq!(ask.content.as_text(), Some(text));
    let note = note.content.as_resource().expect("a resource");
    assert_eq!(note.text.as_deref(), Some("milk, bread"));
}

#[mcp_servlet::test]
fn names_are_suggested(client: &Client) {
    write(client);
    let completion = client.complete_resource("notes://note/{name}", "name", "sh");
    assert_eq!(completion.expect("suggestions").values, ["shopping"]);
    let completion = client.complete_prompt("summarize", "name", "to");
    assert_eq!(completion.expect("suggestions").values, ["to do / later"]);
}
