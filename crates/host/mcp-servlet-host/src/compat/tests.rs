//! Every shape, and the result that it becomes.

use serde_json::{Value, json};

use super::*;

fn read(output: &Value) -> Result<Value, Problem> {
    let result = read_result(output.to_string().as_bytes(), true)?;
    Ok(Value::Object(result.into_json()))
}

fn read_item(item: &Value) -> Vec<Value> {
    let result = read(&json!({ "content": [item] })).expect("a result");
    result["content"].as_array().expect("content").clone()
}

#[test]
fn passes_valid_results_unchanged() {
    let modern = json!({
        "content": [
            {"type": "text", "text": "hi", "annotations": {"audience": ["user"], "priority": 0.1}, "_meta": {"a/b": 1}},
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
            {"type": "resource_link", "uri": "x://y", "name": "y", "size": 9_007_199_254_740_993_i64},
            {"type": "resource", "resource": {"uri": "x://y", "mimeType": "text/plain", "_meta": {}, "text": "t"}},
            {"type": "hologram", "beams": [1.0, 0.1]},
        ],
        "structuredContent": {"z": null, "a": u64::MAX},
        "isError": false,
        "_meta": {"k": null},
        "vendor": {"kept": true},
    });
    let read = read(&modern).expect("a result");
    assert_eq!(read, modern);
    assert_eq!(read.to_string(), modern.to_string(), "the order stays too");
}

#[test]
fn reads_the_resource_key_with_a_capital_letter() {
    let old = json!({"type": "resource", "Resource": {"uri": "a://b", "text": "t"}});
    let new = json!({"type": "resource", "resource": {"uri": "a://b", "text": "t"}});
    assert_eq!(read_item(&old), [new]);
}

#[test]
fn prefers_the_resource_key_of_today() {
    let both = json!({"type": "resource", "Resource": {"uri": "old:", "text": "o"}, "resource": {"uri": "new:", "text": "n"}});
    assert_eq!(read_item(&both)[0]["resource"]["uri"], "new:");
}

#[test]
fn flattens_nested_contents() {
    let text = json!({"type": "resource", "Resource": {
        "uri": "a://b", "text": {"text": "t", "uri": "a://inner", "mimeType": "text/plain"}}});
    let flat = json!({"type": "resource", "resource": {"uri": "a://b", "text": "t", "mimeType": "text/plain"}});
    assert_eq!(read_item(&text), [flat]);

    let blob = json!({"type": "resource", "resource": {
        "text": null, "blob": {"blob": "aGk=", "uri": "a://inner", "mimeType": null}}});
    let flat = json!({"type": "resource", "resource": {"blob": "aGk=", "uri": "a://inner"}});
    assert_eq!(read_item(&blob), [flat]);
}

#[test]
fn splits_a_resource_that_has_both_a_text_and_a_blob() {
    let both = json!({"type": "resource", "annotations": {"priority": 1}, "resource": {
        "uri": "a:", "text": {"text": "t", "uri": "a:"}, "blob": {"blob": "aGk=", "uri": "a:"}}});
    let parts = [
        json!({"type": "resource", "annotations": {"priority": 1}, "resource": {"uri": "a:", "text": "t"}}),
        json!({"type": "resource", "annotations": {"priority": 1}, "resource": {"uri": "a:", "blob": "aGk="}}),
    ];
    assert_eq!(read_item(&both), parts);
}

#[test]
fn reads_a_resource_with_its_fields_next_to_the_type() {
    let old = json!({"type": "resource", "uri": "a:", "mimeType": "image/png", "data": "aGk="});
    let new = json!({"type": "resource", "resource": {"uri": "a:", "mimeType": "image/png", "blob": "aGk="}});
    assert_eq!(read_item(&old), [new]);
}

#[test]
fn drops_the_nulls_of_generated_code() {
    let old = json!({
        "_meta": null,
        "content": [{
            "type": "text", "text": "hi", "data": null, "mimeType": null, "Resource": null,
            "annotations": {"audience": null, "priority": 0.5},
        }],
        "isError": null,
        "structuredContent": null,
    });
    let new = json!({
        "content": [{"type": "text", "text": "hi", "annotations": {"priority": 0.5}}],
        "structuredContent": null,
    });
    assert_eq!(read(&old).expect("a result"), new);
}

#[test]
fn drops_the_nulls_of_all_kinds_of_content() {
    let old = json!({"type": "resource_link", "uri": "x:", "name": "n", "description": null, "size": null, "title": null});
    let new = json!({"type": "resource_link", "uri": "x:", "name": "n"});
    assert_eq!(read_item(&old), [new]);
}

#[test]
fn a_list_that_is_null_is_empty() {
    let read = read(&json!({"content": null})).expect("a result");
    assert_eq!(read, json!({"content": []}));
}

#[test]
fn null_is_structured_content_only_if_the_schema_allows_it() {
    for null_result in [true, false] {
        let output = br#"{"content":[],"structuredContent":null}"#;
        let result = read_result(output, null_result).expect("a result");
        assert_eq!(result.structured_content().is_some(), null_result);
    }
}

#[test]
fn completes_images_that_lack_their_type() {
    for (data, media) in [
        ("iVBORw0KGgoA", "image/png"),
        ("AAAA", "application/octet-stream"),
    ] {
        let item = json!({"type": "image", "data": data, "mimeType": null});
        assert_eq!(read_item(&item)[0]["mimeType"], media);
    }
}

#[test]
fn accepts_a_result_that_consists_of_data() {
    let read = read(&json!({"structuredContent": [1]})).expect("a result");
    assert_eq!(read, json!({"content": [], "structuredContent": [1]}));
}

#[test]
fn error_has_the_pointer_of_an_invalid_result() {
    for (output, at, problem) in [
        (json!([]), "top level", "expected an object, found an array"),
        (json!({}), "/content", "expected an array, found nothing"),
        (
            json!({"content": "hi"}),
            "/content",
            "expected an array, found a string",
        ),
        (
            json!({"content": [], "isError": "no"}),
            "/isError",
            "expected a boolean, found a string",
        ),
        (
            json!({"content": ["hi"]}),
            "/content/0",
            "expected an object, found a string",
        ),
        (
            json!({"content": [{"text": "hi"}]}),
            "/content/0/type",
            "expected a string, found nothing",
        ),
        (
            json!({"content": [{"type": "text"}]}),
            "/content/0/text",
            "expected a string, found nothing",
        ),
        (
            json!({"content": [{"type": "image"}]}),
            "/content/0/data",
            "expected a string, found nothing",
        ),
        (
            json!({"content": [{"type": "resource"}]}),
            "/content/0/resource",
            "a resource needs `text` or `blob`",
        ),
        (
            json!({"content": [{"type": "resource", "resource": {"text": "t"}}]}),
            "/content/0/resource/uri",
            "expected a string, found nothing",
        ),
        (
            json!({"content": [{"type": "resource", "resource": {"uri": "a:", "text": {"t": 1}}}]}),
            "/content/0/resource/text",
            "expected a string, found nothing",
        ),
    ] {
        assert_eq!(read(&output), Err(Problem::new(at, problem)), "{output}");
    }
}

#[test]
fn error_has_the_position_of_invalid_json() {
    let problem = read_result(b"{\"content\": [}", true).expect_err("no JSON");
    assert_eq!(problem, Problem::new("line 1 column 14", "expected value"));
}
