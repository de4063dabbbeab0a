//! Texts with expressions over a request and its session, for headers.

use std::{
    fmt,
    hash::{Hash, Hasher},
};

use mcp_servlet_expression::{Budget, Failure, Mistake, Object, Part, Path, Scope, Type};
use mcp_servlet_schema::JsonObject;
use serde_json::Value;

use crate::{
    names::{self, members},
    problem::{Place, Problem},
    template::{Expand, Failed, Template},
};

/// As long as the ids of sessions are.
const SAMPLE: &str = "00000000-0000-0000-0000-000000000000";

/// A text with expressions that can read `session.id`, `request.id`, `request.method` and `caller`.
#[derive(Clone)]
pub struct RequestText {
    template: Template,
    /// The text before its expressions are compiled, and its parts with the values of variables. They tell two texts apart.
    written: String,
    parts: Vec<String>,
    /// What its expressions read of `caller`, and the bytes of the text in which it begins.
    caller: Vec<(Path, usize)>,
}

/// A request, as a text can read it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Requested<'a> {
    /// The id of the session. It is empty if the protocol version has no sessions.
    pub session: &'a str,
    /// The id of the request. It is empty if there is none.
    pub id: &'a str,
    /// The method of the message. It is empty if there is none.
    pub method: &'a str,
    /// Who sends it. Texts that [read the caller](RequestText::reads_caller) need it.
    pub caller: Option<&'a JsonObject>,
}

/// An expression of a [`RequestText`] has no value. The message shows neither values nor constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoText(Failure);

impl fmt::Display for NoText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for NoText {}

impl PartialEq for RequestText {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written && self.parts == other.parts
    }
}

impl Eq for RequestText {}

impl Hash for RequestText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.written, &self.parts).hash(state);
    }
}

impl fmt::Debug for RequestText {
    /// Constants may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestText")
    }
}

impl RequestText {
    /// Compiles the expressions of a text in this key of the configuration. `expand` replaces environment variables
    /// outside of expressions.
    ///
    /// # Errors
    /// Every problem, with the bytes of the text that are wrong.
    pub fn compile(
        key: &'static str,
        text: &str,
        expand: &mut Expand<'_>,
    ) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut parts = Vec::new();
        let mut expand = |text: &str| {
            let expanded = expand(text)?;
            parts.push(expanded.clone());
            Ok(expanded)
        };
        let place = Place::default();
        let template = Template::parse(&text.into(), &place, &mut expand, &mut problems);
        let names = vec![
            ("session", members(&["id"])),
            ("request", members(&["id", "method"])),
            ("caller", Type::ANY),
        ];
        let mut caller = Vec::new();
        template.each(&place, &mut |place, start, expression| {
            let of_caller = expression.reads.iter().filter(|path| path.root == "caller");
            caller.extend(of_caller.map(|path| (path.clone(), start)));
            let unknown = names::unknown(expression, key, &names).into_iter();
            let wrong = expression.infer(&names).wrong.into_iter();
            let mistakes = unknown.chain(wrong.map(|wrong| wrong.mistake));
            problems.extend(mistakes.map(|mistake| {
                let Mistake { range, message } = mistake.moved(start);
                Problem::within(place.clone(), range, message)
            }));
        });
        let compiled = Self {
            template,
            written: text.to_owned(),
            parts,
            caller,
        };
        let nobody = JsonObject::new();
        let sample = Requested {
            session: SAMPLE,
            id: SAMPLE,
            method: "resources/templates/list",
            caller: Some(&nobody),
        };
        if problems.is_empty() && compiled.fill(sample) == Err(NoText(Failure::Budget)) {
            let message = "the expression takes too long to run for each message";
            problems.push(Problem::new(place, message));
        }
        if problems.is_empty() {
            Ok(compiled)
        } else {
            Err(problems)
        }
    }

    /// Whether it reads who sends a request.
    pub fn reads_caller(&self) -> bool {
        !self.caller.is_empty()
    }

    /// What its expressions read of `caller`, and at which byte of the text each of these expressions begins.
    pub fn caller_paths(&self) -> &[(Path, usize)] {
        &self.caller
    }

    /// The text for a request. `None` if the text is one expression without a value.
    ///
    /// # Errors
    /// If an expression has no value. Expressions may only take a few steps, because this blocks the thread.
    pub fn fill(&self, requested: Requested<'_>) -> Result<Option<String>, NoText> {
        let session = Texts(&[("id", requested.session)]);
        let request = Texts(&[("id", requested.id), ("method", requested.method)]);
        let session = Scope::default().with("session", Part::Object(&session));
        let mut scope = session.with("request", Part::Object(&request));
        if let Some(caller) = requested.caller {
            scope = scope.with("caller", Part::Map(caller));
        }
        let value = self.template.fill(&scope, &mut Budget::small());
        Ok(
            match value.map_err(|Failed { failure, .. }| NoText(failure))? {
                None | Some(Value::Null) => None,
                Some(Value::String(text)) => Some(text),
                Some(other) => Some(other.to_string()),
            },
        )
    }
}

