mcp_servlet::export!(static SERVLET = { paths: [""] });

fn main() {}
