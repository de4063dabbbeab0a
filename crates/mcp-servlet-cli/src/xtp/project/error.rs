//! Why there is no project.

use std::{io, path::PathBuf};

use mcp_servlet_runtime::LoadError;

/// Why a bundle did not become a project.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Error {
    /// The bundle's plugin does not load.
    #[error("the bundle does not run")]
    Load(#[from] LoadError),
    /// The plugin does not render a file.
    #[error("cannot render `{file}`: {message}")]
    Render {
        /// The file in the template.
        file: String,
        /// What the plugin said.
        message: String,
    },
    /// Two files of the template have one name in the project.
    #[error("the template has two files `{file}`")]
    Twice {
        /// The file in the project.
        file: String,
    },
    /// The project's folder exists.
    #[error("`{}` exists already, and is not empty", folder.display())]
    Exists {
        /// The folder.
        folder: PathBuf,
    },
    /// A file could not be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// `xtp.toml` could not be read.
    #[error("cannot read `{}`: {problem}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}
