//! Validates the catalog of a server, and the OpenAPI document that is made of it, with libraries of other projects.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use serde::Deserialize;

use super::{catalog_file, listing};
use crate::python;
use crate::serve::servlet;
use crate::shell::{output, root};

const LIBRARIES: [&str; 2] = ["jsonschema==4.26.0", "openapi-spec-validator==0.9.0"];
const SCRIPT: &str = "tests/clients/check_documents.py";
const SCHEMA: &str = "docs/catalog.schema.json";

/// The libraries, and where the documents are written.
pub(super) struct Checker<'a> {
    python: PathBuf,
    folder: &'a Path,
}

/// The line that the script prints.
#[derive(Deserialize)]
struct Counts {
    /// How many paths the items of the catalog need: one for each tool and prompt, and one for all resources.
    expected: usize,
    paths: usize,
}

impl<'a> Checker<'a> {
    pub(super) fn install(folder: &'a Path) -> anyhow::Result<Self> {
        let python = python::install("documents", &LIBRARIES)?;
        Ok(Self { python, folder })
    }

    /// Fails if a document of the server is not valid, or if a tool, a prompt or the resources have no path. Returns the number of
    /// paths.
    pub(super) fn check(&self, name: &str, server: &[String]) -> anyhow::Result<usize> {
        let catalog = catalog_file(self.folder, name);
        let document = self.folder.join(format!("{name}.openapi.json"));
        let mut list = listing("json", server);
        fs::write(&catalog, output(&mut list)?)?;
        let mut export = servlet();
        export.args(["export", "openapi"]).arg(&catalog);
        fs::write(&document, output(&mut export)?)?;
        let mut validate = Command::new(&self.python);
        validate.current_dir(root()).args([SCRIPT, SCHEMA]);
        let counts = output(validate.arg(&catalog).arg(&document))?;
        let counts: Counts = serde_json::from_str(&counts).context("the output of the script")?;
        if counts.paths != counts.expected {
            bail!("{} paths instead of {}", counts.paths, counts.expected);
        }
        Ok(counts.paths)
    }
}
