//! Everything that can go wrong with a module, each with the place where it did.

mod call;
mod fetch;

use std::{io, path::PathBuf};

use crate::{
    inspect::{Import, Unreadable},
    text::quoted,
};
pub use call::{CallError, CallErrorKind, Site};
pub use fetch::FetchError;

/// Why a module was not loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file could not be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file that was asked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The address did not give a file.
    #[error("cannot fetch `{url}`")]
    Fetch {
        /// The address that was asked for.
        url: String,
        /// What was in the way.
        source: FetchError,
    },
    /// The module is not the one that was asked for.
    #[error(
        "`{origin}` is not the file that was asked for: its SHA-256 digest is {found}, not {expected}"
    )]
    Digest {
        /// Where it comes from.
        origin: String,
        /// The digest that it should have, in hexadecimal.
        expected: String,
        /// The digest that it has.
        found: String,
    },
    /// The digest that was asked for is none.
    #[error("`{digest}` is no SHA-256 digest: expected 64 hexadecimal digits")]
    NoDigest {
        /// The text in question.
        digest: String,
    },
    /// There is nothing to load.
    #[error("there is no `.wasm` file in `{}`", path.display())]
    EmptyDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// The bytes are no core WebAssembly module.
    #[error("cannot load `{servlet}`")]
    Unreadable {
        /// The servlet's name.
        servlet: String,
        /// What the bytes are instead.
        source: Unreadable,
    },
    /// The module does not have the exports of a servlet.
    #[error("`{servlet}` is no servlet: it does not export {}", quoted(missing))]
    MissingExports {
        /// The servlet's name.
        servlet: String,
        /// The exports that every servlet has and this one lacks.
        missing: Vec<String>,
        /// The functions it does export.
        found: Vec<String>,
    },
    /// The module needs functions that this host does not have.
    #[error(
        "`{servlet}` imports what this host does not have: {}",
        quoted(imports)
    )]
    UnknownImports {
        /// The servlet's name.
        servlet: String,
        /// The imports in question.
        imports: Vec<Import>,
    },
    /// A directory that the servlet should see cannot be opened.
    #[error("cannot give `{servlet}` the directory `{}`", path.display())]
    AllowedPath {
        /// The servlet's name.
        servlet: String,
        /// The directory on the host.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The directory for compiled modules cannot be used.
    #[error("cannot keep compiled modules in `{}`", directory.display())]
    Cache {
        /// The directory.
        directory: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The WebAssembly runtime refused the module.
    #[error("cannot compile `{servlet}`: {message}")]
    Compile {
        /// The servlet's name.
        servlet: String,
        /// What the runtime said.
        message: String,
    },
    /// The servlet failed before it could be called.
    #[error("`{servlet}` does not start: {message}")]
    Start {
        /// The servlet's name.
        servlet: String,
        /// What stopped it.
        message: String,
    },
}

impl LoadError {
    /// What to do about it, where that can be said in general.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Unreadable { source, .. } => source.help().map(str::to_owned),
            Self::MissingExports { found, .. } if found.is_empty() => {
                Some("is the crate a `cdylib`, and does it say `mcp_servlet::export!`?".into())
            }
            Self::MissingExports { found, .. } => Some(format!("it exports {}", quoted(found))),
            Self::UnknownImports { imports, .. } => {
                if imports.iter().any(Import::is_wasm_bindgen) {
                    let text = "a dependency is built for browsers (wasm-bindgen); `servlet build` names it";
                    return Some(text.into());
                }
                imports.iter().any(Import::is_secret).then(|| {
                    "this host keeps no secrets or access tokens for servlets: put them into the servlet's configuration"
                        .into()
                })
            }
            _ => None,
        }
    }
}
