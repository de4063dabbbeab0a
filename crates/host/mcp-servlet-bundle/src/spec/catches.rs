//! JSON-RPC errors for failures of a handler.

use serde_json::Value;

use crate::{
    code::{self, URL_ELICITATION_REQUIRED},
    problem::{Place, PlacePart, Problem},
    template::{Expand, Single, Template},
};
use mcp_servlet_common::FailureKind;
use mcp_servlet_expression::Expression;
use mcp_servlet_schema::similar;

/// An entry of `catches` in a file.
#[derive(Clone, Default, PartialEq, Hash)]
pub struct CatchSpec {
    /// The code of the failure: a name, or a JSON-RPC number.
    pub code: Option<Value>,
    /// The kind of the failure; see [`FailureKind::name`].
    pub kind: Option<String>,
    /// A condition: a string that is one expression.
    pub when: Option<String>,
    /// The error for the client.
    pub error: ErrorSpec,
}

/// The error of an entry of `catches` in a file.
#[derive(Clone, Default, PartialEq, Hash)]
pub struct ErrorSpec {
    /// The JSON-RPC code.
    pub code: i64,
    /// The message; by default the failure's.
    pub message: Option<String>,
    /// Details for programs.
    pub data: Option<Value>,
}

/// A compiled entry of `catches`.
#[derive(Clone, Debug)]
pub(crate) struct Catch {
    /// Its number in the file.
    pub(crate) number: usize,
    pub(crate) code: Option<Code>,
    pub(crate) kind: Option<FailureKind>,
    pub(crate) when: Option<Single>,
    /// The JSON-RPC code for the client.
    pub(crate) error: i32,
    pub(crate) message: Option<Template>,
    pub(crate) data: Option<Template>,
}

impl Catch {
    /// Calls a function for each expression, with its place and where it begins in the string.
    pub(crate) fn each<'t>(&'t self, visit: &mut dyn FnMut(&Place, usize, &'t Expression)) {
        let place = Place::of("catches").item(self.number);
        if let Some(when) = &self.when {
            visit(&place.key("when"), when.start, &when.expression);
        }
        for (key, template) in [("message", &self.message), ("data", &self.data)] {
            if let Some(template) = template {
                template.each(&place.key("error").key(key), visit);
            }
        }
    }
}

/// The code that a catch asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Name(String),
    Number(i64),
}

pub(super) fn compile(
    spec: &CatchSpec,
    place: &Place,
    expand: &mut Expand<'_>,
    problems: &mut Vec<Problem>,
) -> Option<Catch> {
    let before = problems.len();
    let at = place.key("error");
    if let Some(problem) = code::problem(spec.error.code) {
        problems.push(Problem::new(at.key("code"), problem));
    }
    let mut template = |value: &Value, key: &str, problems: &mut Vec<Problem>| {
        let place = at.key(key);
        Template::parse(value, &place, expand, problems)
    };
    let message = spec
        .error
        .message
        .as_ref()
        .map(|text| template(&text.as_str().into(), "message", problems));
    let data = spec
        .error
        .data
        .as_ref()
        .map(|value| template(value, "data", problems));
    let code = code_of(spec, place, problems);
    let kind = kind_of(spec, place, problems);
    let when = spec.when.as_ref().map(|text| {
        let example = "${{ error.data.retry < 60 }}";
        Template::single(text, &place.key("when"), example, problems)
    });
    (problems.len() == before).then(|| Catch {
        number: number(place),
        code,
        kind,
        when,
        error: i32::try_from(spec.error.code).unwrap_or(-32603),
        message,
        data,
    })
}

fn number(place: &Place) -> usize {
    match place.0.last() {
        Some(PlacePart::Item(number)) => *number,
        _ => 0,
    }
}

fn code_of(spec: &CatchSpec, place: &Place, problems: &mut Vec<Problem>) -> Option<Code> {
    match spec.code.as_ref()? {
        Value::String(name) => Some(Code::Name(name.clone())),
        Value::Number(number) if number.is_i64() => number.as_i64().map(Code::Number),
        _ => {
            let message = "expected the name of a code, such as \"TIMEOUT\", or a JSON-RPC number";
            problems.push(Problem::new(place.key("code"), message));
            None
        }
    }
}

fn kind_of(spec: &CatchSpec, place: &Place, problems: &mut Vec<Problem>) -> Option<FailureKind> {
    let name = spec.kind.as_ref()?;
    let kind = FailureKind::named(name);
    if kind.is_none() {
        let message = match similar(name, FailureKind::ALL.into_iter().map(FailureKind::name)) {
            Some(known) => format!("there is no kind `{name}`; there is `{known}`"),
            None => format!("there is no kind `{name}`"),
        };
        problems.push(Problem::new(place.key("kind"), message));
    }
    kind
}

/// Reports entries that are never used, because an earlier one matches all of their failures.
pub(super) fn check_order(catches: &[CatchSpec], problems: &mut Vec<Problem>) {
    for (number, catch) in catches.iter().enumerate() {
        let earlier = &catches[..number];
        let Some(at) = earlier.iter().position(|earlier| covers(earlier, catch)) else {
            continue;
        };
        let what = match &catch.code {
            _ if is_for_all(catch) => "matches all other failures too".to_owned(),
            Some(Value::String(code)) if earlier[at].code == catch.code => {
                format!("catches `{code}` already")
            }
            _ => "catches the same failures".to_owned(),
        };
        let message = format!("this entry is never used: entry {} {what}", at + 1);
        problems.push(Problem::new(Place::of("catches").item(number), message));
    }
}

/// Entries for all failures are tried after the others.
fn is_for_all(catch: &CatchSpec) -> bool {
    catch.code.is_none() && catch.kind.is_none() && catch.when.is_none()
}

fn covers(earlier: &CatchSpec, later: &CatchSpec) -> bool {
    // An entry without a code does not catch this one.
    let is_url = later.code == Some(URL_ELICITATION_REQUIRED.into());
    let has_code = earlier.code == later.code || (earlier.code.is_none() && !is_url);
    let has_kind = earlier.kind == later.kind || earlier.kind.is_none();
    let is_same_turn = is_for_all(earlier) == is_for_all(later);
    is_same_turn && earlier.when.is_none() && has_code && has_kind
}
