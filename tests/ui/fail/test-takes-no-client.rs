#[mcp_servlet::test]
fn greets() {}

fn main() {}
