//! What the official library says of a schema, in its own words and with its own paths.
//!
//! All official generators run one library before they generate. This module repeats what it
//! does, in its order: its texts, its paths without escapes, a problem within a list or a map
//! twice, and where it fails with a `TypeError`, [`Report::crashed`]. To judge a schema for our
//! own sake there is [`Mode::Compat`](crate::Mode), which reports each problem once and where
//! it stands.

mod cycles;
mod place;
mod script;
mod walk;

use std::collections::BTreeSet;

use crate::diagnostic::{self, Code, Diagnostics};
use crate::node::{self, Node};
use crate::span::Origin;

/// One thing that the library says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What is wrong.
    pub message: String,
    /// Where: keys joined by `/`, without escapes.
    pub path: String,
}

/// What the library makes of a schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Why it refuses the schema, in its order.
    pub errors: Vec<Finding>,
    /// What it warns of, in its order.
    pub warnings: Vec<Finding>,
    /// Whether it fails with a `TypeError` instead of an answer.
    pub crashed: bool,
}

impl Report {
    /// Whether the library takes the schema.
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

/// Asks the library, so to speak.
///
/// # Errors
/// If the text is neither YAML nor JSON, so that it never comes to the library.
pub fn report(name: &str, text: &str) -> Result<Report, Diagnostics> {
    let root = node::load(text, &Origin::new(name, text))?;
    Ok(of(&root))
}

/// What the library makes of a document that could be read.
fn of(root: &Node) -> Report {
    let mut walk = walk::Walk::new(root);
    // A failure leaves what was found so far, which the library itself would not tell.
    let crashed = walk.document().is_err();
    let mut report = walk.report;
    report.crashed = crashed;
    if report.accepted() {
        report.errors = cycles::find(root);
    }
    report
}

/// Notes what the library refuses and our own reading of the schema does not: what is wrong
/// below keys that mean nothing.
pub(crate) fn check(root: &Node, report: &mut diagnostic::Report) {
    let said = of(root);
    let mut seen = BTreeSet::new();
    for found in &said.errors {
        if seen.insert(&found.message) {
            let at = place::find(root, &found.path);
            report.error(Code::Library, &at, &found.message);
        }
    }
    if said.crashed {
        let message = "the official library fails at this schema with a `TypeError`";
        report.error(Code::Library, &place::find(root, "#"), message);
    }
}
