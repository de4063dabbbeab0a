//! Tool errors and faults, from every type of error that an author may return.

use std::error::Error;
use std::fmt;
use std::num::ParseIntError;

use mcp_servlet::prelude::*;
use serde_json::json;

use crate::calls::text;

/// An error with a cause.
#[derive(Debug)]
struct Caused {
    text: &'static str,
    cause: Option<Box<Caused>>,
}

impl fmt::Display for Caused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

impl Error for Caused {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}

fn caused() -> Caused {
    let inner = Caused {
        text: "the disk is \"full\"",
        cause: None,
    };
    let middle = Caused {
        text: "cannot write",
        cause: Some(Box::new(inner)),
    };
    Caused {
        text: "cannot save",
        cause: Some(Box::new(middle)),
    }
}

#[tool]
fn string() -> Result<u8, String> {
    Err("a \"string\"".to_owned())
}

#[tool]
fn slice() -> Result<u8, &'static str> {
    Err("a slice")
}

#[tool]
fn chain() -> Result<u8, Caused> {
    Err(caused())
}

#[tool]
fn boxed() -> Result<u8, Box<dyn Error>> {
    Err(caused().into())
}

#[tool]
fn parsed(text: String) -> Result<u8, ParseIntError> {
    text.parse()
}

#[tool]
fn any(text: String) -> anyhow::Result<u8> {
    use anyhow::Context as _;
    text.parse()
        .with_context(|| format!("`{text}` is not a number"))
}

#[tool]
fn question(text: String) -> Result<u8, ToolError> {
    let number = text.parse::<u8>()?;
    Err(caused()).map_err(|error| anyhow::Error::new(error).context(number))?
}

#[tool]
fn silent() -> Result<u8, ToolError> {
    Err(ToolError::new(""))
}

mcp_servlet::export!(static ERRORS = {
    tools: [string, slice, chain, boxed, parsed, any, question, silent],
});

#[test]
fn the_model_reads_an_error_with_all_its_causes() {
    let chain = "cannot save: cannot write: the disk is \"full\"";
    for (tool, arguments, expected) in [
        ("string", json!({}), "a \"string\"".to_owned()),
        ("slice", json!({}), "a slice".to_owned()),
        ("chain", json!({}), chain.to_owned()),
        ("boxed", json!({}), chain.to_owned()),
        (
            "parsed",
            json!({ "text": "x" }),
            "invalid digit found in string".to_owned(),
        ),
        (
            "any",
            json!({ "text": "x" }),
            "`x` is not a number: invalid digit found in string".to_owned(),
        ),
        (
            "question",
            json!({ "text": "x" }),
            "invalid digit found in string".to_owned(),
        ),
        ("question", json!({ "text": "7" }), format!("7: {chain}")),
        ("silent", json!({}), String::new()),
    ] {
        assert_eq!(text(&ERRORS, tool, arguments), Err(expected), "{tool}");
    }
}

fn fault() -> Fault {
    Fault::new(-7, "it is broken").with_data(RawJson::parse("[1]").unwrap())
}

#[tool]
fn direct() -> Result<u8, Fault> {
    Err(fault())
}

#[tool]
fn through_question_mark() -> Result<u8, ToolError> {
    Err(fault())?
}

#[tool]
fn through_a_box() -> Result<u8, ToolError> {
    let boxed: Box<dyn Error> = Box::new(fault());
    Err(boxed)?
}

#[tool]
fn through_anyhow() -> Result<u8, ToolError> {
    Err(anyhow::Error::new(fault()))?
}

#[tool]
fn with_context() -> anyhow::Result<u8> {
    Err(anyhow::Error::new(fault()).context("outside"))
}

#[tool]
fn nested() -> Result<Result<u8, Fault>, ToolError> {
    Ok(Err(fault()))
}

mcp_servlet::export!(static FAULTS = {
    tools: [direct, through_question_mark, through_a_box, through_anyhow, with_context, nested],
});

