mcp_servlet::export!(static SERVLET = {
    name: "first",
    tools: [],
    name: "second",
});

fn main() {}
