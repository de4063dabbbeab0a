use mcp_servlet::prelude::*;

#[derive(FromText)]
#[text(examples = "1066")]
struct Year(u16);

fn main() {}
