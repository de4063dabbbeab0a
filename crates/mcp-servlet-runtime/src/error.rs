//! Everything that can go wrong with a module, each with the place where it did.

mod fetch;

use std::{io, path::PathBuf, time::Duration};

use crate::{
    fault::Fault,
    help::file_help,
    inspect::{Import, Unreadable},
    text::quoted,
};
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

/// Why a call gave no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No servlet has a tool of that name.
    #[error("unknown tool `{tool}`")]
    UnknownTool {
        /// The name that was asked for.
        tool: String,
        /// A tool whose name looks like it.
        similar: Option<String>,
    },
    /// No servlet has a prompt of that name.
    #[error("unknown prompt `{prompt}`")]
    UnknownPrompt {
        /// The name that was asked for.
        prompt: String,
        /// A prompt whose name looks like it.
        similar: Option<String>,
    },
    /// There is nothing at that address.
    #[error("resource not found: {uri}")]
    UnknownResource {
        /// The address that was asked for.
        uri: String,
    },
    /// The servlet raised an error of its own, by name or as plain text.
    #[error("{}", fault.message)]
    Fault {
        /// The servlet's name.
        servlet: String,
        /// The export that was running.
        export: &'static str,
        /// What the servlet said.
        fault: Box<Fault>,
    },
    /// The servlet said why and then stopped, as a panic does.
    #[error("servlet `{servlet}` stopped in `{export}`: {message}")]
    Panic {
        /// The servlet's name.
        servlet: String,
        /// The export that was running.
        export: &'static str,
        /// What it said.
        message: String,
    },
    /// The runtime stopped the servlet.
    #[error("servlet `{servlet}` trapped in `{export}`: {message}")]
    Trap {
        /// The servlet's name.
        servlet: String,
        /// The export that was running.
        export: &'static str,
        /// The reason the runtime gives.
        message: String,
    },
    /// The servlet asked for an HTTP request that its options do not allow.
    #[error("servlet `{servlet}` may not send a request to `{url}`")]
    HostDenied {
        /// The servlet's name.
        servlet: String,
        /// The export that was running.
        export: &'static str,
        /// The origin to which the request would have gone: there may be secrets in the rest of a URL.
        url: String,
        /// What allows it, such as `--allow-host api.example`.
        option: String,
    },
    /// The call ran longer than its options allow.
    #[error("servlet `{servlet}` did not finish `{export}` within {limit:?}")]
    Timeout {
        /// The servlet's name.
        servlet: String,
        /// The export that was running.
        export: &'static str,
        /// The time it had.
        limit: Duration,
    },
    /// The call needed more memory than its options allow.
    #[error("servlet `{servlet}` ran out of memory in `{export}`: the limit is {limit} bytes")]
    OutOfMemory {
        /// The servlet's name.
        servlet: String,
        /// The export that was running.
        export: &'static str,
        /// The memory it had.
        limit: u64,
    },
    /// No new instance could be made.
    #[error("servlet `{servlet}` does not start: {message}")]
    Start {
        /// The servlet's name.
        servlet: String,
        /// What stopped it.
        message: String,
    },
    /// As many calls run and wait as may.
    #[error("servlet `{servlet}` is busy: {waiting} calls wait for it already")]
    Busy {
        /// The servlet's name.
        servlet: String,
        /// How many calls were waiting.
        waiting: usize,
    },
    /// No instance became free in time.
    #[error("servlet `{servlet}` is busy: no instance became free within {limit:?}")]
    Waited {
        /// The servlet's name.
        servlet: String,
        /// How long the call waited.
        limit: Duration,
    },
    /// Whoever asked does not want the result any more.
    #[error("the call was cancelled")]
    Cancelled,
    /// The servlet answered more than its options allow.
    #[error(
        "servlet `{servlet}` answered too much in `{export}`: {size} bytes, and {limit} is the limit"
    )]
    OutputTooLarge {
        /// The servlet's name.
        servlet: String,
        /// The export that was running.
        export: &'static str,
        /// How many bytes it wrote.
        size: u64,
        /// How many it may write.
        limit: u64,
    },
    /// The servlet answered with something that is no result.
    #[error("servlet `{servlet}` answered wrongly: output of `{export}`, {at}: {problem}")]
    BadOutput {
        /// The servlet's name.
        servlet: String,
        /// The export that was running.
        export: &'static str,
        /// A JSON pointer, or the line and column of a syntax error.
        at: String,
        /// What is wrong there.
        problem: String,
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

impl CallError {
    /// The name of the kind of error in metrics, such as `timeout`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::UnknownTool { .. } => "unknown_tool",
            Self::UnknownPrompt { .. } => "unknown_prompt",
            Self::UnknownResource { .. } => "unknown_resource",
            Self::Fault { .. } => "fault",
            Self::Panic { .. } => "panic",
            Self::Trap { .. } => "trap",
            Self::HostDenied { .. } => "host_denied",
            Self::Timeout { .. } => "timeout",
            Self::OutOfMemory { .. } => "out_of_memory",
            Self::Start { .. } => "start",
            Self::Busy { .. } | Self::Waited { .. } => "busy",
            Self::Cancelled => "cancelled",
            Self::OutputTooLarge { .. } => "output_too_large",
            Self::BadOutput { .. } => "bad_output",
        }
    }

    /// What to do about it, where that can be said in general.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::UnknownPrompt { similar, .. } => similar
                .as_ref()
                .map(|name| format!("there is a prompt `{name}`")),
            Self::UnknownTool { similar, .. } => similar
                .as_ref()
                .map(|name| format!("there is a tool `{name}`")),
            _ => file_help(&self.to_string()),
        }
    }

    /// The error as JSON-RPC sends it.
    pub fn to_fault(&self) -> Fault {
        let internal =
            |servlet: &String, export| Fault::internal(servlet, export, self.to_string());
        match self {
            Self::UnknownTool { similar, .. } | Self::UnknownPrompt { similar, .. } => Fault {
                code: Fault::INVALID_PARAMS,
                message: self.to_string(),
                data: similar
                    .as_ref()
                    .map(|name| serde_json::json!({ "similar": name })),
            },
            Self::UnknownResource { uri } => Fault {
                code: Fault::RESOURCE_NOT_FOUND,
                message: self.to_string(),
                data: Some(serde_json::json!({ "uri": uri })),
            },
            Self::Fault { fault, .. } => Fault::clone(fault),
            Self::Busy { servlet, .. } | Self::Waited { servlet, .. } => Fault {
                code: Fault::BUSY,
                message: self.to_string(),
                data: Some(serde_json::json!({ "servlet": servlet, "retry": true })),
            },
            Self::Start { servlet, .. } => internal(servlet, None),
            Self::Cancelled => Fault {
                code: Fault::INTERNAL,
                message: self.to_string(),
                data: None,
            },
            Self::Panic {
                servlet, export, ..
            }
            | Self::Trap {
                servlet, export, ..
            }
            | Self::HostDenied {
                servlet, export, ..
            }
            | Self::Timeout {
                servlet, export, ..
            }
            | Self::OutOfMemory {
                servlet, export, ..
            }
            | Self::OutputTooLarge {
                servlet, export, ..
            }
            | Self::BadOutput {
                servlet, export, ..
            } => internal(servlet, Some(*export)),
        }
    }
}
