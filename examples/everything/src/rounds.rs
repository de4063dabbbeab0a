//! Tools with several rounds: they return requests for input, and are called again with the responses.

use mcp_servlet::ask::{Elicit, elicit, roots, sample};
use mcp_servlet::prelude::*;

use crate::ASKS;

/// How someone is called.
#[derive(Deserialize, Schema)]
struct Name {
    /// the name to greet
    name: String,
}

/// Yes or no.
#[derive(Deserialize, Schema)]
struct Confirmation {
    /// whether to go on
    ok: bool,
}

/// A color.
#[derive(Deserialize, Schema)]
struct Color {
    /// in words
    color: String,
}

fn name() -> Elicit<Name> {
    elicit("user_name", "What is your name?")
}

/// Asks for a name.
#[tool(read_only, meta = [ASKS])]
pub(crate) fn test_input_required_result_elicitation(
    context: &Context,
) -> Result<String, ToolError> {
    let name = context
        .ask(name())?
        .accepted()
        .map_or_else(|| "stranger".to_owned(), |name| name.name);
    Ok(format!("Hello, {name}!"))
}

/// Asks the client's model.
#[tool(read_only, meta = [ASKS])]
pub(crate) fn test_input_required_result_sampling(context: &Context) -> Result<String, ToolError> {
    let question = sample("capital_question", "What is the capital of France?");
    let answer = context.ask(question.with_max_tokens(100))?;
    Ok(format!("The model says: {}", answer.text()))
}

/// Asks where the client works.
#[tool(read_only, meta = [ASKS])]
pub(crate) fn test_input_required_result_list_roots(
    context: &Context,
) -> Result<String, ToolError> {
    let roots = context.ask(roots("client_roots"))?;
    let uris: Vec<_> = roots.into_iter().map(|root| root.uri).collect();
    Ok(format!("The roots are: {}", uris.join(", ")))
}

/// Keeps something from one round to the next.
#[tool(read_only, meta = [ASKS])]
pub(crate) fn test_input_required_result_request_state(
    context: &Context,
) -> Result<String, ToolError> {
    confirm(context)
}

/// Refuses state that is not its own, as every tool does.
#[tool(read_only, meta = [ASKS])]
pub(crate) fn test_input_required_result_tampered_state(
    context: &Context,
) -> Result<String, ToolError> {
    confirm(context)
}

fn confirm(context: &Context) -> Result<String, ToolError> {
    let state = context.once("state", || "state-ok".to_owned())?;
    let confirmed = context.elicit::<Confirmation>("confirm", "Go on?")?;
    let ok = confirmed.accepted().is_some_and(|confirmed| confirmed.ok);
    Ok(format!("{state}, confirmed: {ok}"))
}

/// Asks three things at once.
#[tool(read_only, meta = [ASKS])]
pub(crate) fn test_input_required_result_multiple_inputs(
    context: &Context,
) -> Result<String, ToolError> {
    context.once("begun", || true)?;
    let greeting = sample("greeting", "Write a greeting.").with_max_tokens(50);
    let (name, greeting, roots) = context.ask((name(), greeting, roots("client_roots")))?;
    let name = name.accepted().map_or_else(String::new, |name| name.name);
    let count = roots.len();
    Ok(format!("{name}: {}, {count} roots", greeting.text()))
}

/// Asks one thing after the other.
#[tool(read_only, meta = [ASKS])]
pub(crate) fn test_input_required_result_multi_round(
    context: &Context,
) -> Result<String, ToolError> {
    context.once("begun", || true)?;
    let name = context.elicit::<Name>("step1", "Step 1: what is your name?")?;
    let color = context.elicit::<Color>("step2", "Step 2: what is your favorite color?")?;
    let name = name.accepted().map_or_else(String::new, |name| name.name);
    let color = color
        .accepted()
        .map_or_else(String::new, |color| color.color);
    Ok(format!("{name} likes {color}"))
}

/// Asks only what the client can answer.
#[tool(read_only, meta = [ASKS])]
pub(crate) fn test_input_required_result_capabilities(
    context: &Context,
) -> Result<String, ToolError> {
    let has = |name| context.capabilities().is_some_and(|can| can.has(name));
    let mut answers = Vec::new();
    if has("sampling") {
        let question = sample("capital_question", "What is the capital of France?");
        answers.push(context.ask(question.with_max_tokens(100))?.text());
    }
    if has("elicitation") {
        let name = context.ask(name())?.accepted();
        answers.push(name.map_or_else(String::new, |name| name.name));
    }
    Ok(format!("answers: {}", answers.join(", ")))
}
