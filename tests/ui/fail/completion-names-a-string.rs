use mcp_servlet::prelude::*;

#[prompt]
fn poem(form: String) -> String {
    form
}

#[completion(of = "poem.form")]
fn forms() -> [&'static str; 1] {
    ["haiku"]
}

fn main() {}
