//! Shapes of results. The first line has the limits of lists and texts and the paths, the rest is the structured content.

use mcp_servlet_host::{CallToolResult, Shape};
use serde_json::{Value, json};

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let (head, json) = text.split_once('\n').unwrap_or((text, ""));
    let Ok(content) = serde_json::from_str::<Value>(json) else {
        return;
    };
    let mut words = head.split(' ');
    let mut number = || words.next().and_then(|word| word.parse().ok());
    let mut shape = Shape::default();
    (shape.most, shape.chars) = (number(), number());
    shape.take = words.filter_map(|word| word.parse().ok()).collect();
    let before = json!({
        "content": [{ "type": "text", "text": content.to_string() }],
        "structuredContent": content,
    });
    let Value::Object(before) = before else {
        unreachable!("it is an object");
    };
    let apply = |shape: &Shape| {
        let shaped = shape.apply(CallToolResult::new(before.clone()));
        Value::Object(shaped.into_json())
    };
    let shaped = apply(&shape);
    let part = &shaped["structuredContent"];
    assert!(is_part(part, &content), "{part} of {content}");
    shape.chars = None;
    let whole_texts = apply(&shape);
    shape.most = None;
    let whole_lists = apply(&shape);
    // The pointers of such a member would look like those of texts.
    if content.get("content").is_none() {
        add_up(&shaped, &whole_lists, &whole_texts);
    }
}

/// Checks that the number of items that were cut and of those that are left is the number of all.
fn add_up(shaped: &Value, whole_lists: &Value, whole_texts: &Value) {
    let counts = shaped["_meta"]["mcp-servlet/cut"].as_object();
    let items = |value: &Value, pointer: &str| {
        let list = value["structuredContent"].pointer(pointer);
        list.and_then(Value::as_array).map(|list| list.len() as u64)
    };
    let characters = |value: &Value, pointer: &str| {
        let text = value.pointer(pointer).and_then(Value::as_str);
        text.map(|text| text.chars().count() as u64)
    };
    for (pointer, count) in counts.into_iter().flatten() {
        let count = count.as_u64().expect("a number");
        let (left, whole) = if pointer.starts_with("/content/") {
            (
                characters(shaped, pointer),
                characters(whole_texts, pointer),
            )
        } else {
            (items(shaped, pointer), items(whole_lists, pointer))
        };
        assert!(count > 0, "{pointer}: {shaped}");
        let left = left.expect("what was cut is there");
        assert_eq!(Some(left + count), whole, "{pointer}: {shaped}");
    }
}

/// Whether a value has nothing that the other one does not have, in the same order.
fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part
            .iter()
            .all(|(name, value)| whole.get(name).is_some_and(|whole| is_part(value, whole))),
        (Value::Array(part), Value::Array(whole)) => {
            let mut rest = whole.iter();
            part.iter()
                .all(|item| rest.any(|whole| is_part(item, whole)))
        }
        (part, whole) => part == whole,
    }
}
