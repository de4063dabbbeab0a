//! Protocol errors that a servlet raises, and how they travel in an Extism error text.

use serde_json::{Value, json};

/// A JSON-RPC error: what broke the protocol, in contrast to a tool that answered `isError`.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The JSON-RPC error code.
    pub code: i32,
    /// One sentence for a person.
    pub message: String,
    /// Details for a program.
    pub data: Option<Value>,
}

impl Fault {
    /// JSON-RPC: the parameters of the request are wrong.
    pub const INVALID_PARAMS: i32 = -32602;
    /// Ours, of those that the protocol leaves to servers: try again later.
    pub const BUSY: i32 = -32000;
    /// MCP up to 2025-11-25: there is no such resource. Clients of later revisions get [`Self::INVALID_PARAMS`].
    pub const RESOURCE_NOT_FOUND: i32 = -32002;
    /// JSON-RPC: the server failed.
    pub const INTERNAL: i32 = -32603;

    const MARKER: &str = "mcp-fault: ";

    /// Reads an Extism error text: the message, and in the last line, if the servlet wrote one, code and data.
    ///
    /// `None` means that the text has no such line. The first line is always the message, be it empty: what comes
    /// from elsewhere must not pass for a fault by its first words.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (message, line) = text.trim_end().rsplit_once('\n')?;
        let head: Value = serde_json::from_str(line.trim_end().strip_prefix(Self::MARKER)?).ok()?;
        // JSON-RPC has any integer for a code, what carries it here has fewer.
        let code = i32::try_from(head.get("code")?.as_i64()?).unwrap_or(Self::INTERNAL);
        Some(Self {
            code,
            message: message.to_owned(),
            data: head.get("data").cloned(),
        })
    }

    /// An internal error that names the servlet and the export it happened in, if it was running.
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
    fn takes_any_other_text_for_no_fault() {
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
