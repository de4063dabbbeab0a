mcp_servlet::export!(static SERVLET = { version: "1.0.0", instruction: "Be polite." });

fn main() {}
