//! `xtp.toml`: the scripts and the tests of a project.

use std::{collections::BTreeMap, fs, io, path::Path};

use serde::Deserialize;

use super::Error;

/// What `xtp.toml` says; keys of other tools are passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Manifest {
    /// The plugin that is tested, from the project's folder.
    pub(crate) bin: Option<String>,
    /// Command lines by their names: `build`, `format`, `prepare`.
    pub(crate) scripts: BTreeMap<String, String>,
    /// The test modules to run.
    #[serde(rename = "test")]
    pub(crate) tests: Vec<Test>,
}

/// One `[[test]]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Test {
    /// Its name.
    pub(crate) name: String,
    /// A command line that builds the test module.
    pub(crate) build: Option<String>,
    /// The test module.
    pub(crate) with: String,
    /// The module whose exports stand in for the host's functions.
    pub(crate) mock_host: Option<String>,
    /// What the test module gets when it asks for input.
    #[serde(default)]
    pub(crate) mock_input: MockInput,
}

/// What a test module gets when it asks for input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct MockInput {
    /// This text.
    pub(crate) data: Option<String>,
    /// The contents of this file.
    pub(crate) file: Option<String>,
}

impl Manifest {
    /// Reads `xtp.toml` in a folder; a folder without one has no scripts and no tests.
    ///
    /// # Errors
    ///
    /// [`Error::Manifest`], if the file cannot be read or says something that it cannot say.
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
