//! Prints the content of a result.

use std::io::{self, Write};

use mcp_servlet_host::{CallToolResult, Content, GetPromptResult, ResourceContents, ResourceData};

use crate::terminal::one_line;

/// Prints text unchanged, and a description of any other content.
pub(crate) fn write_result(out: &mut impl Write, result: &CallToolResult) -> io::Result<()> {
    for content in result.content() {
        write_content(out, content)?;
    }
    match result.structured_content() {
        // Structured content repeats the content for programs.
        Some(data) if result.content().len() == 0 => writeln!(out, "{data:#}"),
        _ => Ok(()),
    }
}

/// Prints the messages of a prompt with their roles.
pub(crate) fn write_messages(out: &mut impl Write, prompt: &GetPromptResult) -> io::Result<()> {
    for message in prompt.messages() {
        if let Some(role) = message.role {
            writeln!(out, "{}:", one_line(role))?;
        }
        write_content(out, message.content)?;
    }
    Ok(())
}

/// Takes the place of a media type that is missing.
const UNKNOWN_TYPE: &str = "unknown type";

fn write_content(out: &mut impl Write, content: Content<'_>) -> io::Result<()> {
    match content {
        Content::Text { text, .. } => write_text(out, text),
        Content::Image {
            data, mime_type, ..
        } => write_media(out, "image", mime_type, data),
        Content::Audio {
            data, mime_type, ..
        } => write_media(out, "audio", mime_type, data),
        Content::ResourceLink { uri, .. } => writeln!(out, "[link to {}]", one_line(uri)),
        Content::Resource { resource, .. } => write_resource(out, &resource),
        other => {
            let json = other.json();
            let kind = json["type"].as_str().unwrap_or_default();
            writeln!(out, "[{}] {json}", one_line(kind))
        }
    }
}

fn write_media(
    out: &mut impl Write,
    kind: &str,
    mime_type: Option<&str>,
    data: &str,
) -> io::Result<()> {
    let (mime_type, length) = (
        one_line(mime_type.unwrap_or(UNKNOWN_TYPE)),
        decoded_length(data),
    );
    writeln!(out, "[{kind}, {mime_type}, {length} bytes]")
}

/// Prints text below its URI. For binary contents it prints the size.
pub(crate) fn write_resource(
    out: &mut impl Write,
    resource: &ResourceContents<'_>,
) -> io::Result<()> {
    let uri = one_line(resource.uri);
    let kind = one_line(resource.mime_type.unwrap_or(UNKNOWN_TYPE));
    match resource.data {
        ResourceData::Text(text) => {
            writeln!(out, "[resource {uri}, {kind}]")?;
            write_text(out, text)
        }
        ResourceData::Blob(blob) => {
            let length = decoded_length(blob);
            writeln!(out, "[resource {uri}, {kind}, {length} bytes]")
        }
    }
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
    use serde_json::{Value, json};

    use super::*;

    fn shown(item: &Value) -> String {
        let mut out = Vec::new();
        write_content(&mut out, Content::new(item)).expect("memory takes everything");
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
