//! Tests of jq programs: `cargo test` runs them natively, `servlet test` against the wasm module.

use mcp_servlet::testing::Client;
use serde_json::{Value, json};

/// What comes of these arguments, with the document as text, and whether it is an error.
fn query(client: &Client, mut arguments: Value) -> (String, bool) {
    if !arguments["json"].is_string() {
        arguments["json"] = arguments["json"].to_string().into();
    }
    let result = client.call("query", arguments).unwrap();
    let text = result.text();
    (text, result.is_error == Some(true))
}

fn outputs(client: &Client, arguments: Value) -> String {
    let (text, is_error) = query(client, arguments);
    assert!(!is_error, "{text}");
    text
}

fn error(client: &Client, filter: &str, json: Value) -> String {
    let (text, is_error) = query(client, json!({ "filter": filter, "json": json }));
    assert!(is_error, "{filter}: {text}");
    text
}

#[mcp_servlet::test]
fn programs_say_what_jq_says(client: &Client) {
    let users = json!({ "users": [{ "name": "Ada", "age": 36 }, { "name": "Bob", "age": 28 }] });
    for (filter, expected) in [
        (".users[].name", "\"Ada\"\n\"Bob\""),
        (".users | map(select(.age > 30).name)", r#"["Ada"]"#),
        ("[.users[].age] | add", "64"),
        ("def older: .age += 1; .users[0] | older | .age", "37"),
        (".users | sort_by(.age) | map(.name)", r#"["Bob","Ada"]"#),
        (".users[0].name | test(\"^a\"; \"i\")", "true"),
        (".users[0].name | @base64", "\"QWRh\""),
        ("0 | todate", "\"1970-01-01T00:00:00Z\""),
        ("reduce range(5) as $i (0; . + $i)", "10"),
        ("try error(\"x\") catch .", "\"x\""),
        ("first(repeat(1))", "1"),
        (".none[]?", "[no outputs]"),
    ] {
        let arguments = json!({ "filter": filter, "json": users });
        assert_eq!(outputs(client, arguments), expected, "{filter}");
    }
}

#[mcp_servlet::test]
fn a_text_of_json_is_read(client: &Client) {
    for (text, expected) in [
        (r#"{"a": 1}"#, "{\"a\":1}"),
        ("1 [2]\n\"three\"", "1\n[2]\n\"three\""),
        ("100000000000000000001", "100000000000000000001"),
        ("\"{}\"", "\"{}\""),
        ("", "[no outputs]"),
    ] {
        let arguments = json!({ "filter": ".", "json": text });
        assert_eq!(outputs(client, arguments), expected, "{text}");
    }
    let message = error(client, ".", json!("{\"a\": }"));
    assert_eq!(
        message,
        "`json` is not JSON, see byte offset 6: value expected"
    );
}

#[mcp_servlet::test]
fn outputs_are_written_as_is_asked_for(client: &Client) {
    let document = json!({ "a": "grüße", "b": [1, {}] });
    let ask = |filter: &str, option: &str, value: Value| {
        outputs(
            client,
            json!({ "filter": filter, "json": document, option: value }),
        )
    };
    assert_eq!(ask(".a, .b", "raw", json!(true)), "grüße\n[1,{}]");
    assert_eq!(
        ask(".", "compact", json!(false)),
        "{\n  \"a\": \"grüße\",\n  \"b\": [\n    1,\n    {}\n  ]\n}"
    );
}

#[mcp_servlet::test]
fn only_so_many_outputs_come_and_the_rest_is_counted(client: &Client) {
    let ask = |filter| {
        outputs(
            client,
            json!({ "filter": filter, "json": null, "max_outputs": 2 }),
        )
    };
    assert_eq!(ask("1, 2"), "1\n2");
    assert_eq!(
        ask("1, 2, 3"),
        "1\n2\n[and 1 more: raise `max_outputs`, or narrow the filter]"
    );
    assert_eq!(
        ask("repeat(1)"),
        "1\n1\n[and 10000 more at least: narrow the filter]"
    );
}

#[mcp_servlet::test]
fn reports_the_position_in_an_invalid_filter(client: &Client) {
    for (filter, expected) in [
        (
            ".a[",
            "`filter`, character 4: expected closing bracket, found the end",
        ),
        ("", "`filter`, character 1: expected term, found the end"),
        (
            ".\"ä\" | if . then 1",
            "`filter`, character 19: expected else or end, found the end",
        ),
        ("1 2", "`filter`, character 3: expected nothing, found `2`"),
        (
            ". & 1",
            "`filter`, character 3: expected token, found `& 1`",
        ),
        (
            ".a | fo",
            "`filter`, character 6: there is no filter `fo` here",
        ),
        (
            "map(1; 2)",
            "`filter`, character 1: there is no filter `map` with 2 arguments here",
        ),
        (
            "$x",
            "`filter`, character 1: there is no variable `$x` here",
        ),
        (
            "now",
            "`filter`, character 1: there is no filter `now` here",
        ),
        (
            "env.HOME",
            "`filter`, character 1: there is no filter `env` here",
        ),
        (
            "include \"m\"; .",
            "`filter`, character 10: module loading not supported: write its definitions here",
        ),
    ] {
        assert_eq!(error(client, filter, json!(null)), expected, "{filter}");
    }
}

#[mcp_servlet::test]
fn reports_a_failure_after_the_outputs_before_it(client: &Client) {
    let advice = "inspect the input with `type` or `keys`, or skip values that do not fit with `?`";
    assert_eq!(
        error(client, ".[] | .a", json!([{ "a": 1 }, [2]])),
        format!("1\n[failed after 1 outputs] cannot index [2] with \"a\": {advice}")
    );
    let long = error(client, ".text.a", json!({ "text": "é".repeat(100_000) }));
    assert!(long.len() < 2000, "{} bytes", long.len());
}