/// An object whose members are texts.
#[derive(Debug)]
struct Texts<'a>(&'a [(&'a str, &'a str)]);

impl Object for Texts<'_> {
    fn member(&self, name: &str) -> Option<Part<'_>> {
        let (_, text) = self.0.iter().find(|(known, _)| *known == name)?;
        Some(Part::Text(text))
    }

    fn members(&self) -> Vec<(&str, Part<'_>)> {
        let members = self.0.iter();
        members
            .map(|(name, text)| (*name, Part::Text(text)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(text: &str) -> Result<RequestText, String> {
        let compiled =
            RequestText::compile("headers", text, &mut |text| Ok(text.replace("${X}", "x")));
        compiled.map_err(|problems| problems[0].message.clone())
    }

    fn fill(text: &str, id: &str) -> Result<Option<String>, NoText> {
        let requested = Requested {
            session: id,
            id: "7",
            method: "tools/call",
            caller: None,
        };
        compile(text).expect("a valid text").fill(requested)
    }

    #[test]
    fn texts_contain_the_id() {
        let filled = |text, id| fill(text, id).expect("a value");
        assert_eq!(filled("a ${X}", "1").as_deref(), Some("a x"));
        assert_eq!(filled("${{ session.id }}", "1").as_deref(), Some("1"));
        assert_eq!(
            filled("${X}-${{ session.id }}!", "1").as_deref(),
            Some("x-1!")
        );
        assert_eq!(
            filled("${{ size(session.id) }}", "abc").as_deref(),
            Some("3")
        );
        assert_eq!(
            filled("${{ request.method }} ${{ request.id }}", "1").as_deref(),
            Some("tools/call 7")
        );
        assert_eq!(filled("${{ null }}", "1"), None);
        assert_eq!(filled("${{ session.id }}", "").as_deref(), Some(""));
    }

    #[test]
    fn texts_read_the_caller() {
        let text =
            compile("${{ caller.subject }} of ${{ caller.claims.tenant }}").expect("a valid text");
        assert!(text.reads_caller());
        let ann = serde_json::json!({ "subject": "ann", "claims": { "tenant": "acme" } });
        let requested = Requested {
            caller: ann.as_object(),
            ..Requested::default()
        };
        assert_eq!(text.fill(requested), Ok(Some("ann of acme".to_owned())));
        assert_eq!(
            text.fill(Requested::default()),
            Err(NoText(Failure::Absent))
        );
        assert!(!compile("${{ request.id }}").expect("a text").reads_caller());
    }

    #[test]
    fn expressions_can_read_nothing_else() {
        let problem = |text| compile(text).expect_err("a problem");
        let message = problem("${{ request.name }}");
        assert_eq!(message, "`request` has no `name`; it has `id` and `method`");
        let message = problem("${{ error.code }}");
        assert!(
            message.starts_with("`error` is not known in `headers`"),
            "{message}"
        );
        let message = problem("${{ session.client }}");
        assert_eq!(message, "`session` has no `client`; it has `id`");
    }

    #[test]
    fn failures_and_long_expressions_have_names() {
        let failure = fill("${{ 1 / (size(session.id) - 1) }}", "1").expect_err("a failure");
        assert_eq!(failure.to_string(), "the arithmetic has no result");
        let digits = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]";
        let long =
            format!("${{{{ {digits}.map(a, {digits}.map(b, {digits}.map(c, a + b + c))) }}}}");
        let message = compile(&long).expect_err("a problem");
        assert_eq!(
            message,
            "the expression takes too long to run for each message"
        );
    }

    #[test]
    fn texts_differ_by_their_variables() {
        let with = |value: &'static str| {
            RequestText::compile("headers", "${X}", &mut |_| Ok(value.to_owned()))
        };
        assert_eq!(with("1"), with("1"));
        assert_ne!(with("1"), with("2"));
    }
}
