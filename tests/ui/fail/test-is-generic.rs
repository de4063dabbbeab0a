use mcp_servlet::testing::Client;

#[mcp_servlet::test]
fn greets<T>(client: &Client) {}

fn main() {}
