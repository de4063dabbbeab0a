use mcp_servlet::schema::{Node, Schema};

struct Color;

impl Schema for Color {
    const NODE: &'static Node = &Node::string().with_example("red");
}

fn main() {}
