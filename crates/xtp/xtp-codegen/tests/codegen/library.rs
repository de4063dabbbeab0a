//! The official library's verdict on a schema, in its own words and with its own paths.
//!
//! All official generators run one library before they generate. This module repeats what it does, in its order: its
//! messages, its paths without escapes, and a problem within a list or a map twice. The tests compare
//! [`Mode::Compat`](xtp_codegen::Mode) with it.

mod cycles;
mod missed;
mod script;
mod walk;

pub(crate) use self::missed::missed;
use super::yaml;

/// One error of the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) message: String,
    /// Keys joined by `/`, without escapes. A problem in a list or a map has the path of its parent, too.
    pub(crate) path: String,
    /// The keys that lead to the problem.
    pub(crate) place: Vec<String>,
}

/// The library's verdict on a schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// The errors, in the library's order.
    pub(crate) errors: Vec<Finding>,
    /// The place at which it fails with a `TypeError` instead of an answer.
    pub(crate) crashed: Option<Vec<String>>,
}

impl Report {
    pub(crate) fn accepted(&self) -> bool {
        self.errors.is_empty() && self.crashed.is_none()
    }

    /// The places of everything that it refuses.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Vec<String>> {
        let errors = self.errors.iter().map(|found| &found.place);
        errors.chain(&self.crashed)
    }
}

/// Runs the same checks as the library.
pub(crate) fn report(text: &str) -> Report {
    let root = yaml::load(text);
    let mut walk = walk::Walk::new(&root);
    // A failure keeps the earlier findings, which the library itself would not report.
    let crashed = walk.document().is_err();
    let place = walk.place(&[]);
    let mut report = walk.report;
    report.crashed = crashed.then_some(place);
    if report.accepted() {
        report.errors = cycles::find(&root);
    }
    report
}

/// Whether a name matches `^[a-zA-Z_$][a-zA-Z0-9_$]*$`.
pub(crate) fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    let sign = |c: char| c == '_' || c == '$';
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || sign(c))
        && chars.all(|c| c.is_ascii_alphanumeric() || sign(c))
}
