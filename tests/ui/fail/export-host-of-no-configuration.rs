mcp_servlet::export!(static SERVLET = { hosts: [config.base_url] });

fn main() {}
