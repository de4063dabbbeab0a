//! How the message of an Extism error carries a JSON-RPC error.

use std::str::{self, Utf8Error};

use mcp_servlet_call::RpcError;
use serde_json::Value;

use crate::text::{Excerpt, MAX_TEXT};

/// The beginning of the last line of an error message that has a code.
const MARKER: &str = "mcp-fault: ";

/// The beginning of an Extism error message, and its last line if that has code and data.
pub(crate) fn excerpt(text: &[u8]) -> Result<String, Utf8Error> {
    let end = text.len().saturating_sub(MAX_TEXT);
    let tail = text[end..].trim_ascii_end();
    let line = tail.iter().rposition(|byte| *byte == b'\n');
    match line.map(|at| tail.split_at(at)) {
        Some((rest, line)) if line[1..].starts_with(MARKER.as_bytes()) => {
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
pub(crate) fn parse(text: &str) -> Option<RpcError> {
    let (message, line) = text.trim_end().rsplit_once('\n')?;
    let head: Value = serde_json::from_str(line.trim_end().strip_prefix(MARKER)?).ok()?;
    // A JSON-RPC code can be any integer, but `RpcError` has 32 bits for it.
    let code = i32::try_from(head.get("code")?.as_i64()?).unwrap_or(RpcError::INTERNAL);
    Some(RpcError {
        code,
        message: message.to_owned(),
        data: head.get("data").cloned(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_code_and_data_from_the_last_line() {
        let fault = parse("no such page\nmcp-fault: {\"code\":-32602,\"data\":{\"page\":7}}");
        assert_eq!(
            fault,
            Some(RpcError {
                code: -32602,
                message: "no such page".into(),
                data: Some(json!({"page": 7})),
            })
        );
    }

    #[test]
    fn keeps_a_message_of_several_lines() {
        let fault = parse("first\nsecond\nmcp-fault: {\"code\":1}\n").expect("a fault");
        assert_eq!(fault.message, "first\nsecond");
        assert_eq!(fault.data, None);
    }

    #[test]
    fn accepts_a_fault_without_a_message() {
        let fault = parse("\nmcp-fault: {\"code\":-32000}").expect("a fault");
        assert_eq!((fault.code, fault.message.as_str()), (-32000, ""));
    }

    #[test]
    fn a_long_message_keeps_its_code_and_data() {
        let text = format!(
            "{}\nmcp-fault: {{\"code\":-32002}}\n",
            "a".repeat(MAX_TEXT + 7)
        );
        let shown = excerpt(text.as_bytes()).expect("UTF-8");
        let fault = parse(&shown).expect("a fault");
        let message = format!("{}… (7 more bytes)", "a".repeat(MAX_TEXT));
        assert_eq!((fault.code, fault.message), (-32002, message));
        // The data is too long.
        let text = format!(
            "no\nmcp-fault: {{\"code\":1,\"data\":\"{}\"}}",
            "a".repeat(MAX_TEXT)
        );
        let shown = excerpt(text.as_bytes()).expect("UTF-8");
        assert!(shown.ends_with("a… (34 more bytes)"), "{}", shown.len());
        assert_eq!(parse(&shown), None);
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
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
