//! The servlet as a host sees it, without a host.

use mcp_servlet::testing::TestContext;
use mcp_servlet::{Context, Fault};
use serde_json::{Value, json};

use super::SERVLET;

/// A context in which two notes were written.
fn written() -> TestContext {
    let context = TestContext::new();
    for (name, text) in [("shopping", "milk, bread"), ("to do / later", "sleep")] {
        let arguments = json!({ "name": name, "text": text });
        let result = SERVLET.call_with(&context, "write_note", arguments);
        assert_eq!(result.expect("a result").is_error, None);
    }
    context
}

fn call(context: &Context, tool: &str, arguments: Value) -> Value {
    let result = SERVLET.call_with(context, tool, arguments);
    serde_json::to_value(result.expect("a result")).expect("JSON")
}

fn read(context: &Context, uri: &str) -> Result<String, Fault> {
    let result = SERVLET.read_resource_with(context, uri)?;
    Ok(result.contents[0].text.clone().unwrap_or_default())
}

#[test]
fn a_note_is_read_under_the_address_that_writing_it_gives() {
    let context = written();
    let arguments = json!({ "name": "to do / later", "text": "rest" });
    let result = call(&context, "write_note", arguments);
    assert_eq!(result["content"][0]["text"], "replaced");
    let uri = result["content"][1]["uri"].as_str().expect("a link");
    assert_eq!(uri, "notes://note/to%20do%20%2F%20later");
    assert_eq!(read(&context, uri).as_deref(), Ok("rest"));
    let index = read(&context, "notes://index");
    assert_eq!(index.as_deref(), Ok(r#"["shopping","to do / later"]"#));
}

#[test]
fn what_was_deleted_is_not_there_any_more() {
    let context = written();
    let arguments = json!({ "name": "shopping" });
    let result = call(&context, "delete_note", arguments.clone());
    assert_eq!(result["content"][0]["text"], "deleted");
    let fault = read(&context, "notes://note/shopping").expect_err("it is gone");
    assert_eq!(fault.code(), Fault::RESOURCE_NOT_FOUND);
    let result = call(&context, "delete_note", arguments);
    assert_eq!(result["isError"], true);
    let text = "there is no note called `shopping`";
    assert_eq!(result["content"][0]["text"], text);
}

#[test]
fn notes_are_found_by_name_and_text() {
    let context = written();
    for (word, count) in [("MILK", 1), ("e", 2), ("later", 1), ("x", 0)] {
        let result = call(&context, "find_notes", json!({ "word": word }));
        let found = result["content"].as_array().expect("content");
        assert_eq!(found.len(), count, "{word}");
    }
}

#[test]
fn a_summary_embeds_the_note() {
    let context = written();
    let arguments = json!({ "name": "shopping", "sentences": "1" });
    let prompt = SERVLET.get_prompt_with(&context, "summarize", arguments);
    let [ask, note] = &*prompt.expect("a prompt").messages else {
        panic!("two messages");
    };
    let text = "Summarize this note in 1 sentences.";
    assert_eq!(ask.content.text.as_deref(), Some(text));
    let note = note.content.resource.as_ref().expect("a resource");
    assert_eq!(note.text.as_deref(), Some("milk, bread"));
}

#[test]
fn names_are_suggested() {
    use mcp_servlet::testing::types::{
        CompleteRequestParams, CompletionArgument, CompletionReference,
    };
    let reference = CompletionReference {
        uri: Some("notes://note/{name}".to_owned()),
        ..CompletionReference::new("ref/resource")
    };
    let params = CompleteRequestParams::new(reference, CompletionArgument::new("name", "sh"));
    let completion = SERVLET.complete_with(&written(), params);
    assert_eq!(completion.expect("suggestions").values, ["shopping"]);
}
