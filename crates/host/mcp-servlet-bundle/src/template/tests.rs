//! Expressions in the strings of values.

use serde_json::json;

use super::*;
use mcp_servlet_expression::Part as ScopePart;

fn template(value: Value) -> Result<Template, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut expand = |text: &str| {
        if text.contains("${") {
            return Err("the variable is not set".to_owned());
        }
        Ok(text.replace("$$", "$"))
    };
    let template = Template::parse(&value, &Place::of("inputs"), &mut expand, &mut problems);
    if problems.is_empty() {
        Ok(template)
    } else {
        Err(problems)
    }
}

fn fill(value: Value, request: &Value) -> Result<Option<Value>, Failed> {
    let scope = Scope::default().with("request", ScopePart::Json(request));
    let template = template(value).expect("a template");
    template.fill(&scope, &mut Budget::default())
}

#[test]
fn strings_have_expressions() {
    let request = json!({ "n": 1, "s": "x", "o": { "b": 1, "a": 2 } });
    for (value, expected) in [
        (json!("${{ request.n }}"), json!(1)),
        (
            json!("n = ${{ request.n }}, s = ${{ request.s }}${{ request.?no }}"),
            json!("n = 1, s = x"),
        ),
        (json!("${{ request.o }}!"), json!("{\"b\":1,\"a\":2}!")),
        (json!("$$5"), json!("$5")),
        (
            json!("${{ {'a': {'b': '}}'}} }}"),
            json!({ "a": { "b": "}}" } }),
        ),
        (
            json!({ "a": ["${{ request.?no }}", "k"], "b": "${{ request.?no }}", "c": null }),
            json!({ "a": ["k"], "c": null }),
        ),
        (json!([1, { "a": true }]), json!([1, { "a": true }])),
    ] {
        assert_eq!(fill(value.clone(), &request), Ok(Some(expected)), "{value}");
    }
    let failed = fill(json!({ "a": [1, "${{ request.no }}"] }), &request).expect_err("absent");
    assert_eq!(failed.place.to_string(), "a[1]");
}

#[test]
fn mistakes_are_counted_in_the_string() {
    for (value, range, message) in [
        (json!("ab ${{ request.a "), 3..6, "`${{` has no `}}`"),
        (
            json!("ab ${{ lower('A') }}"),
            7..12,
            "there is no function `lower`; there is `lowerAscii`",
        ),
        (json!("${NAME}"), 0..7, "the variable is not set"),
    ] {
        let problems = template(value.clone()).expect_err("a problem");
        assert_eq!(problems[0].range, Some(range), "{value}");
        assert_eq!(problems[0].message, message, "{value}");
    }
}

#[test]
fn constants_are_not_shown() {
    let text = format!("{:?}", template(json!("s3cret")));
    assert!(!text.contains("s3cret"), "{text}");
}
