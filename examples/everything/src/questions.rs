//! Requests to the client during a call.

use mcp_servlet::ask::{Elicited, sample};
use mcp_servlet::prelude::*;

use crate::ASKS;

/// Who is using the client.
#[derive(Deserialize, Serialize, Schema)]
struct User {
    /// the name to sign with
    username: String,
    /// where to write to
    email: String,
}

/// Defaults for all of it.
#[derive(Deserialize, Serialize, Schema)]
struct Defaults {
    #[schema(json = r#"{"type":"string","description":"the name","default":"John Doe"}"#)]
    name: String,
    #[schema(json = r#"{"type":"integer","description":"in years","default":30}"#)]
    age: i64,
    #[schema(json = r#"{"type":"number","description":"out of 100","default":95.5}"#)]
    score: f64,
    #[schema(
        json = r#"{"type":"string","enum":["active","inactive","pending"],"default":"active"}"#
    )]
    status: String,
    #[schema(json = r#"{"type":"boolean","description":"who it is, is known","default":true}"#)]
    verified: bool,
}

/// Choices in each form that MCP has for them.
#[derive(Deserialize, Serialize, Schema)]
#[serde(rename_all = "camelCase")]
struct Choices {
    #[schema(json = r#"{"type":"string","enum":["option1","option2","option3"]}"#)]
    untitled_single: Option<String>,
    #[schema(
        json = r#"{"type":"string","oneOf":[{"const":"value1","title":"First"},
        {"const":"value2","title":"Second"},{"const":"value3","title":"Third"}]}"#
    )]
    titled_single: Option<String>,
    #[schema(json = r#"{"type":"string","enum":["opt1","opt2","opt3"],
        "enumNames":["Option One","Option Two","Option Three"]}"#)]
    legacy_enum: Option<String>,
    #[schema(
        json = r#"{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}}"#
    )]
    untitled_multi: Option<Vec<String>>,
    #[schema(
        json = r#"{"type":"array","items":{"anyOf":[{"const":"value1","title":"First"},
        {"const":"value2","title":"Second"},{"const":"value3","title":"Third"}]}}"#
    )]
    titled_multi: Option<Vec<String>>,
}

/// Lets the client's model answer.
#[tool(read_only, meta = [ASKS])]
pub(crate) fn test_sampling(
    context: &Context,
    /// the prompt for the model
    prompt: String,
) -> Result<String, ToolError> {
    let sampled = context.ask(sample("sampling", prompt).with_max_tokens(100))?;
    Ok(format!("The model says: {}", sampled.text()))
}

/// Asks who is there.
#[tool(read_only, meta = [ASKS])]
pub(crate) fn test_elicitation(
    context: &Context,
    /// what to ask
    message: String,
) -> Result<String, ToolError> {
    describe(context.elicit::<User>("user", &message)?)
}

/// Asks with a default for each kind of entry.
#[tool(read_only, meta = [ASKS])]
pub(crate) fn test_elicitation_sep1034_defaults(context: &Context) -> Result<String, ToolError> {
    describe(context.elicit::<Defaults>("defaults", "Change what is wrong.")?)
}

/// Asks with each kind of choice.
#[tool(read_only, meta = [ASKS])]
pub(crate) fn test_elicitation_sep1330_enums(context: &Context) -> Result<String, ToolError> {
    describe(context.elicit::<Choices>("choices", "Choose.")?)
}

/// Needs a client that can sample, whatever it is called with.
#[tool(read_only, meta = [ASKS])]
pub(crate) fn test_missing_capability(context: &Context) -> Result<String, ToolError> {
    Ok(context.sample("anything", "Say anything.")?.text())
}

/// Asks in the middle of its answer.
#[tool(read_only, meta = [ASKS])]
pub(crate) fn test_streaming_elicitation(context: &Context) -> Result<String, ToolError> {
    describe(context.elicit::<User>("user", "Who are you?")?)
}

fn describe<T: Serialize>(elicited: Elicited<T>) -> Result<String, ToolError> {
    Ok(match elicited {
        Elicited::Accepted(value) => format!("accepted: {}", serde_json::to_string(&value)?),
        Elicited::Declined => "declined".to_owned(),
        Elicited::Cancelled => "cancelled".to_owned(),
    })
}
