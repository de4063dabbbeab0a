use mcp_servlet::prelude::*;

#[resource_template(uri_template = "users://{id}")]
fn user(id: u64) -> String {
    id.to_string()
}

mcp_servlet::export!(static SERVLET = { resource_templates: [user] });

fn main() {}
