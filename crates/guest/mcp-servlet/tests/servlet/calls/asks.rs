//! Requests for input from the client, answered by calling again.

use std::cell::Cell;

use mcp_servlet::ask::{Elicited, elicit, roots, sample};
use mcp_servlet::prelude::*;
use mcp_servlet::testing::Client;
use serde_json::{Value, json};

#[derive(Deserialize, Schema)]
#[serde(rename_all = "lowercase")]
#[allow(dead_code, reason = "a form shows it")]
enum Bed {
    Single,
    /// for two
    Double,
}

/// A stay.
#[derive(Deserialize, Schema)]
#[allow(dead_code, reason = "a form shows it")]
struct Stay {
    /// the first night
    from: String,
    nights: u8,
    price: Option<f64>,
    #[serde(default)]
    breakfast: bool,
    bed: Bed,
    extras: Option<Vec<Bed>>,
    #[serde(default)]
    #[schema(json = r#"{"type":"string","format":"email","default":"a@b.c"}"#)]
    mail: Option<String>,
    floor: Option<char>,
    #[serde(skip_deserializing)]
    hidden: Vec<Name>,
}

#[derive(Default, Deserialize, Schema)]
struct Name {
    name: String,
}

#[tool]
fn book(context: &Context) -> Result<String, ToolError> {
    Ok(match context.elicit::<Stay>("stay", "When?")? {
        Elicited::Accepted(stay) => format!("{} nights from {}", stay.nights, stay.from),
        Elicited::Declined => "declined".to_owned(),
        Elicited::Cancelled => "cancelled".to_owned(),
    })
}

thread_local! {
    static RUNS: Cell<u32> = const { Cell::new(0) };
}

#[tool]
fn steps(context: &Context) -> Result<String, ToolError> {
    let first = context.elicit::<Name>("first", "One?")?.accepted();
    let order = context.once("order", || {
        RUNS.set(RUNS.get() + 1);
        RUNS.get()
    })?;
    let second = context.elicit::<Name>("second", "Two?")?.accepted();
    let names = [first, second].map(|name| name.map_or_else(String::new, |name| name.name));
    Ok(format!("{} and {}, order {order}", names[0], names[1]))
}

#[tool]
fn all(context: &Context) -> Result<String, ToolError> {
    let requests = (
        elicit::<Name>("name", "Who?"),
        sample("poem", "A poem.")
            .with_max_tokens(100)
            .with_system_prompt("Rhyme."),
        roots("places"),
    );
    let (name, poem, places) = context.ask(requests)?;
    let name = name.accepted().map_or_else(String::new, |name| name.name);
    Ok(format!("{name}: {} ({})", poem.text(), places[0].uri))
}

#[tool]
fn capital(context: &Context) -> Result<String, ToolError> {
    Ok(context
        .sample("capital", "What is the capital of France?")?
        .text())
}

#[tool]
fn places(context: &Context) -> Result<String, ToolError> {
    let roots = context.roots()?;
    Ok(roots
        .into_iter()
        .map(|root| root.uri)
        .collect::<Vec<_>>()
        .join(" "))
}

#[tool]
fn clear(context: &Context) -> Result<String, ToolError> {
    let is_sure = context.confirm("Delete all notes?")?;
    Ok(if is_sure { "deleted" } else { "kept" }.to_owned())
}

mcp_servlet::export!(static SERVLET = { tools: [book, steps, all, capital, places, clear] });

fn say(client: &Client, tool: &str) -> String {
    let result = client.call(tool, json!({})).unwrap();
    result.text()
}

/// One round, with the JSON of request and response.
fn raw(tool: &str, params: &Value) -> Value {
    let mut params = params.clone();
    params["name"] = tool.into();
    let request = json!({ "params": params }).to_string();
    let answer = SERVLET.client().request("call", request);
    serde_json::from_str(&answer.unwrap()).unwrap()
}

fn able() -> Value {
    let capabilities = json!({ "elicitation": {}, "sampling": {}, "roots": {} });
    json!({ "_meta": { "io.modelcontextprotocol/clientCapabilities": capabilities } })
}

