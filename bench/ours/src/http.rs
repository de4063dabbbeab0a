//! The greeting, with an HTTP request.

use mcp_servlet::prelude::*;

/// A very simple tool to provide a greeting.
#[tool]
fn greet(
    context: &Context,
    /// the name of the person to greet
    name: String,
) -> Result<String, HttpError> {
    let response = context.http(&HttpRequest::post("https://example.com/greet", name))?;
    Ok(response.text()?.to_owned())
}

use mcp_servlet::{HttpError, HttpRequest};

mcp_servlet::export!(static SERVLET = { tools: [greet] });
