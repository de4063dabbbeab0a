//! Suggestions: the argument, the function, and the number of values.

use mcp_servlet::prelude::*;
use mcp_servlet::testing::types::{
    CompleteRequestParams, CompletionArgument, CompletionContext, CompletionReference,
};

/// Asks for a poem.
#[prompt]
fn poem(form: String, topic: String, lines: Option<u32>) -> String {
    format!("Write a {form} about {topic} of {lines:?} lines.")
}

#[completion(of = poem.form)]
fn forms() -> [&'static str; 4] {
    ["haiku", "Hymn", "sonnet", "é"]
}

#[completion(of = poem.topic)]
fn topics(topic: String, form: String) -> Vec<String> {
    vec![format!("{topic} in a {form}")]
}

#[completion(of = poem.lines)]
fn lines(lines: u32) -> Vec<String> {
    (0..lines).map(|n| n.to_string()).collect()
}

#[resource_template(uri_template = "notes://{id}")]
fn note(id: String) -> String {
    id
}

mod inner {
    use mcp_servlet::prelude::*;

    #[completion(of = super::note.id)]
    pub(super) fn ids(context: &Context, id: String) -> Result<Completion, ToolError> {
        let ids = context
            .config_value("ids")
            .ok_or_else(|| Fault::internal("no ids"))?;
        let values = ids.split(' ').filter(|known| known.contains(&id));
        Ok(Completion {
            total: Some(7),
            has_more: Some(false),
            ..Completion::new(values.map(str::to_owned).collect())
        })
    }
}

mcp_servlet::export!(static SERVLET = {
    resources: [note],
    prompts: [poem],
    completions: [forms, topics, lines, inner::ids],
});

fn poem_values(argument: &str, typed: &str) -> Vec<String> {
    let completion = SERVLET.client().complete_prompt("poem", argument, typed);
    completion.unwrap().values
}

#[test]
fn suggestions_start_with_the_typed_text() {
    assert_eq!(poem_values("form", ""), ["haiku", "Hymn", "sonnet", "é"]);
    assert_eq!(poem_values("form", "H"), ["haiku", "Hymn"]);
    assert_eq!(poem_values("form", "hy"), ["Hymn"]);
    assert_eq!(poem_values("form", "é"), ["é"]);
    assert_eq!(poem_values("form", "x"), [""; 0]);
}

#[test]
fn a_function_may_look_at_other_arguments() {
    // The other argument is not set yet.
    assert_eq!(poem_values("topic", "rain"), [""; 0]);
    let reference = CompletionReference {
        name: Some("poem".to_owned()),
        ..CompletionReference::new("ref/prompt")
    };
    let others = RawJson::parse(r#"{"form":"haiku","lines":"3","other":"x"}"#).unwrap();
    let params = CompleteRequestParams {
        context: Some(CompletionContext {
            arguments: Some(others),
        }),
        ..CompleteRequestParams::new(reference, CompletionArgument::new("topic", "rain"))
    };
    let completion = SERVLET.client().complete(params).unwrap();
    assert_eq!(completion.values, ["rain in a haiku"]);
}

#[test]
fn argument_that_does_not_parse_has_no_suggestions() {
    assert_eq!(poem_values("lines", "three"), [""; 0]);
    assert_eq!(poem_values("lines", "2"), ["0", "1"]);
}

#[test]
fn clients_get_a_hundred_values_and_learn_that_there_are_more() {
    let completion = SERVLET
        .client()
        .complete_prompt("poem", "lines", "250")
        .unwrap();
    assert_eq!(completion.values.len(), 100);
    assert_eq!(
        (completion.total, completion.has_more),
        (Some(250), Some(true))
    );
}

#[test]
fn variables_of_templates_have_suggestions_too() {
    let client = SERVLET.client().with_config("ids", "cat dog");
    let reference = CompletionReference {
        uri: Some("notes://{id}".to_owned()),
        ..CompletionReference::new("ref/resource")
    };
    let params = CompleteRequestParams::new(reference, CompletionArgument::new("id", "o"));
    let completion = client.complete(params).unwrap();
    assert_eq!(completion.values, ["dog"]);
    assert_eq!(
        (completion.total, completion.has_more),
        (Some(7), Some(false))
    );
    let fault = SERVLET.client().complete_resource("notes://{id}", "id", "");
    assert_eq!(fault.unwrap_err().message(), "no ids");
}

#[test]
fn arguments_without_a_completion_have_no_suggestions() {
    for (prompt, argument) in [("poem", "other"), ("poetry", "form")] {
        let completion = SERVLET.client().complete_prompt(prompt, argument, "");
        assert_eq!(completion.unwrap(), Completion::default());
    }
}
