use mcp_servlet::prelude::*;

#[resource_template(uri_template = "users://{id}", list = list_users)]
fn user(id: u64) -> String {
    id.to_string()
}

fn list_users() -> Vec<mcp_servlet::Resource> {
    Vec::new()
}

mcp_servlet::export!(static SERVLET = { resources: [user] });

fn main() {}
