use mcp_servlet::testing::Client;

#[mcp_servlet::test]
fn greets(client: Client) {}

fn main() {}
