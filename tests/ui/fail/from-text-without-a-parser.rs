use mcp_servlet::prelude::*;

struct Zone;

#[derive(FromText)]
struct Place(Zone);

fn main() {}
