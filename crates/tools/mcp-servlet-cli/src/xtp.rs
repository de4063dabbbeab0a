//! The functions of the `xtp` command: projects from templates, and test modules.

pub(crate) mod harness;
pub(crate) mod project;
