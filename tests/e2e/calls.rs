//! Calls every tool of the examples through the host, with valid and with invalid arguments.

use std::collections::BTreeSet;

use e2e::{Profile, fixture, wasm};
use mcp_servlet_host::CallToolResult;
use mcp_servlet_runtime::{CheckArguments, LoadOptions, block_on};
use serde_json::{Value, json};

use crate::support::{EXAMPLES, example, load, object, text};

/// A successful call, and the text of its result.
pub(crate) struct Good {
    pub(crate) servlet: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    pub(crate) text: &'static str,
}

/// At least one call of every tool.
pub(crate) fn good_calls() -> Vec<Good> {
    let good = |servlet, tool, arguments, text| Good {
        servlet,
        tool,
        arguments,
        text,
    };
    vec![
        good("greet", "greet", json!({ "name": "Ada" }), "Hello, Ada!"),
        good("greet", "greet", json!({ "name": "" }), "Hello, !"),
        good(
            "greet",
            "greet",
            json!({ "name": "\"\\\n\u{1}é🦀" }),
            "Hello, \"\\\n\u{1}é🦀!",
        ),
        good("calculator", "add", json!({ "a": 1, "b": 2 }), "3"),
        good(
            "calculator",
            "add",
            json!({ "b": 0.2, "a": 0.1 }),
            "0.30000000000000004",
        ),
        good(
            "calculator",
            "divide",
            json!({ "dividend": -1, "divisor": 4 }),
            "-0.25",
        ),
        good(
            "calculator",
            "statistics",
            json!({ "numbers": [1, 2, 4.5] }),
            r#"{"count":3,"sum":7.5,"mean":2.5,"min":1.0,"max":4.5}"#,
        ),
        good("calculator", "gcd", json!({ "a": u64::MAX, "b": 5 }), "5"),
        good("calculator", "gcd", json!({ "a": 12.0, "b": 18 }), "6"),
        good(
            "catalogue",
            "search",
            json!({ "categories": ["book"], "sort_by": "lowest_price", "limit": 1 }),
            r#"{"items":[{"id":4,"name":"Dictionary","category":"book","price":3200}],"total":2}"#,
        ),
        good(
            "catalogue",
            "search",
            json!({ "text": "CAP", "price": { "from": 1500, "to": null } }),
            r#"{"items":[{"id":3,"name":"Cap","category":"clothing","price":1500}],"total":1}"#,
        ),
        good(
            "catalogue",
            "quote",
            json!({ "itemId": 2, "quantity": 3, "delivery": { "method": "pickup", "shop": 7 } }),
            "3 × Backgammon, at shop 7: 87.00 EUR",
        ),
    ]
}

fn call(servlet: &str, tool: &str, arguments: &Value) -> CallToolResult {
    let result = block_on(example(servlet).call(tool, Some(object(arguments))));
    result.unwrap_or_else(|error| panic!("{servlet}, {tool}({arguments}): {error}"))
}

/// Calls a tool and expects this error.
fn assert_refused(servlet: &str, tool: &str, arguments: &Value, expected: &str) {
    let result = call(servlet, tool, arguments);
    let (message, example) = text(&result)
        .split_once("\nvalid arguments: ")
        .unwrap_or((text(&result), "{}"));
    assert!(serde_json::from_str::<Value>(example).is_ok(), "{example}");
    // The error adds a reason if the schema does not show it.
    let reason = message.strip_prefix(expected);
    assert!(
        reason.is_some_and(|reason| reason.is_empty() || reason.starts_with(": ")),
        "{servlet}, {tool}({arguments}): {message}"
    );
    assert!(result.is_error(), "{servlet}, {tool}({arguments})");
    assert_eq!(result.structured_content(), None);
}

#[test]
fn every_tool_answers_a_good_call() {
    let mut called = BTreeSet::new();
    for good in good_calls() {
        let result = call(good.servlet, good.tool, &good.arguments);
        assert_eq!(text(&result), good.text);
        assert!(!result.is_error(), "{}", good.text);
        called.insert((good.servlet, good.tool));
    }
    for name in EXAMPLES {
        for tool in example(name).tools() {
            assert!(called.contains(&(name, tool.name())), "{}", tool.name());
        }
    }
}

#[test]
fn arguments_may_be_absent_where_all_are_optional() {
    let result = block_on(example("catalogue").call("search", None)).expect("a result");
    let found: Value = serde_json::from_str(text(&result)).expect("JSON");
    assert_eq!(found["total"], 4);
}

