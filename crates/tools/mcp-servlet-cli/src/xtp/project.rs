//! Projects from templates: renders the template, writes the files, runs the scripts.

mod error;
mod manifest;
mod scripts;
mod template;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use error::Error;
pub(crate) use manifest::{Manifest, MockInput, Test};
pub(crate) use scripts::run_script;
pub(crate) use template::Template;
pub(crate) use write::{check_vacant, write};
