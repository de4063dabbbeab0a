//! Errors while a project is created.

use std::{io, path::PathBuf};

use mcp_servlet_runtime::LoadError;

/// Why no project could be created from a bundle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Error {
    /// The bundle's plugin cannot be loaded.
    #[error("the bundle does not run")]
    Load(#[from] LoadError),
    /// The plugin failed to render a file.
    #[error("cannot render `{file}`: {message}")]
    Render {
        /// The path in the template.
        file: String,
        /// The error message of the plugin.
        message: String,
    },
    /// Two files of the template have the same path in the project.
    #[error("the template has two files `{file}`")]
    Twice {
        /// The path in the project.
        file: String,
    },
    /// The project's folder exists and is not empty.
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
        /// The error of the operating system.
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
