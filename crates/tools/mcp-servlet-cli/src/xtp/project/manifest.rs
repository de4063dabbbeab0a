//! `xtp.toml`: the scripts and tests of a project.

use std::{collections::BTreeMap, fs, io, path::Path};

use serde::Deserialize;

use super::Error;

/// The contents of `xtp.toml`. Keys of other tools are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Manifest {
    /// The path of the plugin, relative to the project's folder.
    pub(crate) bin: Option<String>,
    /// Command lines by name: `build`, `format`, `prepare`.
    pub(crate) scripts: BTreeMap<String, String>,
    /// The test modules to run.
    #[serde(rename = "test")]
    pub(crate) tests: Vec<Test>,
}

/// One `[[test]]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Test {
    /// The name.
    pub(crate) name: String,
    /// The command line that builds the test module.
    pub(crate) build: Option<String>,
    /// The test module.
    pub(crate) with: String,
    /// The module that implements the host functions of the plugin.
    pub(crate) mock_host: Option<String>,
    /// The result of `mock_input`.
    #[serde(default)]
    pub(crate) mock_input: MockInput,
}

/// The result of `mock_input`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct MockInput {
    /// The text itself.
    pub(crate) data: Option<String>,
    /// The path of a file with the text.
    pub(crate) file: Option<String>,
}

impl Manifest {
    /// Reads `xtp.toml` in a folder. A folder without one has no scripts and no tests.
    ///
    /// # Errors
    ///
    /// [`Error::Manifest`], if the file cannot be read or is invalid.
    pub(crate) fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join("xtp.toml");
        let problem = |problem| Error::Manifest {
            path: path.clone(),
            problem,
        };
        match fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map_err(|error| problem(error.to_string())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(problem(error.to_string())),
        }
    }
}
