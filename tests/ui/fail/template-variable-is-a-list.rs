use mcp_servlet::prelude::*;

#[resource_template(uri_template = "users://{ids}")]
fn users(ids: Vec<u64>) -> String {
    ids.len().to_string()
}

mcp_servlet::export!(static SERVLET = { resources: [users] });

fn main() {}
