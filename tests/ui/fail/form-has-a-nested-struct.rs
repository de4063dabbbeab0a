#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
struct Place { city: String }

#[derive(Deserialize, Schema)]
struct Trip { days: u8, to: Place }

#[tool]
fn book(context: &Context) -> Result<(), ToolError> {
    context.elicit::<Trip>("trip", "Where to?").map(|_| ())
}
mcp_servlet::export!(static SERVLET = { tools: [book] });
fn main() {}
