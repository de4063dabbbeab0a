mcp_servlet::export!(static SERVLET = { calls: ["weather:"] });

fn main() {}
