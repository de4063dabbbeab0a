use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
struct Name { #[schema(pattern = "^[a-z]+$")] name: String }

/// Asks.
#[tool]
fn ask(context: &Context) -> Result<String, ToolError> {
    let name = context.elicit::<Name>("name", "Who?")?.accepted();
    Ok(name.map_or_else(String::new, |form| form.name))
}

mcp_servlet::export!(static SERVLET = { tools: [ask] });
fn main() {}
