use mcp_servlet::prelude::*;

struct Greeter;

impl Greeter {
    #[tool]
    fn greet(&self, name: String) -> String {
        name
    }
}

fn main() {}