#[test]
fn fault_stays_a_fault_in_a_tool_error() {
    for tool in ["direct", "through_question_mark", "through_a_box", "nested"] {
        assert_eq!(FAULTS.call(tool, json!({})).unwrap_err(), fault(), "{tool}");
    }
}

#[test]
fn a_fault_with_context_around_it_stays_a_fault() {
    let fault = FAULTS.call("with_context", json!({})).unwrap_err();
    assert_eq!((fault.code(), fault.message()), (-7, "it is broken"));
    // Without context, anyhow hides the error inside, so it is treated like any other.
    assert_eq!(
        text(&FAULTS, "through_anyhow", json!({})),
        Err("it is broken".to_owned())
    );
}

#[test]
fn fault_has_code_message_and_data() {
    let fault = fault();
    assert_eq!(
        (fault.code(), fault.message(), fault.data().unwrap().get()),
        (-7, "it is broken", "[1]")
    );
    assert_eq!(fault.to_string(), "it is broken");
    for (fault, code) in [
        (Fault::internal("x"), Fault::INTERNAL_ERROR),
        (Fault::invalid_params("x"), Fault::INVALID_PARAMS),
    ] {
        assert_eq!(
            (fault.code(), fault.message(), fault.data()),
            (code, "x", None)
        );
    }
}

struct Unwritable;

impl serde::Serialize for Unwritable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("it cannot be written"))
    }
}

impl Schema for Unwritable {
    const NODE: &'static mcp_servlet::schema::Node = &mcp_servlet::schema::Node::object(&[]);
}

#[tool]
fn unwritable() -> Json<Unwritable> {
    Json(Unwritable)
}

mcp_servlet::export!(static UNWRITABLE = { tools: [unwritable] });

#[test]
fn a_result_or_arguments_that_cannot_be_written_are_errors() {
    let error = text(&UNWRITABLE, "unwritable", json!({})).unwrap_err();
    assert!(error.contains("it cannot be written"), "{error}");
    let fault = UNWRITABLE.call("unwritable", Unwritable).unwrap_err();
    assert_eq!(fault.code(), Fault::INVALID_PARAMS);
    assert!(
        fault.message().starts_with("arguments are not JSON: "),
        "{fault}"
    );
}