#[test]
fn structured_results_say_the_same_as_their_text_and_as_their_schema() {
    for (servlet, tool, arguments) in [
        ("calculator", "statistics", json!({ "numbers": [2, 3] })),
        ("catalogue", "search", json!({ "text": "a" })),
    ] {
        let result = call(servlet, tool, &arguments);
        let structured = result.structured_content().expect("structured content");
        let as_text: Value = serde_json::from_str(text(&result)).expect("JSON");
        assert_eq!(structured, &as_text);
        let tool = example(servlet).tool(tool).expect("the tool").json();
        let properties = tool["outputSchema"]["properties"].as_object();
        let named: Vec<_> = properties.expect("an output schema").keys().collect();
        let given: Vec<_> = object(structured).keys().collect();
        assert_eq!(given, named);
        assert_eq!(tool["outputSchema"]["required"], json!(named));
    }
}

#[test]
fn tools_without_structured_results_have_no_output_schema() {
    for (servlet, tool) in [("greet", "greet"), ("catalogue", "quote")] {
        let tool = example(servlet).tool(tool).expect("the tool");
        assert_eq!(tool.json().get("outputSchema"), None);
    }
}

/// Calls a tool and expects the error that the value at `pointer` does not match the schema at `schema`.
fn assert_mismatch(
    (servlet, tool): (&str, &str),
    arguments: &Value,
    (pointer, schema, came): (&str, &str, &str),
) {
    let described = Value::from(
        example(servlet)
            .tool(tool)
            .map(|tool| tool.input_schema().clone()),
    );
    let schema = described.pointer(schema).expect(schema);
    let expected = format!("invalid arguments: `{pointer}` must match {schema}, got {came}");
    assert_refused(servlet, tool, arguments, &expected);
}

#[test]
fn an_argument_that_is_missing_is_named_with_its_schema() {
    assert_refused(
        "greet",
        "greet",
        &json!({}),
        "invalid arguments: `/name` is missing; it must match \
         {\"type\":\"string\",\"description\":\"the name of the person to greet\"}",
    );
    assert_refused(
        "calculator",
        "add",
        &json!({}),
        "invalid arguments: `/a` is missing; it must match \
         {\"type\":\"number\",\"description\":\"left operand\"}; `/b` is missing; it must match \
         {\"type\":\"number\",\"description\":\"right operand\"}",
    );
}

#[test]
fn an_argument_that_is_unknown_is_named_with_those_that_are_not() {
    assert_refused(
        "greet",
        "greet",
        &json!({ "name": "Ada", "nmae": "Bob" }),
        "invalid arguments: `/nmae` is unknown; known are `name`",
    );
    assert_refused(
        "catalogue",
        "quote",
        &json!({ "item_id": 2 }),
        "invalid arguments: `/item_id` is unknown; known are `itemId`, `quantity`, `delivery`",
    );
}

#[test]
fn argument_of_another_type_is_named_with_its_value() {
    let greet = ("greet", "greet");
    for (value, came) in [
        (json!(null), "null"),
        (json!(true), "true"),
        (json!(3), "3"),
        (json!(["Ada"]), "an array"),
        (json!({ "first": "Ada" }), "an object"),
    ] {
        let wrong = ("/name", "/properties/name", came);
        assert_mismatch(greet, &json!({ "name": value }), wrong);
    }
    let wrong = ("/a", "/properties/a", "\"1\"");
    assert_mismatch(("calculator", "add"), &json!({ "a": "1", "b": 2 }), wrong);
}

#[test]
fn a_number_out_of_its_bounds_is_named_with_them() {
    let gcd = ("calculator", "gcd");
    for (number, came) in [(json!(0), "0"), (json!(-1), "-1"), (json!(1.5), "1.5")] {
        let wrong = ("/a", "/properties/a", came);
        assert_mismatch(gcd, &json!({ "a": number, "b": 3 }), wrong);
    }
    let wrong = ("/limit", "/properties/limit", "101");
    assert_mismatch(("catalogue", "search"), &json!({ "limit": 101 }), wrong);
}

