use mcp_servlet::prelude::*;

#[resource_template(uri_template = "users://{id}")]
fn user(id: u64, page: u64) -> String {
    (id + page).to_string()
}

fn main() {}
