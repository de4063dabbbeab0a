//! Errors of reading and packing a bundle.

use std::{io, path::PathBuf};

/// Why a bundle could not be read or packed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder of the bundle could not be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is not a zip file, or it is damaged.
    #[error("cannot read `{}` as a zip file", path.display())]
    Zip {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: zip::result::ZipError,
    },
    /// A part that every bundle has is missing.
    #[error("`{}` is not a bundle: `{missing}` is missing", path.display())]
    Missing {
        /// The folder or zip file.
        path: PathBuf,
        /// The missing part.
        missing: &'static str,
    },
    /// An entry has a name or a kind that a bundle cannot have.
    #[error("the bundle's `{name}` {problem}")]
    Entry {
        /// The entry's name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// `config.yaml` is invalid.
    #[error("the bundle's `config.yaml`: {problem}")]
    Config {
        /// What is wrong with it.
        problem: String,
    },
    /// The zip file could not be written.
    #[error("cannot pack the bundle")]
    Pack(#[from] zip::result::ZipError),
}
