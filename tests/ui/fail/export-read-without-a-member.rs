mcp_servlet::export!(static SERVLET = { reads: [":file:///a.md"] });

fn main() {}
