//! Projects from XTP bundles: renders the template, writes the files, runs the scripts.

mod error;
mod manifest;
mod render;
mod scripts;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use error::Error;
pub(crate) use manifest::{Manifest, MockInput, Test};
pub(crate) use render::render;
pub(crate) use scripts::run_script;
pub(crate) use write::{check_vacant, write};
