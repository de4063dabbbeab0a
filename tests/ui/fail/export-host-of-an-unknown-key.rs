use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
struct Settings {
    base_url: String,
}

mcp_servlet::export!(static SERVLET = { config: Settings, hosts: [config.baes_url] });

fn main() {}
