//! The second servlet of the README, and its test.

use mcp_servlet::prelude::*;
use serde_json::json;

/// Looks a word up.
#[tool(read_only)]
fn define(
    context: &Context,
    /// the word
    word: String,
    /// how many meanings at most
    #[arg(default = 3, min = 1, max = 10)]
    limit: u8,
) -> Result<String, ToolError> {
    let language = context
        .config_value("language")
        .unwrap_or_else(|| "en".to_owned());
    context.log(Level::Info, &format!("{word} in {language}"));
    if word.is_empty() {
        return Err(ToolError::new("there is no word to look up"));
    }
    Ok(format!("{limit} meanings of {word}, in {language}"))
}

mcp_servlet::export!(static SERVLET = {
    instructions: "Look words up before you guess.",
    tools: [define],
});

#[test]
fn looks_words_up() {
    let client = SERVLET.client().with_config("language", "fr");
    let result = client.call("define", json!({ "word": "chat" })).unwrap();
    assert_eq!(result.text(), "3 meanings of chat, in fr");

    let result = SERVLET.call("define", json!({ "word": "" })).unwrap();
    assert_eq!(result.is_error, Some(true));
}
