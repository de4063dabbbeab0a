//! The greeting, from a tool of another server.

use mcp_servlet::prelude::*;

#[derive(Serialize)]
struct Guest {
    name: String,
}

#[derive(Deserialize)]
struct Greeting {
    text: String,
}

/// A very simple tool to provide a greeting.
#[tool]
fn greet(
    context: &Context,
    /// the name of the person to greet
    name: String,
) -> Result<String, ToolsError> {
    let greeting: Greeting = context.tools().call("hotel:greet", Guest { name })?;
    Ok(greeting.text)
}

use mcp_servlet::ToolsError;

mcp_servlet::export!(static SERVLET = { tools: [greet] });
