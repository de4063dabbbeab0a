use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
struct Tree {
    children: Vec<Tree>,
}

fn main() {}
