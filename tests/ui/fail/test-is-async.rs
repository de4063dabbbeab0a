use mcp_servlet::testing::Client;

#[mcp_servlet::test]
async fn greets(client: &Client) {}

fn main() {}
