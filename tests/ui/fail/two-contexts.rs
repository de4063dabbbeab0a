use mcp_servlet::prelude::*;

#[tool]
fn remember(context: &Context, other: &Context) {
    context.set_var("text", &other.var("text").unwrap());
}

mcp_servlet::export!(static SERVLET = { tools: [remember] });
fn main() {}
