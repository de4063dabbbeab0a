//! Elicitation, sampling and roots requests, and the results that follow from the answers, for both protocol eras.

use serde_json::{Value, json};
use wire::Process;

use super::{able, clients, path};
use crate::pipe::{accept, call, legacy, modern, text};

/// The keys of the requests in each round.
type Rounds = &'static [&'static [&'static str]];

const USER: &str = r#"accepted: {"username":"Ada","email":"ada@example.com"}"#;
const DEFAULTS: &str =
    r#"accepted: {"name":"Ada","age":30,"score":95.5,"status":"active","verified":true}"#;
const CHOICES: &str = "accepted: {\"untitledSingle\":\"option1\",\"titledSingle\":\"value1\",\
    \"legacyEnum\":\"opt1\",\"untitledMulti\":[\"option1\"],\"titledMulti\":[\"value1\"]}";
const PARIS: &str = "The model says: Paris";
const CONFIRMED: &str = "state-ok, confirmed: true";

/// Tools that ask the client, and the text of their results for the [answers](answer).
const TOOLS: [(&str, Rounds, &str); 14] = [
    ("test_sampling", &[&["sampling"]], PARIS),
    ("test_elicitation", &[&["user"]], USER),
    (
        "test_elicitation_sep1034_defaults",
        &[&["defaults"]],
        DEFAULTS,
    ),
    ("test_elicitation_sep1330_enums", &[&["choices"]], CHOICES),
    ("test_missing_capability", &[&["anything"]], "Paris"),
    ("test_streaming_elicitation", &[&["user"]], USER),
    (
        "test_input_required_result_elicitation",
        &[&["user_name"]],
        "Hello, Ada!",
    ),
    (
        "test_input_required_result_sampling",
        &[&["capital_question"]],
        PARIS,
    ),
    (
        "test_input_required_result_list_roots",
        &[&["client_roots"]],
        "The roots are: file:///work",
    ),
    (
        "test_input_required_result_request_state",
        &[&["confirm"]],
        CONFIRMED,
    ),
    (
        "test_input_required_result_tampered_state",
        &[&["confirm"]],
        CONFIRMED,
    ),
    (
        "test_input_required_result_multiple_inputs",
        &[&["user_name", "greeting", "client_roots"]],
        "Ada: Paris, 1 roots",
    ),
    (
        "test_input_required_result_multi_round",
        &[&["step1"], &["step2"]],
        "Ada likes blue",
    ),
    (
        "test_input_required_result_capabilities",
        &[&["capital_question"], &["user_name"]],
        "answers: Paris, Ada",
    ),
];

/// A request of the client that leads to requests of the server.
struct Asking {
    method: &'static str,
    params: Value,
    rounds: Rounds,
    text: &'static str,
}

fn asking() -> Vec<Asking> {
    let call = |(name, rounds, text)| Asking {
        method: "tools/call",
        params: json!({ "name": name, "arguments": arguments(name) }),
        rounds,
        text,
    };
    let prompt = Asking {
        method: "prompts/get",
        params: json!({ "name": "test_input_required_result_prompt" }),
        rounds: &[&["user_context"]],
        text: "The situation is: somewhere.",
    };
    TOOLS.into_iter().map(call).chain([prompt]).collect()
}

/// The arguments of a tool.
fn arguments(tool: &str) -> Value {
    match tool {
        "test_sampling" => json!({ "prompt": "What?" }),
        "test_elicitation" => json!({ "message": "Who?" }),
        _ => json!({}),
    }
}

/// The answer of the client.
fn answer(question: &Value) -> Value {
    match question["method"].as_str() {
        Some("elicitation/create") => accept(&filled(&question["params"]["requestedSchema"])),
        Some("sampling/createMessage") => json!({
            "role": "assistant", "model": "m", "content": { "type": "text", "text": "Paris" },
        }),
        Some("roots/list") => json!({ "roots": [{ "uri": "file:///work", "name": "work" }] }),
        _ => panic!("{question}"),
    }
}

/// A filled-in form: an unknown field gets its default, or its first choice.
fn filled(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().expect("properties");
    let fill = |(name, schema): (&String, &Value)| {
        let value = match name.as_str() {
            "name" | "username" => json!("Ada"),
            "email" => json!("ada@example.com"),
            "ok" => json!(true),
            "color" => json!("blue"),
            "context" => json!("somewhere"),
            _ if schema["type"] == "array" => json!([choice(&schema["items"])]),
            _ => schema
                .get("default")
                .unwrap_or_else(|| choice(schema))
                .clone(),
        };
        (name.clone(), value)
    };
    Value::Object(properties.iter().map(fill).collect())
}

fn choice(schema: &Value) -> &Value {
    let places = ["/enum/0", "/oneOf/0/const", "/anyOf/0/const"];
    let found = places.iter().find_map(|place| schema.pointer(place));
    found.unwrap_or_else(|| panic!("no choice in {schema}"))
}

/// The text of a result of a tool, or of a prompt.
fn error_text(result: &Value) -> &str {
    let message = result["messages"][0]["content"]["text"].as_str();
    message.unwrap_or_else(|| text(result))
}

#[test]
fn sessions_are_asked_while_their_request_is_open() {
    let pipe = legacy(&path(), able(), &[]);
    for asking in asking() {
        let name = asking.params["name"].clone();
        let (questions, response) = pipe.converse(asking.method, asking.params, answer);
        let keys = asking.rounds.concat();
        assert_eq!(questions.len(), keys.len(), "{name}: {questions:?}");
        assert_eq!(
            error_text(&response["result"]),
            asking.text,
            "{name}: {response}"
        );
    }
}

#[test]
fn stateless_requests_are_sent_again_with_the_responses() {
    let pipe = modern(&path(), able());
    for mut asking in asking() {
        let name = asking.params["name"].clone();
        let mut states = Vec::new();
        for keys in asking.rounds {
            let response = pipe.ask(asking.method, asking.params.clone());
            let result = &response["result"];
            assert_eq!(result["resultType"], "input_required", "{name}: {response}");
            let questions = result["inputRequests"].as_object().expect("questions");
            assert_eq!(questions.keys().collect::<Vec<_>>(), *keys, "{name}");
            let answers = questions
                .iter()
                .map(|(key, asked)| (key.clone(), answer(asked)));
            asking.params["inputResponses"] = Value::Object(answers.collect());
            if let Some(state) = result.get("requestState") {
                assert!(!states.contains(state), "{name}");
                states.push(state.clone());
                asking.params["requestState"] = state.clone();
            }
        }
        let response = pipe.ask(asking.method, asking.params);
        let result = &response["result"];
        assert_eq!(result["resultType"], "complete", "{name}: {response}");
        assert_eq!(error_text(result), asking.text, "{name}");
    }
}

/// The parameters of a tool's only request to the client, in a session.
fn question(pipe: &Process, tool: &str) -> Value {
    let params = json!({ "name": tool, "arguments": arguments(tool) });
    let (questions, _) = pipe.converse("tools/call", params, answer);
    let [question] = &questions[..] else {
        panic!("one question, not {questions:?}");
    };
    question["params"].clone()
}

#[test]
fn questions_are_worded_as_the_tool_has_them() {
    let pipe = legacy(&path(), able(), &[]);
    let sampling = question(&pipe, "test_sampling");
    assert_eq!(sampling["maxTokens"], 100);
    assert_eq!(sampling["messages"][0]["content"]["text"], "What?");
    let form = question(&pipe, "test_elicitation");
    assert_eq!(form["message"], "Who?");
    let schema = &form["requestedSchema"];
    assert_eq!(schema["required"], json!(["username", "email"]));
}

#[test]
fn forms_have_defaults_and_every_kind_of_choice() {
    let pipe = legacy(&path(), able(), &[]);
    let form = question(&pipe, "test_elicitation_sep1034_defaults");
    let fields = &form["requestedSchema"]["properties"];
    for (name, kind, default) in [
        ("name", "string", json!("John Doe")),
        ("age", "integer", json!(30)),
        ("score", "number", json!(95.5)),
        ("status", "string", json!("active")),
        ("verified", "boolean", json!(true)),
    ] {
        assert_eq!(fields[name]["type"], kind);
        assert_eq!(fields[name]["default"], default);
    }
    assert_eq!(
        fields["status"]["enum"],
        json!(["active", "inactive", "pending"])
    );
    let form = question(&pipe, "test_elicitation_sep1330_enums");
    let fields = &form["requestedSchema"]["properties"];
    let options = json!(["option1", "option2", "option3"]);
    assert_eq!(fields["untitledSingle"]["enum"], options);
    assert_eq!(fields["titledSingle"]["oneOf"][2]["const"], "value3");
    assert_eq!(
        fields["legacyEnum"]["enum"],
        json!(["opt1", "opt2", "opt3"])
    );
    assert_eq!(fields["legacyEnum"]["enumNames"][0], "Option One");
    assert_eq!(fields["untitledMulti"]["items"]["enum"], options);
    assert_eq!(fields["titledMulti"]["items"]["anyOf"][0]["title"], "First");
}

#[test]
fn names_the_capability_that_a_client_lacks() {
    for pipe in clients(&json!({ "elicitation": {} })) {
        let (_, response) = call(&pipe, json!({ "name": "test_missing_capability" }));
        let required = json!({ "requiredCapabilities": { "sampling": {} } });
        assert_eq!(response["error"]["code"], -32021);
        assert_eq!(response["error"]["data"], required);
    }
}
