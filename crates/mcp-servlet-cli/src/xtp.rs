//! What the `xtp` command does: projects from templates, and test modules.

pub(crate) mod harness;
pub(crate) mod project;
