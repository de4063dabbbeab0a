//! The value in the result of a tool.

use std::borrow::Cow;

use mcp_caller::Wrap;
use mcp_servlet_json::{from_str, write_raw};

use super::error::{MISMATCH, TOOL, ToolsError};
use crate::json::{Children, member};

/// The JSON of the value: the structured content, or without one a single text.
///
/// As in `mcp-servlet-client`, the value is the member `result` of structured content if the output schema or `_meta`
/// says so.
#[inline]
pub(super) fn value<'a>(
    tool: &str,
    result: &'a str,
    wrap: Wrap,
) -> Result<Cow<'a, str>, ToolsError> {
    let structured = member(result, "structuredContent");
    let is_error = member(result, "isError") == "true";
    if is_error || structured.is_empty() || structured == "null" {
        return text(tool, member(result, "content"), is_error).map(Cow::Owned);
    }
    if wrap == Wrap::No
        && member(member(member(result, "_meta"), "fastmcp"), "wrap_result") != "true"
    {
        return Ok(Cow::Borrowed(structured));
    }
    match member(structured, "result") {
        "" => Err(no_value(tool)),
        value => Ok(Cow::Borrowed(value)),
    }
}

/// The single text of a result; of a failure all texts, as an error.
#[inline]
fn text(tool: &str, content: &str, is_error: bool) -> Result<String, ToolsError> {
    let (mut joined, mut blocks, mut texts) = (String::new(), 0, 0);
    for (_, block) in Children::new(content) {
        blocks += 1;
        if member(block, "type") == "\"text\"" {
            let text: String = from_str(member(block, "text")).unwrap_or_default();
            write_raw(&mut joined, if texts > 0 { "\n" } else { "" });
            write_raw(&mut joined, &text);
            texts += 1;
        }
    }
    if !is_error {
        let is_single = (blocks, texts) == (1, 1);
        return if is_single {
            Ok(joined)
        } else {
            Err(no_value(tool))
        };
    }
    if joined.is_empty() {
        joined = String::from("the tool reports a failure without a text");
    }
    Err(ToolsError::at(tool, joined, Cow::Borrowed(TOOL)))
}

#[cold]
#[inline]
fn no_value(tool: &str) -> ToolsError {
    let message = "the result has no structured content, and no single text that is JSON";
    ToolsError::at(tool, String::from(message), Cow::Borrowed(MISMATCH.0))
}
