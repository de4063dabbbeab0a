use mcp_servlet::prelude::*;

#[resource(uri = "ui://a", ui = { permissions: [camera, usb] })]
fn page() -> &'static str {
    "<!doctype html>"
}

fn main() {}
