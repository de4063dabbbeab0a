//! Prints the content of a result.

use std::io::{self, Write};

use mcp_servlet_host::CallToolResult;
use serde_json::Value;

use crate::terminal::one_line;

/// Prints text unchanged, and a description of any other content.
pub(crate) fn write_result(out: &mut impl Write, result: &CallToolResult) -> io::Result<()> {
    for item in result.content() {
        write_item(out, item)?;
    }
    match result.structured_content() {
        // Structured content repeats the content for programs.
        Some(data) if result.content().is_empty() => writeln!(out, "{data:#}"),
        _ => Ok(()),
    }
}

/// Prints the messages of a prompt with their roles.
pub(crate) fn write_messages(out: &mut impl Write, messages: &[Value]) -> io::Result<()> {
    for message in messages {
        writeln!(
            out,
            "{}:",
            one_line(message["role"].as_str().unwrap_or_default())
        )?;
        write_item(out, &message["content"])?;
    }
    Ok(())
}

fn write_item(out: &mut impl Write, item: &Value) -> io::Result<()> {
    let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "text" => write_text(out, text("text")),
        kind @ ("image" | "audio") => {
            writeln!(
                out,
                "[{kind}, {}, {} bytes]",
                one_line(text("mimeType")),
                decoded_length(text("data"))
            )
        }
        "resource_link" => writeln!(out, "[link to {}]", one_line(text("uri"))),
        "resource" => write_resource(out, &item["resource"]),
        kind => writeln!(out, "[{}] {item}", one_line(kind)),
    }
}

/// Prints text below its URI. For binary contents it prints the size.
pub(crate) fn write_resource(out: &mut impl Write, resource: &Value) -> io::Result<()> {
    let text = |key: &str| resource.get(key).and_then(Value::as_str);
    let (uri, kind) = (
        one_line(text("uri").unwrap_or_default()),
        one_line(text("mimeType").unwrap_or("unknown type")),
    );
    if let Some(contents) = text("text") {
        writeln!(out, "[resource {uri}, {kind}]")?;
        return write_text(out, contents);
    }
    let length = decoded_length(text("blob").unwrap_or_default());
    writeln!(out, "[resource {uri}, {kind}, {length} bytes]")
}

/// Prints text and ends it with a line break.
pub(crate) fn write_text(out: &mut impl Write, text: &str) -> io::Result<()> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    write!(out, "{text}{end}")
}

/// The number of bytes that base64 text decodes to.
fn decoded_length(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(item: &Value) -> String {
        let mut out = Vec::new();
        write_item(&mut out, item).expect("memory takes everything");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn shows_each_kind_of_content() {
        for (item, expected) in [
            (json!({"type": "text", "text": "a\nb"}), "a\nb\n"),
            (json!({"type": "text", "text": "a\n"}), "a\n"),
            (
                json!({"type": "image", "mimeType": "image/png", "data": "aGVsbG8="}),
                "[image, image/png, 5 bytes]\n",
            ),
            (
                json!({"type": "resource_link", "uri": "a:b"}),
                "[link to a:b]\n",
            ),
            (
                json!({"type": "resource", "resource": {"uri": "a:b", "text": "t"}}),
                "[resource a:b, unknown type]\nt\n",
            ),
            (
                json!({"type": "resource", "resource": {"uri": "a:b", "mimeType": "x/y", "blob": "aGk="}}),
                "[resource a:b, x/y, 2 bytes]\n",
            ),
            (json!({"type": "new"}), "[new] {\"type\":\"new\"}\n"),
        ] {
            assert_eq!(shown(&item), expected);
        }
    }
}