#[test]
fn a_wrong_value_inside_an_argument_is_pointed_to() {
    assert_mismatch(
        ("calculator", "statistics"),
        &json!({ "numbers": [1, "two"] }),
        ("/numbers/1", "/properties/numbers/items", "\"two\""),
    );
    let search = ("catalogue", "search");
    assert_mismatch(
        search,
        &json!({ "categories": ["book", "car"] }),
        ("/categories/1", "/properties/categories/items", "\"car\""),
    );
    assert_mismatch(
        search,
        &json!({ "price": { "from": true } }),
        ("/price/from", "/properties/price/properties/from", "true"),
    );
}

#[test]
fn failed_tool_returns_its_error() {
    assert_refused(
        "calculator",
        "divide",
        &json!({ "dividend": 1, "divisor": 0 }),
        "cannot divide by zero",
    );
    assert_refused(
        "calculator",
        "statistics",
        &json!({ "numbers": [] }),
        "there are no numbers to summarize",
    );
    assert_refused(
        "catalogue",
        "quote",
        &json!({ "itemId": 9, "quantity": 1, "delivery": { "method": "pickup", "shop": 1 } }),
        "there is no item 9",
    );
}

#[test]
fn the_operator_configures_a_servlet() {
    let mut options = LoadOptions::default();
    options.config = [("currency".to_owned(), "CHF".to_owned())].into();
    let catalogue = load(&wasm("catalogue", Profile::Servlet), &options);
    let order = json!({
        "itemId": 2,
        "quantity": 3,
        "delivery": { "method": "parcel", "address": "1 Main Street" },
    });
    let result = block_on(catalogue.call("quote", Some(object(&order))));
    assert_eq!(
        text(&result.expect("a result")),
        "3 × Backgammon, by parcel to 1 Main Street: 92.00 CHF"
    );
}

#[test]
fn plain_release_builds_answer_like_tuned_ones() {
    for name in EXAMPLES {
        let plain = load(&wasm(name, Profile::Release), &LoadOptions::default());
        assert_eq!(plain.description(), example(name).description());
        for good in good_calls().iter().filter(|good| good.servlet == name) {
            let result = block_on(plain.call(good.tool, Some(object(&good.arguments))));
            assert_eq!(text(&result.expect("a result")), good.text);
        }
    }
}

/// An order in `limited`, except for a member of its line.
fn order(name: &str, member: &str, value: &Value) -> Value {
    let mut line = json!({ "code": "AB-1", "amount": 1 });
    line[member] = value.clone();
    json!({ "name": name, "lines": [line] })
}

#[test]
fn limits_are_checked_by_the_host_and_in_wasm() {
    let hosts = [CheckArguments::default(), CheckArguments::Off].map(|arguments| {
        let mut options = LoadOptions::default();
        options.arguments = arguments;
        load(&fixture("limited"), &options)
    });
    let call = |in_wasm: usize, arguments: &Value| {
        let result = block_on(hosts[in_wasm].call("order", Some(object(arguments))));
        let result = result.unwrap();
        (result.is_error(), text(&result).to_owned())
    };
    let (noted, large) = (
        json!({ "code": "AB-1", "amount": 1, "note": "soon" }),
        json!({ "code": "XY-20", "amount": 20 }),
    );
    let lines = |lines: &[&Value]| json!({ "name": "Ada", "lines": lines });
    let (none, two, three) = (
        lines(&[]),
        lines(&[&noted, &large]),
        lines(&[&noted, &large, &noted]),
    );
    for in_wasm in 0..hosts.len() {
        let expected = (false, "21 for Ada: AB-1 XY-20, 1 notes".to_owned());
        assert_eq!(call(in_wasm, &two), expected);
        for (arguments, pointer) in [
            (&order("A", "amount", &json!(1)), "/name"),
            (&order("Adaada", "amount", &json!(1)), "/name"),
            (&order("Ada", "amount", &json!(0)), "/lines/0/amount"),
            (&order("Ada", "amount", &json!(21)), "/lines/0/amount"),
            (&order("Ada", "note", &json!("later")), "/lines/0/note"),
            (&none, "/lines"),
            (&three, "/lines"),
        ] {
            let (is_error, text) = call(in_wasm, arguments);
            assert!(is_error && text.contains(&format!("`{pointer}`")), "{text}");
        }
    }
    // Only hosts compare strings with patterns.
    let other = order("Ada", "code", &json!("ab-1"));
    let (is_error, text) = call(0, &other);
    assert!(is_error && text.contains("`/lines/0/code`"), "{text}");
    assert_eq!(
        call(1, &other),
        (false, "1 for Ada: ab-1, 0 notes".to_owned())
    );
}
