//! Why there is no bundle.

use std::{io, path::PathBuf};

/// Why a bundle could not be read, built or packed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder of the bundle could not be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is no zip file, or a broken one.
    #[error("cannot read `{}` as a zip file", path.display())]
    Zip {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: zip::result::ZipError,
    },
    /// Something that every bundle has is not there.
    #[error("`{}` is no bundle: it has no `{missing}`", path.display())]
    Missing {
        /// The folder or zip file.
        path: PathBuf,
        /// What is not there.
        missing: &'static str,
    },
    /// An entry is where it must not be, or what it must not be.
    #[error("the bundle's `{name}` {problem}")]
    Entry {
        /// The entry's name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// `config.yaml` is not what it should be.
    #[error("the bundle's `config.yaml`: {problem}")]
    Config {
        /// What is wrong with it.
        problem: String,
    },
    /// A program could not be started.
    #[error("cannot run `{program}`")]
    Run {
        /// The program.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The plugin of this repository does not build.
    #[error("the plugin of the template in `{}` does not build: cargo ended with {status}", checkout.display())]
    Build {
        /// The root of the repository.
        checkout: PathBuf,
        /// How cargo ended; it said why itself.
        status: std::process::ExitStatus,
    },
    /// The zip file could not be written.
    #[error("cannot pack the bundle")]
    Pack(#[from] zip::result::ZipError),
}
