//! Problems as plain data: no renderer, no colors, no exit codes.

mod code;
mod json;
#[cfg(feature = "miette")]
mod picture;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub use self::code::Code;
use crate::rules::{Mode, ReadOptions, Rule, Severity};
use crate::span::{At, Origin, Span};

/// One problem of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Whether it stops the generator.
    pub severity: Severity,
    /// The kind of problem. The meaning of a code never changes.
    pub code: Code,
    /// The source with the problem.
    pub origin: Origin,
    /// The position in that source.
    pub span: Span,
    /// The same position as a JSON Pointer, for callers that have the document as JSON and not as text.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it. Every problem has one.
    pub help: String,
}

impl Diagnostic {
    /// Replaces the help of the code by a better one.
    pub(crate) fn help(&mut self, help: impl Into<String>) {
        self.help = help.into();
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// One paragraph: position, severity, code and message, and below them the help.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Span { line, column, .. } = self.span;
        let (origin, code, message) = (&self.origin, self.code, &self.message);
        let (severity, help) = (self.severity, &self.help);
        write!(
            f,
            "{origin}:{line}:{column}: {severity}[{code}]: {message}\n  help: {help}"
        )
    }
}

/// How many problems people see at once.
const MAX_SHOWN_PROBLEMS: usize = 50;

/// Problems of a schema, in the order of the source.
///
/// As an error it is never empty. `Display` gives plain text, one paragraph for each problem,
/// and [`to_json`](Self::to_json) what editors read; with the feature `miette`,
/// `Diagnostics::to_picture` shows the lines they point at.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.render())]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// The problems in the order of the source.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// Whether there are no problems.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of the problems stops the generator.
    pub fn has_errors(&self) -> bool {
        self.iter().any(|found| found.severity == Severity::Error)
    }

    /// The problems without those that a caller does not want.
    pub(crate) fn without(&self, unwanted: impl Fn(&Diagnostic) -> bool) -> Self {
        let wanted = self.iter().filter(|problem| !unwanted(problem));
        Self(wanted.cloned().collect())
    }

    /// The problems that people see: all of them, or the first ones of very many, with errors before warnings.
    pub fn shown(&self) -> impl Iterator<Item = &Diagnostic> {
        let mut shown: Vec<_> = self.iter().enumerate().collect();
        if shown.len() > MAX_SHOWN_PROBLEMS {
            shown.sort_by_key(|(_, problem)| problem.severity);
            shown.truncate(MAX_SHOWN_PROBLEMS);
            shown.sort_by_key(|(index, _)| *index);
        }
        shown.into_iter().map(|(_, problem)| problem)
    }

    /// A sentence with the number of problems that [`shown`](Self::shown) leaves out.
    pub fn more(&self) -> Option<String> {
        let more = self
            .0
            .len()
            .checked_sub(MAX_SHOWN_PROBLEMS)
            .filter(|more| *more > 0)?;
        let s = if more == 1 { "" } else { "s" };
        Some(format!(
            "{more} more problem{s}; `servlet gen --format json` prints all"
        ))
    }

    fn render(&self) -> String {
        let shown = self.shown().map(ToString::to_string);
        let lines: Vec<String> = shown.chain(self.more()).collect();
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

/// Collects the problems of one source.
#[derive(Debug)]
pub(crate) struct Report {
    origin: Origin,
    pub(crate) options: ReadOptions,
    found: Vec<Diagnostic>,
    /// The last problem that the mode ignores, so that callers can add a help all the same.
    suppressed: Option<Diagnostic>,
}

impl Report {
    pub(crate) fn new(origin: &Origin, options: ReadOptions) -> Self {
        Self {
            origin: origin.clone(),
            options,
            found: Vec::new(),
            suppressed: None,
        }
    }

    /// A report for problems that do not depend on the mode.
    pub(crate) fn plain(origin: &Origin) -> Self {
        Self::new(origin, ReadOptions::default())
    }

    /// Reports an error in every mode, and returns it so that the caller can add a help.
    pub(crate) fn error(
        &mut self,
        code: Code,
        at: &At,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        self.add(Rule::Always, code, at, message)
    }

    /// Reports a problem with the severity that the mode gives it, and returns it so that the caller can add a help.
    pub(crate) fn add(
        &mut self,
        rule: Rule,
        code: Code,
        at: &At,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let severity = rule.severity(self.options.mode);
        let problem = Diagnostic {
            severity: severity.unwrap_or(Severity::Warning),
            code,
            origin: self.origin.clone(),
            span: at.span,
            pointer: at.pointer.as_str().to_owned(),
            message: message.into(),
            help: code.advice().to_owned(),
        };
        if severity.is_none() {
            return self.suppressed.insert(problem);
        }
        let next = self.found.len();
        self.found.push(problem);
        &mut self.found[next]
    }

    /// Whether the official library's rules apply.
    pub(crate) fn is_compat(&self) -> bool {
        self.options.mode == Mode::Compat
    }

    /// Runs checks that only the official library makes. Their errors have a code of their own, except where the
    /// document has an error already.
    pub(crate) fn only_by_the_library(&mut self, check: impl FnOnce(&mut Self)) {
        let before = std::mem::take(&mut self.found);
        check(self);
        let added = std::mem::replace(&mut self.found, before);
        let is_error = |problem: &Diagnostic| problem.severity == Severity::Error;
        let errors = self.found.iter().filter(|problem| is_error(problem));
        let mut seen: BTreeSet<Span> = errors.map(|problem| problem.span).collect();
        for mut problem in added {
            if is_error(&problem) && seen.insert(problem.span) {
                problem.code = Code::Library;
                problem.help(Code::Library.advice());
                self.found.push(problem);
            }
        }
    }

    /// Ends a phase: fails if there are errors, else returns the warnings.
    pub(crate) fn finish(self) -> Result<Diagnostics, Diagnostics> {
        let found = self.into_diagnostics();
        if found.has_errors() {
            Err(found)
        } else {
            Ok(found)
        }
    }

    /// The problems in the order of the source: first those of this source, then those of others.
    pub(crate) fn into_diagnostics(mut self) -> Diagnostics {
        self.drop_repeated();
        self.drop_general();
        let own = self.origin;
        // A stable sort keeps problems at one position in the order in which they were found.
        self.found
            .sort_by_key(|problem| (problem.origin != own, problem.span));
        Diagnostics(self.found)
    }

    /// Keeps one problem per position: aliases repeat the problems of the node that they copy.
    fn drop_repeated(&mut self) {
        let mut seen = BTreeSet::new();
        self.found.retain(|problem| {
            let place = (problem.origin.to_string(), problem.span, problem.code);
            seen.insert((place, problem.message.clone()))
        });
    }

    /// Merges the problem that a key is not in the published rules into another problem at the same position.
    fn drop_general(&mut self) {
        let place = |problem: &Diagnostic| (problem.origin.to_string(), problem.pointer.clone());
        let (general, mut specific): (Vec<_>, Vec<_>) = std::mem::take(&mut self.found)
            .into_iter()
            .partition(|problem| problem.code == Code::BeyondPublished);
        let mut first = BTreeMap::new();
        for (index, problem) in specific.iter().enumerate() {
            first.entry(place(problem)).or_insert(index);
        }
        for problem in general {
            match first.get(&place(&problem)) {
                Some(index) => {
                    let other = &mut specific[*index];
                    other.severity = other.severity.min(problem.severity);
                }
                None => self.found.push(problem),
            }
        }
        self.found.append(&mut specific);
    }
}
