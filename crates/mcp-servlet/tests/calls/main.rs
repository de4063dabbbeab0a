//! What a servlet answers to requests, right and wrong.
#![allow(clippy::needless_pass_by_value, reason = "tools own their arguments")]
#![allow(clippy::unnecessary_wraps, reason = "tools return what they are to show")]

mod arguments;
mod context;
mod errors;
mod nested;
mod requests;
mod results;
mod values;

use mcp_servlet::Servlet;
use serde::Serialize;

/// The text of a result that is an error, or of one that is not.
pub(crate) fn text(servlet: &Servlet, tool: &str, arguments: impl Serialize) -> Result<String, String> {
    let result = servlet.call(tool, arguments).expect("there is no fault");
    let texts = result.content.into_iter().map(|block| block.text.expect("it is text"));
    let text = texts.collect::<Vec<_>>().join("|");
    if result.is_error == Some(true) { Err(text) } else { Ok(text) }
}

/// What the model reads when the arguments are wrong.
pub(crate) fn complaint(servlet: &Servlet, tool: &str, arguments: impl Serialize) -> String {
    let error = text(servlet, tool, arguments).expect_err("the arguments are wrong");
    let complaint = error.strip_prefix("invalid arguments: ");
    complaint.unwrap_or_else(|| panic!("{error}")).to_owned()
}
