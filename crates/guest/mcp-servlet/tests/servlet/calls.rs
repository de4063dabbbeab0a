//! The responses of a servlet to valid and invalid requests.
#![allow(deprecated, reason = "tools that only tests call have no descriptions")]
#![allow(clippy::unwrap_used, reason = "a test fails so")]
#![allow(
    clippy::too_many_arguments,
    reason = "one servlet with many is faster to compile than many"
)]
#![allow(
    clippy::boxed_local,
    clippy::needless_pass_by_value,
    clippy::option_option,
    reason = "tools own their arguments, whatever they are"
)]
#![allow(
    clippy::unnecessary_wraps,
    reason = "tools return what they are to show"
)]

mod arguments;
mod asks;
mod caller;
#[cfg(feature = "charset")]
mod charset;
mod client;
mod config;
mod context;
mod errors;
mod from_text;
#[cfg(feature = "http")]
mod http;
mod limits;
#[cfg(feature = "log")]
mod logging;
mod needs;
mod nested;
mod parts;
mod readme;
mod requests;
mod results;
#[cfg(feature = "jiff")]
mod times;
mod tools;
mod values;

use mcp_servlet::Servlet;
use serde::Serialize;
use serde_json::Value;

/// The text of a result: `Err` if the tool failed.
pub(crate) fn text(
    servlet: &'static Servlet,
    tool: &str,
    arguments: impl Serialize,
) -> Result<String, String> {
    let result = servlet.call(tool, arguments).expect("there is no fault");
    let texts = result
        .content
        .into_iter()
        .map(|block| block.text.expect("it is text"));
    let text = texts.collect::<Vec<_>>().join("|");
    if result.is_error == Some(true) {
        Err(text)
    } else {
        Ok(text)
    }
}

/// The error that the model reads when the arguments are invalid.
pub(crate) fn complaint(
    servlet: &'static Servlet,
    tool: &str,
    arguments: impl Serialize,
) -> String {
    let error = text(servlet, tool, arguments).expect_err("the arguments are wrong");
    let rest = error
        .strip_prefix("invalid arguments: ")
        .unwrap_or_else(|| panic!("{error}"));
    let (complaint, example) = rest
        .split_once("\nvalid arguments: ")
        .unwrap_or((rest, "{}"));
    let _: Value = serde_json::from_str(example).expect("an example is JSON");
    complaint.to_owned()
}

/// Splits an error about a value: its position, the schema there, and the value found.
pub(crate) fn wrong(complaint: &str) -> (&str, Value, &str) {
    let parts = complaint
        .split_once("` must match ")
        .and_then(|(start, rest)| {
            let (schema, came) = rest.rsplit_once(", got ")?;
            Some((
                start.strip_prefix('`')?,
                serde_json::from_str(schema).ok()?,
                came,
            ))
        });
    parts.unwrap_or_else(|| panic!("{complaint}"))
}

/// Splits an error about a missing value: its position, and the schema there.
pub(crate) fn missing(complaint: &str) -> (&str, Value) {
    let parts = complaint
        .split_once("` is missing; it must match ")
        .and_then(|(start, schema)| {
            Some((start.strip_prefix('`')?, serde_json::from_str(schema).ok()?))
        });
    parts.unwrap_or_else(|| panic!("{complaint}"))
}

/// The schema at this pointer into the arguments of a tool.
pub(crate) fn schema(servlet: &'static Servlet, tool: &str, pointer: &str) -> Value {
    let description: Value =
        serde_json::from_str(&servlet.client().request("describe", "").unwrap()).unwrap();
    let tools = description["tools"].as_array().unwrap();
    let tool = tools
        .iter()
        .find(|described| described["name"] == tool)
        .unwrap();
    tool["inputSchema"]["properties"]
        .pointer(pointer)
        .unwrap_or_else(|| panic!("no {pointer} in {tool}"))
        .clone()
}
