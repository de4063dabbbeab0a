use mcp_servlet::prelude::*;

#[resource_template(uri_template = "users://{id}")]
fn user<T>(id: T) -> String {
    String::new()
}

fn main() {}
