//! Limits of numbers, strings and lists, in arguments and inside of them.
#![allow(dead_code, reason = "the types are read and shown")]

use std::collections::BTreeMap;

use mcp_servlet::ask::Elicited;
use mcp_servlet::prelude::*;
use mcp_servlet::schema::{Node, Schema};
use serde_json::{Value, json};

#[derive(Debug, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
struct Order {
    #[schema(min = 1, max = 20)]
    item_count: u8,
    #[schema(min = 0.5)]
    weight: Option<f64>,
    #[schema(min_length = 2, max_length = 5)]
    name: String,
    #[schema(min_items = 1, max_items = 2)]
    tags: Vec<String>,
    #[serde(default)]
    lines: Vec<Line>,
    #[serde(default)]
    by_name: BTreeMap<String, Line>,
    payment: Option<Payment>,
    either: Option<Either>,
    #[serde(default)]
    transfers: Vec<Option<Transfer>>,
}

#[derive(Debug, Deserialize, Schema)]
struct Line {
    #[schema(max_length = 3)]
    text: Option<String>,
}

#[derive(Debug, Deserialize, Schema)]
#[serde(tag = "by", rename_all = "lowercase")]
enum Payment {
    Card {
        #[schema(min_length = 4, max_length = 4)]
        digits: String,
    },
    Cash {
        #[schema(max = 100)]
        digits: u32,
    },
}

#[derive(Debug, Deserialize, Schema)]
#[serde(untagged)]
enum Either {
    Few {
        #[schema(max = 10)]
        count: u8,
    },
    Many(String),
}

#[derive(Debug, Deserialize, Schema)]
enum Transfer {
    Free,
    Bank {
        #[schema(min_length = 4)]
        account: String,
    },
}

#[tool]
fn order(order: Order) -> String {
    format!("{order:?}")
}

#[tool]
fn whole(#[arg(flatten)] order: Order) -> String {
    format!("{order:?}")
}

#[tool]
fn single(
    #[arg(min_length = 2, max_length = 5)] name: Option<String>,
    #[arg(pattern = "^[a-z]+$")] word: Option<String>,
    #[arg(min_items = 1, max_items = 2)] list: Option<Vec<u8>>,
    #[arg(default_str = "ab", max_length = 2, pattern = "^a(?=b)")] lookahead: String,
) -> String {
    format!("{name:?} {word:?} {list:?} {lookahead}")
}

#[tool]
fn ask(context: &Context) -> Result<String, ToolError> {
    let Elicited::Accepted(form) = context.elicit::<Form>("form", "Who?")? else {
        return Err(ToolError::new("declined"));
    };
    Ok(form.name)
}

#[derive(Deserialize, Schema)]
struct Form {
    #[schema(min_length = 2, max_length = 5)]
    name: String,
    #[schema(max = 150)]
    age: Option<u8>,
}

#[derive(Deserialize)]
struct Link(String);

impl Schema for Link {
    const NODE: &'static Node = &Node::string().with_example(r#""https://ü.example/\u00fc""#);
}

#[derive(Deserialize)]
struct Day(String);

impl Schema for Day {
    const NODE: &'static Node = &Node::string().with_format("date");
}

#[tool]
fn short_link(#[arg(max_length = 18)] link: Link) -> String {
    link.0
}

#[tool]
fn long_link(#[arg(min_length = 19, max_length = 19)] link: Link) -> String {
    link.0
}

#[tool]
fn short_day(#[arg(max_length = 9)] day: Day) -> String {
    day.0
}

#[tool]
fn long_day(#[arg(min_length = 10)] day: Day) -> String {
    day.0
}

#[tool]
fn list(#[arg(flatten)] list: List) -> String {
    format!("{list:?}")
}

#[derive(Debug, Deserialize, Schema)]
struct List {
    #[serde(default)]
    #[schema(min_length = 1)]
    title: String,
    #[serde(default)]
    #[schema(min = 1)]
    page: u8,
    #[serde(default)]
    #[schema(min_items = 1)]
    names: Vec<String>,
}

#[prompt]
fn greet(#[arg(max_length = 3)] name: String) -> String {
    name
}

mcp_servlet::export!(static SERVLET = { tools: [order, whole, single, ask, short_link, long_link, short_day, long_day, list], prompts: [greet] });

fn order_with(members: Value) -> Value {
    let mut order = json!({ "itemCount": 1, "name": "Ada", "tags": ["a"] });
    let members = members.as_object().unwrap().clone();
    order.as_object_mut().unwrap().extend(members);
    order
}

