//! Why a call gave no result.

mod remote;

use std::{fmt, time::Duration};

use mcp_servlet_common::{FailureKind, RpcError};
use serde_json::json;

use crate::help::file_help;
pub use remote::RemoteFailure;

/// Why a call gave no result, and where.
///
/// [`CallErrorKind::at`] makes an error of a servlet, and [`CallError::cancelled`] and the functions
/// next to it make the errors of calls that belong to no servlet.
#[derive(Debug)]
#[non_exhaustive]
pub struct CallError {
    /// Where it failed; `None` if no servlet or remote has what the request names, or if the caller cancelled it.
    pub site: Option<Site>,
    /// Why it failed.
    pub kind: CallErrorKind,
}

/// Where a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The name of the servlet or remote.
    pub servlet: String,
    /// The export that was running, or the MCP method of the request to a remote; `None` if there was neither.
    pub export: Option<&'static str>,
}

/// Why a call gave no result.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallErrorKind {
    /// No servlet has a tool with this name.
    UnknownTool {
        /// The name in the request.
        tool: String,
        /// A tool with a similar name.
        similar: Option<String>,
    },
    /// No servlet has a prompt with this name.
    UnknownPrompt {
        /// The name in the request.
        prompt: String,
        /// A prompt with a similar name.
        similar: Option<String>,
    },
    /// No servlet has a resource with this URI.
    UnknownResource {
        /// The URI in the request.
        uri: String,
        /// The error of a remote, as it wrote it. It may mean that a part of the URI is wrong.
        fault: Option<Box<RpcError>>,
        /// The code for clients.
        code: i32,
    },
    /// The servlet returned its own error, with a JSON-RPC code or as plain text.
    Fault {
        /// The error.
        fault: Box<RpcError>,
    },
    /// The servlet reported an error and then stopped, as a panic does.
    Panic {
        /// The error text.
        message: String,
    },
    /// The runtime stopped the servlet.
    Trap {
        /// The reason that the runtime gives.
        message: String,
    },
    /// The servlet sent an HTTP request that its options do not allow.
    HostDenied {
        /// The origin of the URL: the rest of a URL may hold secrets.
        url: String,
        /// The option that allows it, such as `--allow-host api.example`.
        option: String,
    },
    /// The call took longer than its options allow.
    Timeout {
        /// The time limit.
        limit: Duration,
    },
    /// The call needed more memory than its options allow.
    OutOfMemory {
        /// The memory limit in bytes.
        limit: u64,
    },
    /// The call executed more instructions than its options allow.
    OutOfFuel {
        /// The limit in units of fuel: see [`Limits::fuel`](crate::Limits::fuel).
        limit: u64,
    },
    /// No instance could be created.
    Start {
        /// The reason.
        message: String,
    },
    /// The queue of the servlet is full.
    Busy {
        /// How many calls were waiting.
        waiting: usize,
    },
    /// No instance became free in time.
    Waited {
        /// How long the call waited.
        limit: Duration,
    },
    /// The caller no longer wants the result.
    Cancelled,
    /// The output of the servlet is larger than its options allow.
    OutputTooLarge {
        /// The size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The output of the servlet is not a result.
    BadOutput {
        /// A JSON pointer, or the line and column of a syntax error.
        at: String,
        /// What is wrong there.
        problem: String,
    },
    /// Another MCP server gave no result.
    Remote {
        /// Why.
        failure: RemoteFailure,
    },
}

impl CallErrorKind {
    /// Adds the servlet and, if one was running, the export.
    pub fn at(self, servlet: &str, export: Option<&'static str>) -> CallError {
        let servlet = servlet.to_owned();
        CallError {
            site: Some(Site { servlet, export }),
            kind: self,
        }
    }

    /// The kind by which `catches` select the failure. None for a cancelled call, and for an unknown tool or prompt.
    pub fn failure(&self) -> Option<FailureKind> {
        Some(match self {
            Self::UnknownTool { .. } | Self::UnknownPrompt { .. } | Self::Cancelled => return None,
            Self::UnknownResource { fault: Some(_), .. } => FailureKind::Remote,
            Self::UnknownResource { fault: None, .. } | Self::Fault { .. } => FailureKind::Fault,
            Self::Panic { .. } => FailureKind::Panic,
            Self::Trap { .. } => FailureKind::Trap,
            Self::HostDenied { .. } => FailureKind::HostDenied,
            Self::Timeout { .. } => FailureKind::Timeout,
            Self::OutOfMemory { .. } => FailureKind::OutOfMemory,
            Self::OutOfFuel { .. } => FailureKind::OutOfFuel,
            Self::Start { .. } => FailureKind::Start,
            Self::Busy { .. } | Self::Waited { .. } => FailureKind::Busy,
            Self::OutputTooLarge { .. } => FailureKind::OutputTooLarge,
            Self::BadOutput { .. } => FailureKind::BadOutput,
            Self::Remote { failure } => failure.kind(),
        })
    }

    /// The name in metrics, such as `timeout`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::UnknownTool { .. } => "unknown_tool",
            Self::UnknownPrompt { .. } => "unknown_prompt",
            Self::UnknownResource { .. } => "unknown_resource",
            Self::Remote { failure } => failure.name(),
            other => other.failure().map_or("cancelled", FailureKind::name),
        }
    }
}

