//! The official library's verdict on a schema, in its own words and with its own paths.
//!
//! All official generators run one library before they generate. This module repeats what it does, in its order: its
//! messages, its paths without escapes, a problem within a list or a map twice, and [`Report::crashed`] where it
//! fails with a `TypeError`. To judge a schema by the library's rules, use [`Mode::Compat`](crate::Mode), which
//! reports each problem once and with its place.

mod cycles;
mod place;
mod script;
mod walk;

use std::collections::BTreeSet;

use crate::diagnostic::{self, Code, Diagnostics};
use crate::node::{self, Node};
use crate::span::Origin;

/// One error or warning of the library.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What is wrong.
    pub message: String,
    /// Its path: keys joined by `/`, without escapes.
    pub path: String,
}

/// The library's verdict on a schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The errors, in the library's order.
    pub errors: Vec<Finding>,
    /// The warnings, in the library's order.
    pub warnings: Vec<Finding>,
    /// Whether it fails with a `TypeError` instead of an answer.
    pub crashed: bool,
}

impl Report {
    /// Whether the library accepts the schema.
    pub fn accepted(&self) -> bool {
        self.errors.is_empty() && !self.crashed
    }

    /// The text of the exception that it throws, if it refuses the schema.
    pub fn exception(&self) -> Option<String> {
        let first = &self.errors.first()?.message;
        Some(match self.errors.len() - 1 {
            0 => first.clone(),
            others => format!("{first} (and {others} other error(s))"),
        })
    }
}

/// Runs the same checks as the library.
///
/// # Errors
/// If the text is neither YAML nor JSON, so that the library would not see it.
pub fn report(name: &str, text: &str) -> Result<Report, Diagnostics> {
    let root = node::load(text, &Origin::new(name, text))?;
    Ok(of(&root))
}

/// The verdict on a document that could be read.
fn of(root: &Node) -> Report {
    let mut walk = walk::Walk::new(root);
    // A failure keeps the earlier findings, which the library itself would not report.
    let crashed = walk.document().is_err();
    let mut report = walk.report;
    report.crashed = crashed;
    if report.accepted() {
        report.errors = cycles::find(root);
    }
    report
}

/// Reports what the library refuses and our own reading accepts: mistakes below keys without a meaning.
pub(crate) fn check(root: &Node, report: &mut diagnostic::Report) {
    let reported = of(root);
    let mut seen = BTreeSet::new();
    for found in &reported.errors {
        if seen.insert(&found.message) {
            let at = place::find(root, &found.path);
            report.error(Code::Library, &at, &found.message);
        }
    }
    if reported.crashed {
        let message = "the official library fails at this schema with a `TypeError`";
        report.error(Code::Library, &place::find(root, "#"), message);
    }
}
