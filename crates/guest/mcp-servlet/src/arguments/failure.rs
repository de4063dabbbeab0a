//! Why a call has no result.

use std::borrow::Cow;

use super::Arguments;
use crate::answer::error::{Fault, ToolError};

/// Why a call has no result.
#[derive(Debug)]
pub enum Failure<'a> {
    /// The request is not JSON, or not a request.
    Malformed(mcp_servlet_json::Error),
    /// The request cannot be answered.
    Fault(Fault),
    /// An argument could not be read.
    Argument {
        /// The parameter, empty for the arguments as a whole.
        name: &'static str,
        /// The argument's JSON.
        text: &'a str,
        /// The error in it.
        error: mcp_servlet_json::Error,
    },
    /// Required arguments are missing among these.
    Missing(Arguments<'a>),
    /// An argument that no parameter takes.
    Unknown(Cow<'a, str>),
    /// The function returned an error.
    Tool(ToolError),
}

impl From<mcp_servlet_json::Error> for Failure<'_> {
    fn from(error: mcp_servlet_json::Error) -> Self {
        Self::Malformed(error)
    }
}