impl std::error::Error for CallError {}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servlet = self.site.as_ref().map_or("", |site| &site.servlet);
        let export = self.site.as_ref().and_then(|site| site.export);
        let export = export.unwrap_or_default();
        match &self.kind {
            CallErrorKind::UnknownTool { tool, .. } => write!(f, "unknown tool `{tool}`"),
            CallErrorKind::UnknownPrompt { prompt, .. } => write!(f, "unknown prompt `{prompt}`"),
            CallErrorKind::UnknownResource {
                uri, fault: None, ..
            } => {
                write!(f, "resource not found: {uri}")
            }
            CallErrorKind::UnknownResource {
                fault: Some(fault), ..
            }
            | CallErrorKind::Fault { fault } => f.write_str(&fault.message),
            CallErrorKind::Panic { message } => {
                write!(f, "servlet `{servlet}` stopped in `{export}`: {message}")
            }
            CallErrorKind::Trap { message } => {
                write!(f, "servlet `{servlet}` trapped in `{export}`: {message}")
            }
            CallErrorKind::HostDenied { url, .. } => {
                write!(f, "servlet `{servlet}` may not send a request to `{url}`")
            }
            CallErrorKind::Timeout { limit } => write!(
                f,
                "servlet `{servlet}` did not finish `{export}` within {limit:?}"
            ),
            CallErrorKind::OutOfMemory { limit } => write!(
                f,
                "servlet `{servlet}` ran out of memory in `{export}`: the limit is {limit} bytes"
            ),
            CallErrorKind::OutOfFuel { limit } => write!(
                f,
                "servlet `{servlet}` ran out of fuel in `{export}`: the limit is {limit}"
            ),
            CallErrorKind::Start { message } => {
                write!(f, "servlet `{servlet}` does not start: {message}")
            }
            CallErrorKind::Busy { waiting } => write!(
                f,
                "servlet `{servlet}` is busy: {waiting} calls are waiting already"
            ),
            CallErrorKind::Waited { limit } => write!(
                f,
                "servlet `{servlet}` is busy: no instance became free within {limit:?}"
            ),
            CallErrorKind::Cancelled => f.write_str("the call was cancelled"),
            CallErrorKind::OutputTooLarge { size, limit } => write!(
                f,
                "servlet `{servlet}` returned {size} bytes from `{export}`; the limit is {limit}"
            ),
            CallErrorKind::BadOutput { at, problem } => write!(
                f,
                "servlet `{servlet}` returned an invalid result: output of `{export}`, {at}: {problem}"
            ),
            CallErrorKind::Remote { failure } => failure.write(f, servlet, export),
        }
    }
}

impl CallError {
    /// No servlet has the tool. `similar` is a tool with a similar name.
    pub fn unknown_tool(tool: &str, similar: Option<&str>) -> Self {
        Self::without_site(CallErrorKind::UnknownTool {
            tool: tool.to_owned(),
            similar: similar.map(str::to_owned),
        })
    }

    /// No servlet has the prompt. `similar` is a prompt with a similar name.
    pub fn unknown_prompt(prompt: &str, similar: Option<&str>) -> Self {
        Self::without_site(CallErrorKind::UnknownPrompt {
            prompt: prompt.to_owned(),
            similar: similar.map(str::to_owned),
        })
    }

    /// No servlet has a resource with this URI.
    pub fn unknown_resource(uri: &str) -> Self {
        let uri = uri.to_owned();
        Self::without_site(CallErrorKind::UnknownResource {
            uri,
            fault: None,
            code: RpcError::RESOURCE_NOT_FOUND,
        })
    }

    /// The same, with the error of a remote, and the code for clients.
    pub fn refused_resource(uri: &str, fault: RpcError, code: i32) -> Self {
        Self::without_site(CallErrorKind::UnknownResource {
            uri: uri.to_owned(),
            fault: Some(Box::new(fault)),
            code,
        })
    }

    /// The caller no longer wants the result.
    pub fn cancelled() -> Self {
        Self::without_site(CallErrorKind::Cancelled)
    }

    fn without_site(kind: CallErrorKind) -> Self {
        Self { site: None, kind }
    }

    /// How to fix the error, if there is general advice.
    pub fn help(&self) -> Option<String> {
        match &self.kind {
            CallErrorKind::UnknownPrompt { similar, .. } => similar
                .as_ref()
                .map(|name| format!("there is a prompt `{name}`")),
            CallErrorKind::UnknownTool { similar, .. } => similar
                .as_ref()
                .map(|name| format!("there is a tool `{name}`")),
            _ => file_help(&self.to_string()),
        }
    }

    /// The error as a JSON-RPC error.
    pub fn to_rpc_error(&self) -> RpcError {
        let message = self.to_string();
        let fault = |code, data| RpcError {
            code,
            message: message.clone(),
            data,
        };
        match &self.kind {
            CallErrorKind::UnknownTool { similar, .. }
            | CallErrorKind::UnknownPrompt { similar, .. } => {
                let data = similar.as_ref().map(|name| json!({ "similar": name }));
                fault(RpcError::INVALID_PARAMS, data)
            }
            CallErrorKind::UnknownResource {
                uri,
                fault: refused,
                code,
            } => {
                let data = match refused {
                    Some(refused) => refused.data.clone(),
                    None => Some(json!({ "uri": uri })),
                };
                fault(*code, data)
            }
            CallErrorKind::Fault { fault } => RpcError::clone(fault),
            CallErrorKind::Busy { .. } | CallErrorKind::Waited { .. } => {
                let servlet = self.site.as_ref().map(|site| &site.servlet);
                let data = json!({ "servlet": servlet, "retry": true });
                fault(RpcError::BUSY, Some(data))
            }
            CallErrorKind::Remote { failure } => {
                let remote = self.site.as_ref().map(|site| site.servlet.as_str());
                failure.to_rpc_error(remote, message)
            }
            _ => match &self.site {
                Some(site) => RpcError::internal(&site.servlet, site.export, message),
                None => fault(RpcError::INTERNAL, None),
            },
        }
    }
}
