//! Problems as plain data: no renderer, no colors, no exit codes.

mod code;

use std::fmt;

pub use self::code::Code;
use crate::span::{At, Origin, Span};

/// One problem of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What kind of problem it is. Its text never changes its meaning.
    pub code: Code,
    /// The text that has the problem.
    pub origin: Origin,
    /// Where in that text.
    pub span: Span,
    /// The same place as a JSON Pointer, for documents that were JSON before.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Adds what to do about the problem.
    pub(crate) fn help(&mut self, help: impl Into<String>) {
        self.help = Some(help.into());
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Span { line, column, .. } = self.span;
        let (origin, code, message) = (&self.origin, self.code, &self.message);
        write!(f, "{origin}:{line}:{column}: error[{code}]: {message}")?;
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

/// All problems of a schema, in the order of the text; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.render())]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// The problems in the order of the text.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    fn render(&self) -> String {
        let lines: Vec<String> = self.iter().map(ToString::to_string).collect();
        lines.join("\n")
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Collects the problems of one text.
#[derive(Debug)]
pub(crate) struct Report {
    origin: Origin,
    found: Vec<Diagnostic>,
}

impl Report {
    pub(crate) fn new(origin: &Origin) -> Self {
        Self {
            origin: origin.clone(),
            found: Vec::new(),
        }
    }

    /// Notes a problem and returns it, so that the caller can add a help.
    pub(crate) fn error(
        &mut self,
        code: Code,
        at: &At,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let next = self.found.len();
        self.found.push(Diagnostic {
            code,
            origin: self.origin.clone(),
            span: at.span,
            pointer: at.pointer.as_str().to_owned(),
            message: message.into(),
            help: None,
        });
        &mut self.found[next]
    }

    /// Takes over what another text's report found.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.found.append(&mut other.found);
    }

    /// The barrier between two phases: passes only without problems.
    pub(crate) fn finish(self) -> Result<(), Diagnostics> {
        if self.found.is_empty() {
            return Ok(());
        }
        Err(self.into_diagnostics())
    }

    /// The problems in the order of the text, those of this text before those of others.
    pub(crate) fn into_diagnostics(mut self) -> Diagnostics {
        let own = self.origin;
        // Stable, so that problems of one place stay in the order they were found.
        self.found
            .sort_by_key(|problem| (problem.origin != own, problem.span));
        Diagnostics(self.found)
    }
}
