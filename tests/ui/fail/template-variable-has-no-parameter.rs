use mcp_servlet::prelude::*;

#[resource_template(uri_template = "users://{id}/{page}")]
fn user(id: u64) -> String {
    id.to_string()
}

fn main() {}
