#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[tool]
fn remember(context: Context, text: String) {
    context.set_var("text", text.as_bytes());
}

mcp_servlet::export!(static SERVLET = { tools: [remember] });
fn main() {}
