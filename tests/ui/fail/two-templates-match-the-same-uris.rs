use mcp_servlet::prelude::*;

#[resource_template(uri_template = "users://{id}")]
fn by_id(id: u64) -> String { id.to_string() }

#[resource_template(uri_template = "users://{name}")]
fn by_name(name: String) -> String { name }

mcp_servlet::export!(static SERVLET = { resources: [by_id, by_name] });

fn main() {}