#[test]
fn limits_are_in_the_schema() {
    let description: Value =
        serde_json::from_str(&SERVLET.client().request("describe", "").unwrap()).unwrap();
    let tools = &description["tools"];
    let order = &tools[1]["inputSchema"]["properties"];
    let count =
        json!({ "type": "integer", "description": "item count", "minimum": 1, "maximum": 20 });
    assert_eq!(order["itemCount"], count);
    let name = json!({ "type": "string", "description": "name", "minLength": 2, "maxLength": 5 });
    assert_eq!(order["name"], name);
    let text = json!({ "type": "string", "description": "text", "maxLength": 3 });
    assert_eq!(order["lines"]["items"]["properties"]["text"], text);
    let single = &tools[2]["inputSchema"]["properties"];
    assert_eq!(single["word"]["pattern"], "^[a-z]+$");
    assert_eq!(
        single["list"],
        json!({
            "type": "array",
            "description": "list",
            "items": { "type": "integer", "minimum": 0, "maximum": 255 },
            "minItems": 1,
            "maxItems": 2,
        })
    );
}

#[test]
fn values_at_the_limits_are_accepted() {
    for members in [
        json!({ "itemCount": 20.0, "weight": 0.5, "name": "Ünïcö", "tags": ["a", "b"] }),
        json!({ "name": "\u{1F600}\n", "weight": null, "lines": [{ "text": null }, { "text": "abc" }] }),
        json!({ "byName": { "long name of a key": { "text": "abc" } } }),
        json!({ "payment": { "by": "card", "digits": "1234" }, "either": { "count": 10 } }),
        json!({ "either": "many", "transfers": ["Free", null, { "Bank": { "account": "1234" } }] }),
        json!({ "payment": { "by": "cash", "digits": 100 } }),
    ] {
        let order = order_with(members);
        for (tool, arguments) in [("order", json!({ "order": order })), ("whole", order)] {
            let result = SERVLET.call(tool, &arguments).unwrap();
            assert_eq!(result.is_error, None, "{arguments}: {}", result.text());
        }
    }
    let arguments = json!({ "name": "ab", "word": "abc", "list": [1, 2] });
    let result = SERVLET.call("single", arguments).unwrap();
    assert_eq!(result.text(), r#"Some("ab") Some("abc") Some([1, 2]) ab"#);
    let nothing = SERVLET.call("single", json!({ "name": null })).unwrap();
    assert_eq!(nothing.text(), "None None None ab");
}

#[test]
fn broken_limits_are_errors_with_a_pointer() {
    for (members, pointer, reason) in [
        (
            json!({ "itemCount": 0 }),
            "/itemCount",
            "got 0: out of range",
        ),
        (
            json!({ "weight": 0.25 }),
            "/weight",
            "got 0.25: out of range",
        ),
        (json!({ "name": "A" }), "/name", "got \"A\": too short"),
        (
            json!({ "name": "Adaada" }),
            "/name",
            "got \"Adaada\": too long",
        ),
        (json!({ "tags": [] }), "/tags", "got an array: too short"),
        (
            json!({ "tags": ["a", "b", "c"] }),
            "/tags",
            "got an array: too long",
        ),
        (
            json!({ "lines": [{}, { "text": "abcd" }] }),
            "/lines/1/text",
            "got \"abcd\": too long",
        ),
        (
            json!({ "byName": { "a/b": { "text": "abcd" } } }),
            "/byName/a~1b/text",
            "got \"abcd\": too long",
        ),
        (
            json!({ "payment": { "by": "card", "digits": "1" } }),
            "/payment/digits",
            "got \"1\": too short",
        ),
        (
            json!({ "payment": { "by": "cash", "digits": 101 } }),
            "/payment/digits",
            "got 101: out of range",
        ),
    ] {
        let order = order_with(members);
        for (tool, arguments, prefix) in [
            ("order", json!({ "order": order }), "/order"),
            ("whole", order, ""),
        ] {
            let result = SERVLET.call(tool, &arguments).unwrap();
            assert_eq!(result.is_error, Some(true), "{arguments}");
            let text = result.text();
            let start = format!("invalid arguments: `{prefix}{pointer}` must match {{");
            assert!(text.starts_with(&start) && text.contains(reason), "{text}");
        }
    }
}

#[test]
fn limits_of_variants_are_checked() {
    for (members, pointer, reason) in [
        (
            json!({ "either": { "count": 11 } }),
            "`/order/either/count`",
            "got 11: out of range",
        ),
        (
            json!({ "transfers": ["Free", null, { "Bank": { "account": "123" } }] }),
            "`/order/transfers/2/Bank/account`",
            "got \"123\": too short",
        ),
    ] {
        let arguments = json!({ "order": order_with(members) });
        let result = SERVLET.call("order", arguments).unwrap();
        let text = result.text();
        assert_eq!(result.is_error, Some(true), "{text}");
        assert!(text.contains(pointer) && text.contains(reason), "{text}");
    }
}

#[test]
fn limits_of_arguments_are_checked() {
    for (arguments, expected) in [
        (
            json!({ "name": "a" }),
            "`/name` must match {\"type\":\"string\",\"description\":\"name\",\"minLength\":2,\"maxLength\":5}, got \"a\": too short",
        ),
        (
            json!({ "word": "Abc" }),
            "`/word` must match {\"type\":\"string\",\"description\":\"word\",\"pattern\":\"^[a-z]+$\"}, got \"Abc\": does not match the pattern",
        ),
        (json!({ "list": [1, 2, 3] }), "`/list` must match"),
        (json!({ "lookahead": "abc" }), "`/lookahead` must match"),
    ] {
        let result = SERVLET.call("single", &arguments).unwrap();
        let text = result.text();
        assert!(
            text.starts_with(&format!("invalid arguments: {expected}")),
            "{text}"
        );
    }
    let fault = SERVLET
        .client()
        .get_prompt("greet", json!({ "name": "Adam" }))
        .unwrap_err();
    assert!(
        fault.message().contains("`/name` must match") && fault.message().contains("too long"),
        "{fault}"
    );
    SERVLET
        .client()
        .get_prompt("greet", json!({ "name": "Ada" }))
        .unwrap();
}

#[test]
fn errors_of_types_come_from_the_types() {
    let result = SERVLET
        .call(
            "order",
            json!({ "order": order_with(json!({ "name": 7 })) }),
        )
        .unwrap();
    assert!(
        result.text().contains("`/order/name` must match") && result.text().contains("got 7\n"),
        "{}",
        result.text()
    );
}

#[test]
fn forms_have_limits_and_answers_keep_them() {
    let client = SERVLET
        .client()
        .with_form("form", json!({ "name": "Ada", "age": 150 }));
    assert_eq!(client.call("ask", json!({})).unwrap().text(), "Ada");
    let form: Value = serde_json::from_str(client.input_requests()[0].1.get()).unwrap();
    assert_eq!(
        form["params"]["requestedSchema"]["properties"],
        json!({
            "name": { "type": "string", "minLength": 2, "maxLength": 5 },
            "age": { "type": "integer", "minimum": 0, "maximum": 150 },
        })
    );
    for answer in [json!({ "name": "A" }), json!({ "name": "Ada", "age": 151 })] {
        let fault = SERVLET
            .client()
            .with_form("form", answer)
            .call("ask", json!({}))
            .unwrap_err();
        assert!(
            fault.message().contains("requests the input `form` again"),
            "{fault}"
        );
    }
}

#[test]
fn examples_keep_the_limits() {
    // No example is known to match the pattern of `word`.
    let single = SERVLET.call("single", json!({ "nothing": 1 })).unwrap();
    assert!(
        !single.text().contains("\nvalid arguments"),
        "{}",
        single.text()
    );
    let whole = SERVLET.call("whole", json!({ "nothing": 1 })).unwrap();
    let example = r#"valid arguments: {"itemCount":1,"weight":0.5,"name":"text","tags":["text"]"#;
    assert!(whole.text().contains(example), "{}", whole.text());
}

#[test]
fn examples_of_types_keep_the_limits() {
    let link = r#"{"link":"https://ü.example/\u00fc"}"#;
    for (tool, example) in [
        ("short_link", None),
        ("long_link", Some(link)),
        ("short_day", None),
        ("long_day", Some(r#"{"day":"2026-01-31"}"#)),
        (
            "list",
            Some(r#"{"title":"text","page":1,"names":["text"]}"#),
        ),
    ] {
        let result = SERVLET.call(tool, json!({ "nothing": 1 })).unwrap();
        let text = result.text();
        let found = text
            .split_once("\nvalid arguments: ")
            .map(|(_, rest)| rest.trim());
        assert_eq!(found, example, "{tool}: {text}");
        if let Some(example) = example {
            let arguments: Value = serde_json::from_str(example).unwrap();
            assert_eq!(SERVLET.call(tool, arguments).unwrap().is_error, None);
        }
    }
    let description: Value =
        serde_json::from_str(&SERVLET.client().request("describe", "").unwrap()).unwrap();
    for tool in description["tools"].as_array().unwrap() {
        let examples = &tool["inputSchema"]["properties"]["link"]["examples"];
        assert_eq!(examples.is_array(), tool["name"] == "long_link", "{tool}");
    }
}
