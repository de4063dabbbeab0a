//! Calls that servlets make: tools and resources of other servlets and of remotes.

use std::{borrow::Cow, fmt, future::Future, pin::Pin};

use serde_json::{Value, json};

use crate::{JsonObject, request_meta::RequestMeta};

/// What a servlet calls or reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    /// A tool.
    Tool {
        /// The servlet or remote.
        member: String,
        /// The tool's own name.
        tool: String,
        /// The arguments.
        arguments: Option<JsonObject>,
    },
    /// A resource.
    Resource {
        /// The servlet or remote.
        member: String,
        /// The URI.
        uri: String,
    },
}

impl Callee {
    /// The servlet or remote.
    pub fn member(&self) -> &str {
        match self {
            Self::Tool { member, .. } | Self::Resource { member, .. } => member,
        }
    }

    /// The request as the servlet writes it.
    pub fn to_request(&self) -> Value {
        match self {
            Self::Tool { arguments, .. } => {
                let mut params = json!({ "name": self.to_string() });
                if let Some(arguments) = arguments {
                    params["arguments"] = arguments.clone().into();
                }
                json!({ "method": "tools/call", "params": params })
            }
            Self::Resource { member, uri } => {
                let params = json!({ "member": member, "uri": uri });
                json!({ "method": "resources/read", "params": params })
            }
        }
    }

    /// The tool. `None` for a resource.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::Tool { tool, .. } => Some(tool),
            Self::Resource { .. } => None,
        }
    }
}

impl fmt::Display for Callee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool { member, tool, .. } => write!(f, "{member}:{tool}"),
            Self::Resource { member, uri } => write!(f, "{member}:{uri}"),
        }
    }
}

/// Answers the calls that servlets make.
pub trait Callees: fmt::Debug + Send + Sync {
    /// Calls a tool or reads a resource for the servlet that is the last one in [`RequestMeta::via`], and whose options allow
    /// that. Dropping the future stops the call.
    fn call<'a>(&'a self, callee: &'a Callee, request_meta: &'a RequestMeta) -> Answering<'a>;

    /// Whether servlets may call whatever this answers, no matter what their options allow.
    fn are_all_allowed(&self) -> bool {
        false
    }

    /// Whether there is such a tool, or such a member if it is a resource. Servlets may make up names.
    fn is_known(&self, callee: &Callee) -> bool;

    /// Whether a call changes nothing, as far as the callee says.
    fn is_read_only(&self, callee: &Callee) -> bool;
}

/// The answer to a call that a servlet makes, on its way.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<JsonObject, CalleeError>> + Send + 'a>>;

/// Why a call that a servlet made gave no result.
#[derive(Clone, Debug, PartialEq)]
pub struct CalleeError {
    /// The kind, such as `timeout`.
    pub kind: Cow<'static, str>,
    /// The message.
    pub message: String,
    /// The code of the JSON-RPC error, if there is one.
    pub code: Option<i64>,
    /// Details.
    pub data: Option<Box<Value>>,
}

impl CalleeError {
    /// The servlet may not make the call.
    pub const NOT_ALLOWED: &'static str = "not_allowed";
    /// There is no such servlet, remote, tool or resource.
    pub const UNKNOWN: &'static str = "unknown";
    /// The arguments are not valid.
    pub const ARGUMENTS: &'static str = "arguments";
    /// The servlet has made too many calls.
    pub const TOO_MANY: &'static str = "too_many";
    /// The result is too large.
    pub const TOO_LARGE: &'static str = "too_large";

    /// An error of this kind, without code and details.
    pub fn new(kind: &'static str, message: String) -> Self {
        Self {
            kind: kind.into(),
            message,
            code: None,
            data: None,
        }
    }

    /// The error as the servlet gets it.
    pub fn to_json(&self) -> Value {
        let mut error = json!({ "kind": self.kind, "message": self.message });
        if let Some(code) = self.code {
            error["code"] = code.into();
        }
        if let Some(data) = &self.data {
            error["data"] = Value::clone(data);
        }
        json!({ "error": error })
    }
}
