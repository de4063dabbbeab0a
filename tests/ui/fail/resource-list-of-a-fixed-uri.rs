use mcp_servlet::prelude::*;

#[resource(uri = "users://all", list = list_users)]
fn users() -> String {
    String::new()
}

fn main() {}
