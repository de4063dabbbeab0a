//! What the `xtp` command does with a bundle: renders its template, writes the project, runs its scripts.

mod error;
mod manifest;
mod render;
mod scripts;
#[cfg(test)]
mod tests;
mod write;

pub use error::Error;
pub use manifest::{Manifest, MockInput, Test};
pub use render::render;
pub use scripts::run_script;
pub use write::{check_vacant, write};