#[tool]
fn coded() -> Result<(), ToolError> {
    let data = RawJson::parse(r#"{"id":7}"#).unwrap();
    Err(ToolError::new("there is no such user")
        .with_code("not_found")
        .with_data(data))
}

#[tool]
fn recoded() -> Result<(), ToolError> {
    Err(ToolError::new("x").with_code("first").with_code("second"))
}

#[tool]
fn coded_fault() -> Result<(), ToolError> {
    Err(ToolError::from(Fault::new(7, "broken")).with_code("lost"))
}

mcp_servlet::export!(static CODED = { tools: [coded, recoded, coded_fault] });

#[test]
fn code_and_data_of_an_error_are_for_programs() {
    let result = CODED.call("coded", serde_json::json!({})).unwrap();
    assert_eq!(result.is_error, Some(true));
    assert_eq!(result.text(), "there is no such user");
    assert_eq!(
        result.meta.unwrap().get(),
        r#"{"mcp-servlet/error":{"code":"not_found","data":{"id":7}}}"#
    );
    let result = CODED.call("recoded", serde_json::json!({})).unwrap();
    assert_eq!(
        result.meta.unwrap().get(),
        r#"{"mcp-servlet/error":{"code":"second"}}"#
    );
    let error = coded().unwrap_err();
    assert_eq!(error.to_string(), "there is no such user");
    assert_eq!(error.code().as_deref(), Some("not_found"));
    assert_eq!(error.data().unwrap().get(), r#"{"id":7}"#);
    assert_eq!(ToolError::new("plain").code(), None);
    let fault = CODED
        .call("coded_fault", serde_json::json!({}))
        .unwrap_err();
    assert_eq!((fault.code(), fault.message()), (7, "broken"));
}

#[derive(Deserialize, Schema)]
#[serde(rename_all = "snake_case")]
#[allow(dead_code, reason = "only its schema counts")]
struct Large {
    /// A field with a description that goes on for a while, like those of the other fields, too, and more.
    a: Option<String>,
    /// A field with a description that goes on for a while, like those of the other fields, too, and more.
    b: Option<[u8; 2]>,
    /// A field with a description that goes on for a while, like those of the other fields, too, and more.
    c: Option<std::time::Duration>,
    /// A field with a description that goes on for a while, like those of the other fields, too, and more.
    d: Option<std::path::PathBuf>,
    /// A field with a description that goes on for a while, like those of the other fields, too, and more.
    e: Option<std::collections::VecDeque<std::num::NonZeroU16>>,
    /// A field with a description that goes on for a while, like those of the other fields, too, and more.
    f: Option<std::num::NonZeroI8>,
}

#[tool]
fn large(#[arg(example = 7)] number: u8, large: Option<Large>) -> u8 {
    let _ = large;
    number
}

mcp_servlet::export!(static LARGE = { tools: [large] });

fn complaint_of(arguments: serde_json::Value) -> String {
    let result = LARGE.call("large", arguments).unwrap();
    result.text()
}

#[test]
fn error_is_short_and_ends_with_valid_arguments() {
    let complaint = complaint_of(serde_json::json!({ "number": 1, "large": 1 }));
    assert!(
        complaint.starts_with("invalid arguments: `/large` must match its schema, got 1\n"),
        "{complaint}"
    );
    let name = "x".repeat(500);
    let complaint = complaint_of(serde_json::json!({ "number": 1, name: 1 }));
    assert!(
        complaint.starts_with("invalid arguments: `/…` is unknown; known are `number`, `large`\n"),
        "{complaint}"
    );
    let (_, example) = complaint.split_once("\nvalid arguments: ").unwrap();
    assert_eq!(example, r#"{"number":7,"large":{}}"#);
    assert_eq!(LARGE.example("large").unwrap().get(), example);
    let example: serde_json::Value = serde_json::from_str(example).unwrap();
    assert_eq!(complaint_of(example), "7");
    assert_eq!(LARGE.example("small"), None);
}

#[test]
fn errors_have_the_schemas_of_std_types() {
    for (wrong, says) in [
        (
            serde_json::json!({ "b": [1] }),
            r#""minItems":2,"maxItems":2"#,
        ),
        (
            serde_json::json!({ "c": { "secs": "1", "nanos": 0 } }),
            r#""whole seconds""#,
        ),
        (
            serde_json::json!({ "e": [0] }),
            r#""minimum":1,"maximum":65535"#,
        ),
        (serde_json::json!({ "f": 0 }), "A field with"),
    ] {
        let complaint = complaint_of(serde_json::json!({ "number": 1, "large": wrong }));
        assert!(complaint.contains(says), "{complaint}");
    }
    let right = serde_json::json!({
        "b": [1, 2], "c": { "secs": 1, "nanos": 5 }, "d": "/a", "e": [1, 2], "f": -1,
    });
    assert_eq!(
        complaint_of(serde_json::json!({ "number": 1, "large": right })),
        "1"
    );
}

#[derive(Debug, thiserror::Error)]
enum DeskError {
    #[error("there is no incident {0}")]
    NotFound(u64),
    #[error("the desk is closed")]
    Closed(#[source] ParseIntError),
    #[error("it is broken")]
    Broken,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot resolve")]
struct Unresolved(#[source] DeskError);

fn desk(error: &DeskError) -> ToolError {
    let converted = ToolError::from_error(error);
    match error {
        DeskError::NotFound(id) => {
            let data = RawJson::from_string(id.to_string()).unwrap();
            converted.with_code("not_found").with_data(data)
        }
        DeskError::Closed(_) => converted.with_code("closed"),
        DeskError::Broken => Fault::new(-7, "broken").into(),
    }
}

/// Also for a type of another crate, here of std.
fn parse(_: &ParseIntError) -> ToolError {
    ToolError::new("not a number").with_code("number")
}

fn desk_error(kind: &str) -> DeskError {
    match kind {
        "not_found" => DeskError::NotFound(7),
        "closed" => DeskError::Closed("x".parse::<u8>().unwrap_err()),
        _ => DeskError::Broken,
    }
}

#[tool]
fn returned(kind: String) -> Result<(), DeskError> {
    Err(desk_error(&kind))
}

#[tool]
fn passed_on(kind: String) -> Result<(), ToolError> {
    Err(desk_error(&kind))?
}

#[tool]
fn as_a_cause(kind: String) -> Result<(), Box<dyn Error>> {
    Err(Unresolved(desk_error(&kind)))?
}

#[tool]
fn of_another_crate(text: String) -> Result<u8, ToolError> {
    Ok(text.parse()?)
}

#[resource(uri = "desk://incident")]
fn incident() -> Result<String, DeskError> {
    Err(DeskError::NotFound(7))
}

mcp_servlet::export!(static DESK = {
    tools: [returned, passed_on, as_a_cause, of_another_crate],
    errors: [desk, parse],
    resources: [incident],
});

mcp_servlet::export!(static NO_DESK = { tools: [returned] });

/// The text and the `_meta` of a result.
fn result_of(
    servlet: &'static mcp_servlet::Servlet,
    tool: &str,
    kind: &str,
) -> (String, Option<String>) {
    let arguments = match tool {
        "of_another_crate" => json!({ "text": kind }),
        _ => json!({ "kind": kind }),
    };
    let result = servlet.call(tool, arguments).unwrap();
    assert_eq!(result.is_error, Some(true));
    let meta = result.meta.as_ref().map(|meta| meta.get().to_owned());
    (result.text(), meta)
}

#[test]
fn functions_convert_errors_of_their_type() {
    let not_found = r#"{"mcp-servlet/error":{"code":"not_found","data":7}}"#.to_owned();
    let closed = r#"{"mcp-servlet/error":{"code":"closed"}}"#.to_owned();
    for tool in ["returned", "passed_on"] {
        let text = "there is no incident 7".to_owned();
        let result = result_of(&DESK, tool, "not_found");
        assert_eq!(result, (text, Some(not_found.clone())), "{tool}");
        let text = "the desk is closed: invalid digit found in string".to_owned();
        let result = result_of(&DESK, tool, "closed");
        assert_eq!(result, (text, Some(closed.clone())), "{tool}");
        let fault = DESK.call(tool, json!({ "kind": "broken" })).unwrap_err();
        assert_eq!((fault.code(), fault.message()), (-7, "broken"), "{tool}");
    }
    let result = result_of(&DESK, "as_a_cause", "not_found");
    let text = "cannot resolve: there is no incident 7".to_owned();
    assert_eq!(result, (text, Some(not_found)));
    let result = result_of(&DESK, "of_another_crate", "x");
    let number = r#"{"mcp-servlet/error":{"code":"number"}}"#.to_owned();
    assert_eq!(result, ("not a number".to_owned(), Some(number)));
}

#[test]
fn functions_convert_errors_of_resources() {
    let fault = DESK.client().read_resource("desk://incident").unwrap_err();
    let data = fault.data().map(RawJson::get);
    assert_eq!(data, Some(r#"{"code":"not_found","data":7}"#));
}

#[test]
fn functions_convert_only_the_errors_of_their_servlet() {
    result_of(&DESK, "returned", "not_found");
    let result = result_of(&NO_DESK, "returned", "not_found");
    assert_eq!(result, ("there is no incident 7".to_owned(), None));
    // Nor does a call change what a function alone returns.
    result_of(&DESK, "returned", "not_found");
    let alone = format!("{:?}", passed_on("not_found".to_owned()));
    assert!(!alone.contains("not_found"), "{alone}");
}
