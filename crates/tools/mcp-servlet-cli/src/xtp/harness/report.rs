//! The report of a run.

use serde::Serialize;

/// The report of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Report {
    /// The groups in the order in which they began. Assertions before the first group are in one without a name.
    pub(crate) groups: Vec<Group>,
    /// Why the test module stopped early.
    pub(crate) stopped: Option<String>,
}

/// A group of assertions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Group {
    /// The name.
    pub(crate) name: Option<String>,
    /// The assertions, in order.
    pub(crate) assertions: Vec<Assertion>,
}

/// One assertion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Assertion {
    /// The name.
    pub(crate) name: String,
    /// Whether it passed.
    pub(crate) passed: bool,
    /// The test module's explanation of a failure.
    pub(crate) reason: String,
}

impl Report {
    /// Whether all tests ran and every assertion passed.
    pub(crate) fn is_success(&self) -> bool {
        self.stopped.is_none() && self.assertions().all(|assertion| assertion.passed)
    }

    /// The assertions of all groups.
    pub(crate) fn assertions(&self) -> impl Iterator<Item = &Assertion> {
        self.groups.iter().flat_map(|group| &group.assertions)
    }

    pub(super) fn begin(&mut self, name: String) {
        self.groups.push(Group {
            name: Some(name),
            assertions: Vec::new(),
        });
    }

    pub(super) fn add(&mut self, assertion: Assertion) {
        if self.groups.is_empty() {
            self.groups.push(Group::default());
        }
        if let Some(group) = self.groups.last_mut() {
            group.assertions.push(assertion);
        }
    }
}