#[test]
fn a_form_has_the_fields_of_the_struct() {
    let answer = raw("book", &able());
    assert_eq!(
        answer,
        json!({
            "resultType": "input_required",
            "inputRequests": {
                "stay": {
                    "method": "elicitation/create",
                    "params": {
                        "mode": "form",
                        "message": "When?",
                        "requestedSchema": {
                            "type": "object",
                            "properties": {
                                "from": { "type": "string", "description": "the first night" },
                                "nights": { "type": "integer", "minimum": 0, "maximum": 255 },
                                "price": { "type": "number" },
                                "breakfast": { "type": "boolean", "default": false },
                                "bed": {
                                    "type": "string",
                                    "enum": ["single", "double"],
                                    "description": "- `double`: for two",
                                },
                                "extras": {
                                    "type": "array",
                                    "items": { "type": "string", "enum": ["single", "double"] },
                                },
                                "mail": { "type": "string", "format": "email", "default": "a@b.c" },
                                "floor": { "type": "string", "minLength": 1, "maxLength": 1 },
                            },
                            "required": ["from", "nights", "bed"],
                        },
                    },
                },
            },
        })
    );
}

#[test]
fn a_form_is_filled_in_declined_or_cancelled() {
    let stay = json!({ "from": "May", "nights": 2, "bed": "single" });
    let client = SERVLET.client().with_form("stay", stay);
    assert_eq!(say(&client, "book"), "2 nights from May");
    assert_eq!(book(client.context()).unwrap(), "2 nights from May");
    assert_eq!(client.input_requests()[0].0, "stay");
    let client = SERVLET.client().with_declined_form("stay");
    assert_eq!(say(&client, "book"), "declined");
    let client = SERVLET.client().with_cancelled_form("stay");
    assert_eq!(say(&client, "book"), "cancelled");
}

#[test]
fn a_question_is_a_form_without_fields() {
    let answer = raw("clear", &able());
    let asked = &answer["inputRequests"]["Delete all notes?"];
    let form = json!({
        "mode": "form",
        "message": "Delete all notes?",
        "requestedSchema": { "type": "object", "properties": {} },
    });
    assert_eq!(
        *asked,
        json!({ "method": "elicitation/create", "params": form })
    );
    for (action, outcome) in [
        (json!({ "action": "accept" }), "deleted"),
        (json!({ "action": "accept", "content": {} }), "deleted"),
        (
            json!({ "action": "accept", "content": { "extra": 1 } }),
            "deleted",
        ),
        (json!({ "action": "decline" }), "kept"),
        (json!({ "action": "cancel" }), "kept"),
    ] {
        let mut params = able();
        params["inputResponses"] = json!({ "Delete all notes?": action });
        assert_eq!(raw("clear", &params)["content"][0]["text"], outcome);
    }
    for (is_confirmed, outcome) in [(true, "deleted"), (false, "kept")] {
        let client = SERVLET
            .client()
            .with_confirmation("Delete all notes?", is_confirmed);
        assert_eq!(say(&client, "clear"), outcome);
    }
}

#[test]
fn once_runs_in_the_first_round_only() {
    let client = SERVLET
        .client()
        .with_form("first", json!({ "name": "Ada" }))
        .with_form("second", json!({ "name": "Bob" }));
    assert_eq!(say(&client, "steps"), "Ada and Bob, order 1");
    assert_eq!(say(&client, "steps"), "Ada and Bob, order 2");
}

#[test]
fn responses_of_earlier_rounds_are_in_the_state() {
    let accept = |name: &str| json!({ "action": "accept", "content": { "name": name } });
    let mut params = able();
    params["inputResponses"] = json!({ "first": accept("Ada"), "stray": 1 });
    let answer = raw("steps", &params);
    assert!(answer["inputRequests"].get("second").is_some(), "{answer}");
    params["requestState"] = answer["requestState"].clone();
    params["inputResponses"] = json!({ "second": accept("Bob") });
    let answer = raw("steps", &params);
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("Ada and Bob, order "), "{answer}");
}

