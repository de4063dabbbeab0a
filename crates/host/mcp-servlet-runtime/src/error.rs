//! Errors of modules.

mod fetch;

use std::{io, path::PathBuf};

use mcp_servlet_common::quoted;
pub use mcp_servlet_oci::Error as RegistryError;

use crate::inspect::{Import, Unreadable};
pub use fetch::FetchError;

/// Why a module was not loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file could not be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The URL could not be fetched.
    #[error("cannot fetch `{url}`")]
    Fetch {
        /// The URL, without secrets.
        url: String,
        /// Why it could not be fetched.
        source: FetchError,
    },
    /// The image could not be pulled.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The module does not have the expected digest.
    #[error("`{origin}` has the wrong SHA-256 digest: expected {expected}, found {found}")]
    Digest {
        /// The origin of the module.
        origin: String,
        /// The expected digest, in hexadecimal.
        expected: String,
        /// The digest of the module.
        found: String,
    },
    /// The module is not signed by one of the keys.
    #[error("`{origin}` is not signed by one of the keys: {}", if *found { "its signature is by another key, or of another file" } else { "it has no signature in a file with the ending `.sigstore.json` next to it" })]
    NotSigned {
        /// The origin of the module.
        origin: String,
        /// Whether there is a file that should have the signature.
        found: bool,
    },
    /// The expected digest is not a SHA-256 digest.
    #[error("invalid SHA-256 digest `{digest}`: expected 64 hexadecimal digits")]
    NoDigest {
        /// The text that should be a digest.
        digest: String,
    },
    /// The directory contains no `.wasm` file.
    #[error("there is no `.wasm` file in `{}`", path.display())]
    EmptyDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// The bytes are not a core WebAssembly module, or exceed a limit.
    #[error("cannot load `{servlet}`")]
    Unreadable {
        /// The servlet's name.
        servlet: String,
        /// Why the module cannot be read.
        source: Unreadable,
    },
    /// The module does not have the exports of a servlet.
    #[error("`{servlet}` is not a servlet: it does not export {}", quoted(missing))]
    MissingExports {
        /// The servlet's name.
        servlet: String,
        /// The required exports that are missing.
        missing: Vec<String>,
        /// The functions that the module exports.
        found: Vec<String>,
    },
    /// The module imports functions that this host does not provide.
    #[error(
        "`{servlet}` imports functions that this host does not provide: {}",
        quoted(imports)
    )]
    UnknownImports {
        /// The servlet's name.
        servlet: String,
        /// The unknown imports.
        imports: Vec<Import>,
    },
    /// A directory that the servlet may access cannot be opened.
    #[error("cannot open the directory `{}` for `{servlet}`", path.display())]
    AllowedPath {
        /// The servlet's name.
        servlet: String,
        /// The directory on the host.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The directory for compiled modules cannot be used.
    #[error("cannot cache compiled modules in `{}`", directory.display())]
    Cache {
        /// The directory.
        directory: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The WebAssembly runtime refused the module.
    #[error("cannot compile `{servlet}`: {message}")]
    Compile {
        /// The servlet's name.
        servlet: String,
        /// The message of the runtime.
        message: String,
    },
    /// The servlet failed before its first call.
    #[error("`{servlet}` does not start: {message}")]
    Start {
        /// The servlet's name.
        servlet: String,
        /// Why it failed.
        message: String,
    },
}

impl LoadError {
    /// Whether the module comes from a URL or a registry that could not be reached. A later attempt may succeed.
    pub fn is_unreachable(&self) -> bool {
        match self {
            Self::Registry(error) => error.is_outage(),
            Self::Fetch { source, .. } => matches!(source, FetchError::Send(_)),
            _ => false,
        }
    }

    /// How to fix the error, if there is general advice.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Registry(error) => Some(error.help()),
            Self::Unreadable { source, .. } => source.help().map(str::to_owned),
            Self::MissingExports { found, .. } if found.is_empty() => {
                Some("is the crate a `cdylib`, and does it use `mcp_servlet::export!`?".into())
            }
            Self::MissingExports { found, .. } => Some(format!("it exports {}", quoted(found))),
            Self::UnknownImports { imports, .. } => {
                if imports.iter().any(Import::is_wasm_bindgen) {
                    let text = "a dependency is built for browsers (wasm-bindgen); `servlet build` names it";
                    return Some(text.into());
                }
                imports.iter().any(Import::is_secret).then(|| {
                    "this host does not store secrets or access tokens for servlets; set them in the servlet's configuration"
                        .into()
                })
            }
            _ => None,
        }
    }
}
