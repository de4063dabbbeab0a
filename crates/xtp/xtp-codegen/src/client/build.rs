//! Generates a client in `OUT_DIR`, for build scripts.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use mcp_catalog::{Catalog, Lists};

use super::{Client, ClientError, Warning};
use crate::names::snake;

/// Generates a typed client in a build script.
///
/// ```no_run
/// use xtp_codegen::client::{ClientBuild, ClientBuildError};
///
/// // The whole build.rs.
/// fn main() -> Result<(), ClientBuildError> {
///     ClientBuild::new("weather.catalog.json").only(["get_weather"]).generate()
/// }
/// ```
///
/// The file is named after the catalog: `mcp_caller::client!(pub mod weather);` in `src/lib.rs` makes a module of it.
#[derive(Clone, Debug)]
pub struct ClientBuild {
    catalog: PathBuf,
    client: Client,
}

/// Why a build script generated no client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientBuildError {
    /// The catalog could not be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// The path as the build script wrote it.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is not a catalog.
    #[error("`{}` is not a catalog: {source}", path.display())]
    Catalog {
        /// The path as the build script wrote it.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// No client can be generated from the catalog.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The generated file could not be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// Its path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// There is no folder to write to.
    #[error("`OUT_DIR` is not set: `generate` is for build scripts, `write_to` for other programs")]
    NoOutDir,
}

impl ClientBuild {
    /// A client of everything in this catalog, which `servlet catalog` has written. The path is relative to the package.
    pub fn new(catalog: impl Into<PathBuf>) -> Self {
        Self {
            catalog: catalog.into(),
            client: Client::new(),
        }
    }

    /// Names the client; by default it has the name of the server.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.client = self.client.name(name);
        self
    }

    /// Generates only the items of these names, URIs or URI templates.
    #[must_use]
    pub fn only<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.client = self.client.only(names);
        self
    }

    /// Generates into `OUT_DIR`, and prints warnings for cargo. Cargo runs the script again when the catalog changes.
    ///
    /// # Errors
    /// If a file cannot be read or written, or no client can be generated.
    #[expect(clippy::print_stdout, reason = "so build scripts talk to cargo")]
    pub fn generate(&self) -> Result<(), ClientBuildError> {
        println!("cargo::rerun-if-changed={}", self.catalog.display());
        let folder = env::var_os("OUT_DIR").ok_or(ClientBuildError::NoOutDir)?;
        let (_, warnings) = self.write_to(Path::new(&folder))?;
        for warning in warnings {
            // A line break in a name would begin another instruction.
            println!(
                "cargo::warning={}",
                warning.to_string().replace(['\r', '\n'], " ")
            );
        }
        Ok(())
    }

    /// Generates into a folder. Returns the file's path and what has no Rust type.
    ///
    /// # Errors
    /// As [`generate`](Self::generate).
    pub fn write_to(&self, folder: &Path) -> Result<(PathBuf, Vec<Warning>), ClientBuildError> {
        let catalog = self.read()?;
        let generated = self.client.generate(&catalog)?;
        let name = self
            .catalog
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let stem = name.split('.').next().unwrap_or_default();
        let path = folder.join(format!("{}.rs", snake(stem)));
        match fs::write(&path, generated.rust) {
            Ok(()) => Ok((path, generated.warnings)),
            Err(source) => Err(ClientBuildError::Write { path, source }),
        }
    }

    /// Reads the catalog, or the lists of a server.
    fn read(&self) -> Result<Catalog, ClientBuildError> {
        let path = || self.catalog.clone();
        let text = fs::read_to_string(&self.catalog).map_err(|source| ClientBuildError::Read {
            path: path(),
            source,
        })?;
        // Some editors write a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        serde_json::from_str(text).or_else(|source| match serde_json::from_str::<Lists>(text) {
            Ok(lists) => Ok(Catalog::from(&lists)),
            Err(_) => Err(ClientBuildError::Catalog {
                path: path(),
                source,
            }),
        })
    }
}
