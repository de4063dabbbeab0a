//! Prompts: plain, with arguments, with other content than text, and with an elicitation request.

use mcp_servlet::prelude::*;

use crate::content::SQUARE;

/// Says one thing.
#[prompt]
pub(crate) fn test_simple_prompt() -> &'static str {
    "This is a simple prompt."
}

/// Repeats its arguments.
#[prompt]
pub(crate) fn test_prompt_with_arguments(
    /// what to say first
    arg1: String,
    /// what to say then
    arg2: Option<String>,
) -> String {
    let arg2 = arg2.as_deref().unwrap_or("nothing");
    format!("The first is {arg1}, the second is {arg2}.")
}

/// Says something about a resource, and shows it.
#[prompt]
pub(crate) fn test_prompt_with_embedded_resource(
    /// the URI to show
    #[arg(rename = "resourceUri")]
    resource_uri: String,
) -> Vec<PromptMessage> {
    let resource = Content::text_resource(resource_uri, "This text is embedded.");
    vec![
        PromptMessage::user(resource.with_mime_type("text/plain")),
        PromptMessage::user("What does the resource say?"),
    ]
}

/// Says something about an image, and shows it.
#[prompt]
pub(crate) fn test_prompt_with_image() -> Vec<PromptMessage> {
    vec![
        PromptMessage::user(Content::image(SQUARE, "image/png")),
        PromptMessage::user("What does the image show?"),
    ]
}

/// What a person knows of their situation.
#[derive(Deserialize, Schema)]
struct Situation {
    /// in a few words
    context: String,
}

/// Asks for the situation before it says anything.
#[prompt]
pub(crate) fn test_input_required_result_prompt(context: &Context) -> Result<String, ToolError> {
    let answer = context.elicit::<Situation>("user_context", "What is the situation?")?;
    let situation = answer.accepted().map(|situation| situation.context);
    let situation = situation.as_deref().unwrap_or("unknown");
    Ok(format!("The situation is: {situation}."))
}

/// Words that the first argument may be.
#[completion(of = test_prompt_with_arguments.arg1)]
pub(crate) fn words() -> [&'static str; 4] {
    ["paper", "party", "test", "testimony"]
}
