//! Protocol errors of servlets, and how an Extism error message carries them.

use std::str::{self, Utf8Error};

use serde_json::{Value, json};

use crate::text::{Excerpt, MAX_TEXT};

/// A JSON-RPC error. It reports a protocol error; a failed tool returns a result with `isError` instead.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The JSON-RPC error code.
    pub code: i32,
    /// A message for people.
    pub message: String,
    /// Details for programs.
    pub data: Option<Value>,
}

impl Fault {
    /// JSON-RPC: the parameters of the request are invalid.
    pub const INVALID_PARAMS: i32 = -32602;
    /// A server-defined code: the server is busy, try again later.
    pub const BUSY: i32 = -32000;
    /// MCP up to 2025-11-25: the resource does not exist. Clients of later revisions get
    /// [`Self::INVALID_PARAMS`].
    pub const RESOURCE_NOT_FOUND: i32 = -32002;
    /// JSON-RPC: internal error of the server.
    pub const INTERNAL: i32 = -32603;

    const MARKER: &str = "mcp-fault: ";

    /// The beginning of an Extism error message, and its last line if that has code and data.
    pub(crate) fn excerpt(text: &[u8]) -> Result<String, Utf8Error> {
        let end = text.len().saturating_sub(MAX_TEXT);
        let tail = text[end..].trim_ascii_end();
        let line = tail.iter().rposition(|byte| *byte == b'\n');
        match line.map(|at| tail.split_at(at)) {
            Some((rest, line)) if line[1..].starts_with(Self::MARKER.as_bytes()) => {
                let message = Excerpt::of(&text[..end + rest.len()]).to_text()?;
                Ok(message + str::from_utf8(line)?)
            }
            _ => Excerpt::of(text).to_text(),
        }
    }

    /// Reads an Extism error message: the text, and code and data from the last line if the servlet
    /// wrote them.
    ///
    /// `None` means that the last line has no code and data. The first line always belongs to the
    /// text, even if it is empty. So a text from elsewhere cannot pass as a fault by its first
    /// words.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (message, line) = text.trim_end().rsplit_once('\n')?;
        let head: Value = serde_json::from_str(line.trim_end().strip_prefix(Self::MARKER)?).ok()?;
        // A JSON-RPC code can be any integer, but `Fault` has 32 bits for it.
        let code = i32::try_from(head.get("code")?.as_i64()?).unwrap_or(Self::INTERNAL);
        Some(Self {
            code,
            message: message.to_owned(),
            data: head.get("data").cloned(),
        })
    }

    /// An internal error that names the servlet and, if one was running, the export.
    pub fn internal(servlet: &str, export: Option<&str>, message: String) -> Self {
        let data = match export {
            Some(export) => json!({ "servlet": servlet, "export": export }),
            None => json!({ "servlet": servlet }),
        };
        Self {
            code: Self::INTERNAL,
            message,
            data: Some(data),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_code_and_data_from_the_last_line() {
        let fault =
            Fault::parse("no such page\nmcp-fault: {\"code\":-32602,\"data\":{\"page\":7}}");
        assert_eq!(
            fault,
            Some(Fault {
                code: -32602,
                message: "no such page".into(),
                data: Some(json!({"page": 7})),
            })
        );
    }

    #[test]
    fn keeps_a_message_of_several_lines() {
        let fault = Fault::parse("first\nsecond\nmcp-fault: {\"code\":1}\n").expect("a fault");
        assert_eq!(fault.message, "first\nsecond");
        assert_eq!(fault.data, None);
    }

    #[test]
    fn accepts_a_fault_without_a_message() {
        let fault = Fault::parse("\nmcp-fault: {\"code\":-32000}").expect("a fault");
        assert_eq!((fault.code, fault.message.as_str()), (-32000, ""));
    }

    #[test]
    fn a_long_message_keeps_its_code_and_data() {
        let text = format!(
            "{}\nmcp-fault: {{\"code\":-32002}}\n",
            "a".repeat(MAX_TEXT + 7)
        );
        let excerpt = Fault::excerpt(text.as_bytes()).expect("UTF-8");
        let fault = Fault::parse(&excerpt).expect("a fault");
        let message = format!("{}… (7 more bytes)", "a".repeat(MAX_TEXT));
        assert_eq!((fault.code, fault.message), (-32002, message));
        // The data is too long.
        let text = format!(
            "no\nmcp-fault: {{\"code\":1,\"data\":\"{}\"}}",
            "a".repeat(MAX_TEXT)
        );
        let excerpt = Fault::excerpt(text.as_bytes()).expect("UTF-8");
        assert!(excerpt.ends_with("a… (34 more bytes)"), "{}", excerpt.len());
        assert_eq!(Fault::parse(&excerpt), None);
    }

    #[test]
    fn other_texts_are_not_faults() {
        for text in [
            "",
            "plain",
            "two\nlines",
            "mcp-fault: {\"code\":1}",
            "x\nmcp-fault: {}",
            "x\nmcp-fault: {\"code\":\"7\"}",
            "mcp-fault: {\"code\":1}\nnot the last line",
        ] {
            assert_eq!(Fault::parse(text), None, "{text:?}");
        }
    }
}
