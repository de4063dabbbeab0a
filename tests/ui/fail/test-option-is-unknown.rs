use mcp_servlet::testing::Client;

#[mcp_servlet::test(server = crate::SERVLET)]
fn greets(client: &Client) {}

fn main() {}
