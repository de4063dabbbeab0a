use mcp_servlet::prelude::*;

#[derive(Schema)]
union Bits {
    float: f32,
    integer: u32,
}

fn main() {}
