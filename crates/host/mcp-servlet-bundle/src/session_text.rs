//! Texts with expressions over the session of a client, such as headers of responses.

use std::fmt;

use serde_json::Value;

use crate::{
    expression::{Budget, Failure},
    problem::{Place, Problem},
    scope::{Object, Part, Scope},
    shape::{Names, members},
    template::{Expand, Failed, Template},
};

/// As long as the ids of sessions are.
const SAMPLE: &str = "00000000-0000-0000-0000-000000000000";

/// A text with expressions that can read the id of a session: `${{ session.id }}`.
#[derive(Clone)]
pub struct SessionText {
    template: Template,
    /// The text before its expressions are compiled, and its parts with the values of variables. They tell two texts apart.
    written: String,
    parts: Vec<String>,
}

/// An expression of a [`SessionText`] has no value. The message shows neither values nor constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoText(Failure);

impl fmt::Display for NoText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for NoText {}

impl PartialEq for SessionText {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written && self.parts == other.parts
    }
}

impl Eq for SessionText {}

impl fmt::Debug for SessionText {
    /// Constants may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionText")
    }
}

impl SessionText {
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
        let names = Names {
            place: key,
            roots: vec![("session", members(&["id"]))],
        };
        template.each(&place, &mut |place, start, expression| {
            names.check(expression, place, start, &mut problems);
        });
        let compiled = Self {
            template,
            written: text.to_owned(),
            parts,
        };
        if problems.is_empty() && compiled.fill(SAMPLE) == Err(NoText(Failure::Budget)) {
            let message = "the expression takes too long to run for each response";
            problems.push(Problem::new(place, message));
        }
        if problems.is_empty() {
            Ok(compiled)
        } else {
            Err(problems)
        }
    }

    /// The text for a session with this id, which is empty if the protocol version has no sessions. `None` if the text
    /// is one expression without a value.
    ///
    /// # Errors
    /// If an expression has no value. Expressions may only take a few steps, because this blocks the thread.
    pub fn fill(&self, session: &str) -> Result<Option<String>, NoText> {
        let view = SessionView(session);
        let scope = Scope::of_session(Part::Object(&view));
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

/// What the expressions see of a session.
#[derive(Debug)]
struct SessionView<'a>(&'a str);

impl Object for SessionView<'_> {
    fn member(&self, name: &str) -> Option<Part<'_>> {
        (name == "id").then_some(Part::Text(self.0))
    }

    fn members(&self) -> Vec<(&str, Part<'_>)> {
        vec![("id", Part::Text(self.0))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(text: &str) -> Result<SessionText, String> {
        let compiled =
            SessionText::compile("headers", text, &mut |text| Ok(text.replace("${X}", "x")));
        compiled.map_err(|problems| problems[0].message.clone())
    }

    fn fill(text: &str, id: &str) -> Result<Option<String>, NoText> {
        compile(text).expect("a valid text").fill(id)
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
        assert_eq!(filled("${{ null }}", "1"), None);
        assert_eq!(filled("${{ session.id }}", "").as_deref(), Some(""));
    }

    #[test]
    fn expressions_can_read_nothing_else() {
        let problem = |text| compile(text).expect_err("a problem");
        let message = problem("${{ request.name }}");
        assert!(
            message.starts_with("`request` is not known in `headers`"),
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
            "the expression takes too long to run for each response"
        );
    }

    #[test]
    fn texts_differ_by_their_variables() {
        let with = |value: &'static str| {
            SessionText::compile("headers", "${X}", &mut |_| Ok(value.to_owned()))
        };
        assert_eq!(with("1"), with("1"));
        assert_ne!(with("1"), with("2"));
    }
}
