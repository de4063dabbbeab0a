//! Reads and packs the bundles of `xtp plugin init`.
//!
//! A bundle is a plugin that renders text, a `config.yaml`, and the files of a template, in a folder or in a zip file
//! whose only folder is `bundle/`. This crate knows the files and runs no WebAssembly: the `servlet` command runs a
//! bundle.

mod config;
mod error;
mod pack;
mod read;

pub use config::{Config, FeatureFlag};
pub use error::Error;

/// The folder at the root of a zip file.
const ROOT: &str = "bundle";
const CONFIG: &str = "config.yaml";
const PLUGIN: &str = "plugin.wasm";
const TEMPLATE: &str = "template";

/// A bundle, in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// The contents of `config.yaml`.
    pub config: Config,
    /// The plugin that renders files: the bytes of a WebAssembly module.
    pub plugin: Vec<u8>,
    /// Folders and files of the template, each folder before what is in it, in the order of their paths.
    pub entries: Vec<Entry>,
    /// The source text of `config.yaml`.
    config_text: String,
}

/// A folder or a file of a template.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its path from the root of the template, with `/` between names. It never leads out of the template.
    pub path: String,
    /// Its bytes; `None` for a folder.
    pub contents: Option<Vec<u8>>,
    /// Whether it is executable, if the file system or the zip file records that.
    pub is_executable: bool,
}

impl Entry {
    /// A text file that is not executable.
    pub fn file(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            contents: Some(text.as_bytes().to_vec()),
            is_executable: false,
        }
    }
}
