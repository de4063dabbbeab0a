use mcp_servlet::prelude::*;

#[resource_template(uri_template = "users://{first}-{last}")]
fn user(first: String, last: String) -> String {
    first + &last
}

fn main() {}