#[test]
fn invalid_response_is_requested_again() {
    for wrong in [
        json!(null),
        json!(7),
        json!({}),
        json!({ "action": "dance" }),
        json!({ "action": "accept", "content": { "from": 1 } }),
        json!({ "action": "accept" }),
    ] {
        let mut params = able();
        params["inputResponses"] = json!({ "stay": wrong });
        let answer = raw("book", &params);
        assert_eq!(answer["resultType"], "input_required", "{wrong}");
    }
    let client = SERVLET.client().with_form("stay", json!({}));
    let fault = client.call("book", json!({})).unwrap_err();
    assert!(
        fault.message().contains("requests the input `stay` again"),
        "{fault}"
    );
}

#[test]
fn several_requests_are_sent_at_once() {
    let client = SERVLET
        .client()
        .with_form("name", json!({ "name": "Ada" }))
        .with_sample("poem", "roses")
        .with_roots("places", ["file:///a"]);
    assert_eq!(say(&client, "all"), "Ada: roses (file:///a)");
    let asked: Vec<_> = client
        .input_requests()
        .into_iter()
        .map(|(key, _)| key)
        .collect();
    assert_eq!(asked, ["name", "poem", "places"]);
    let poem: Value = serde_json::from_str(client.input_requests()[1].1.get()).unwrap();
    assert_eq!(
        poem,
        json!({
            "method": "sampling/createMessage",
            "params": {
                "messages": [{ "role": "user", "content": { "type": "text", "text": "A poem." } }],
                "maxTokens": 100,
                "systemPrompt": "Rhyme.",
            },
        })
    );
    assert_eq!(
        client.input_requests()[2].1.get(),
        r#"{"method":"roots/list"}"#
    );
}

#[test]
fn single_request_needs_no_tuple() {
    let client = SERVLET.client().with_sample("capital", "Paris");
    assert_eq!(say(&client, "capital"), "Paris");
    let client = SERVLET
        .client()
        .with_roots("roots", ["file:///a", "file:///b"]);
    assert_eq!(say(&client, "places"), "file:///a file:///b");
}

#[test]
fn client_gets_no_request_that_it_does_not_support() {
    for (tool, capability) in [
        ("book", "elicitation"),
        ("capital", "sampling"),
        ("places", "roots"),
    ] {
        let client = SERVLET.client().with_capabilities(&["other"]);
        let fault = client.call(tool, json!({})).unwrap_err();
        assert_eq!(fault.code(), -32021);
        let data: Value = serde_json::from_str(fault.data().unwrap().get()).unwrap();
        assert_eq!(data, json!({ "requiredCapabilities": { capability: {} } }));
        assert_eq!(
            fault.message(),
            format!("this tool needs a client with the capability `{capability}`")
        );
    }
    let mut params = able();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({ "elicitation": { "url": {} } });
    params["name"] = "book".into();
    let request = json!({ "params": params }).to_string();
    let fault = SERVLET.client().request("call", request).unwrap_err();
    assert_eq!(fault.code(), -32021);
}

#[test]
fn a_host_without_input_requests_is_an_error_for_the_model() {
    let client = SERVLET.client().without_capabilities();
    let result = client.call("book", json!({})).unwrap();
    assert_eq!(result.is_error, Some(true));
    assert_eq!(
        result.text(),
        "this tool requests input from the client, which its host does not support"
    );
}

#[test]
fn missing_response_fails_the_test() {
    let fault = SERVLET.call("book", json!({})).unwrap_err();
    assert!(
        fault.message().contains("the test has no response"),
        "{fault}"
    );
}

#[test]
fn invalid_state_is_a_fault() {
    for state in [json!("{"), json!("[]"), json!(7), json!("")] {
        let mut params = able();
        params["requestState"] = state;
        params["name"] = "steps".into();
        let request = json!({ "params": params }).to_string();
        let fault = SERVLET.client().request("call", request).unwrap_err();
        assert_eq!(fault.code(), Fault::INVALID_PARAMS);
    }
}
