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
    let shaped = shape.apply(CallToolResult::new(before));
    let shaped = shaped.structured_content().expect("structured content");
    assert!(is_part(shaped, &content), "{shaped} of {content}");
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
