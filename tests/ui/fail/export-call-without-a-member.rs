mcp_servlet::export!(static SERVLET = { calls: ["get_weather"] });

fn main() {}
