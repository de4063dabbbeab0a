//! The one error of this crate: kinds with stable codes, and what to do about each.

mod kind;

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

pub use self::kind::ErrorKind;
use crate::incoming::{ErrorObject, NO_MESSAGE, NO_MESSAGE_BUT_DATA};
use crate::transport::stderr::looks_like_error;

/// Why an operation failed: what is wrong, where, and what to do.
///
/// A tool that reports a failure returns a result instead; see [`CallResult::is_error`](crate::CallResult::is_error).
///
/// ```
/// use mcp_servlet_client::{Error, ErrorKind};
///
/// fn is_worth_another_try(error: &Error) -> bool {
///     matches!(error.kind(), ErrorKind::Connectivity | ErrorKind::RequestTimeout)
/// }
/// assert_eq!(ErrorKind::Connectivity.code(), "connectivity");
/// ```
#[derive(Clone, Debug)]
pub struct Error(Box<Details>);

#[derive(Clone, Debug)]
struct Details {
    kind: ErrorKind,
    message: String,
    help: Option<String>,
    target: Option<String>,
    operation: Option<&'static str>,
    code: Option<i64>,
    data: Option<Value>,
    http_status: Option<u16>,
    retry_after: Option<String>,
    attempts: Option<u32>,
    stderr: Vec<String>,
    limit: Option<&'static str>,
    /// Whether the request has not left this program.
    is_unsent: bool,
    /// Whether it shows that the server speaks HTTP+SSE.
    is_of_http_sse: bool,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// The kind of the error. Its [code](ErrorKind::code) never changes.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What is wrong, without the place and the help.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// The server, without secrets.
    pub fn target(&self) -> Option<&str> {
        self.0.target.as_deref()
    }

    /// The MCP method of the request.
    pub fn operation(&self) -> Option<&'static str> {
        self.0.operation
    }

    /// The code of a JSON-RPC error.
    pub fn code(&self) -> Option<i64> {
        self.0.code
    }

    /// The data of a JSON-RPC error. For [`ErrorKind::Schema`], the JSON that does not match.
    pub fn data(&self) -> Option<&Value> {
        self.0.data.as_ref()
    }

    /// The line of the standard error that most likely has the reason.
    pub fn reason_on_stderr(&self) -> Option<&str> {
        let mut lines = self.0.stderr.iter().filter(|line| !line.trim().is_empty());
        let error = lines.clone().find(|line| looks_like_error(line));
        error.or_else(|| lines.next_back()).map(String::as_str)
    }

    /// The field of [`Limits`](crate::Limits) whose value was exceeded, if it is known.
    pub fn limit(&self) -> Option<&'static str> {
        self.0.limit
    }

    /// The status of an HTTP response that is an error.
    pub fn http_status(&self) -> Option<u16> {
        self.0.http_status
    }

    /// Whether the server has answered with this error, so that it does not work on the request any more. A proxy answers with
    /// 502 and 504 for a server that may still do so.
    pub fn was_answered(&self) -> bool {
        match self.http_status() {
            Some(502 | 504) => false,
            Some(_) => true,
            // The connection broke before the response, or the response was too large to be read.
            None => {
                let kind = self.kind();
                let is_lost = matches!(
                    kind,
                    ErrorKind::Connectivity | ErrorKind::Limit | ErrorKind::RequestTimeout
                );
                self.code().is_some() || !is_lost || self.0.is_unsent
            }
        }
    }

    /// Whether the connection broke while the request was under way, so that it may have arrived.
    pub(crate) fn is_broken_connection(&self) -> bool {
        self.kind() == ErrorKind::Connectivity && self.http_status().is_none() && !self.0.is_unsent
    }

    /// Whether another attempt may help.
    pub(crate) fn is_temporary(&self) -> bool {
        matches!(
            self.kind(),
            ErrorKind::Connectivity | ErrorKind::RequestTimeout
        )
    }

    /// Whether the server speaks HTTP+SSE.
    pub(crate) fn is_of_http_sse(&self) -> bool {
        self.0.is_of_http_sse
    }

    /// The header `Retry-After` of that response: seconds or a date.
    pub fn retry_after(&self) -> Option<&str> {
        self.0.retry_after.as_deref()
    }

    /// How many attempts have failed, to connect or to get an answer.
    pub fn attempts(&self) -> Option<u32> {
        self.0.attempts
    }

    /// The first and last lines that the process of the server wrote to its standard error, if it has ended or opened no session
    /// in time, and between them the first line that looks like an error.
    pub fn stderr(&self) -> &[String] {
        &self.0.stderr
    }

    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Details {
            kind,
            message: message.into(),
            help: None,
            target: None,
            operation: None,
            code: None,
            data: None,
            http_status: None,
            retry_after: None,
            attempts: None,
            stderr: Vec::new(),
            limit: None,
            is_unsent: false,
            is_of_http_sse: false,
            source: None,
        }))
    }

    /// A JSON-RPC error.
    pub(crate) fn from_json_rpc(error: ErrorObject) -> Self {
        let kind = error
            .code
            .map_or(ErrorKind::Protocol, ErrorKind::of_json_rpc);
        let message = match &error.data {
            Some(data) if matches!(error.message.trim(), "" | NO_MESSAGE) => {
                let data = data
                    .as_str()
                    .map_or_else(|| data.to_string(), str::to_owned);
                format!("{NO_MESSAGE_BUT_DATA}{data}")
            }
            None if error.message.trim().is_empty() => NO_MESSAGE.to_owned(),
            _ => error.message,
        };
        let mut new = Self::new(kind, message);
        new.0.code = error.code;
        new.0.data = error.data;
        new
    }

    /// An error of rmcp, as if it had come from the server.
    pub(crate) fn from_rmcp(error: &rmcp::ErrorData) -> Self {
        Self::from_json_rpc(ErrorObject {
            code: Some(error.code.0.into()),
            message: error.message.clone().into_owned(),
            data: error.data.clone(),
        })
    }

    /// Adds to what is wrong.
    pub(crate) fn with_message(mut self, more: &str) -> Self {
        self.0.message.push_str(more);
        self
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// The request has not left this program.
    pub(crate) fn unsent(mut self) -> Self {
        self.0.is_unsent = true;
        self
    }

    /// The server speaks HTTP+SSE.
    pub(crate) fn of_http_sse(mut self) -> Self {
        self.0.is_of_http_sse = true;
        self
    }

    pub(crate) fn with_source(
        mut self,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    pub(crate) fn with_data(mut self, data: Option<Value>) -> Self {
        self.0.data = data;
        self
    }

    pub(crate) fn with_http(mut self, status: u16, retry_after: Option<String>) -> Self {
        self.0.http_status = Some(status);
        self.0.retry_after = retry_after;
        self
    }

    pub(crate) fn with_stderr(mut self, lines: Vec<String>) -> Self {
        self.0.stderr = lines;
        self
    }

    /// A field of [`Limits`](crate::Limits) was exceeded.
    pub(crate) fn of_limit(mut self, limit: &'static str) -> Self {
        self.0.limit = Some(limit);
        self
    }

    /// Names the server, unless it is named already.
    pub(crate) fn at(mut self, target: &str) -> Self {
        self.0.target.get_or_insert_with(|| target.to_owned());
        self
    }

    /// Names the method of the request, unless it is named already.
    pub(crate) fn during(mut self, operation: &'static str) -> Self {
        self.0.operation.get_or_insert(operation);
        // Since 2026-07-28, a resource that does not exist is an invalid parameter.
        if operation == "resources/read" && matches!(self.code(), Some(-32002 | -32602)) {
            self.0.kind = ErrorKind::InvalidUri;
        }
        self
    }

    /// The error after the last of several attempts.
    pub(crate) fn after_attempts(self, attempts: u32) -> Self {
        let mut last = self.clone();
        last.0.kind = ErrorKind::RetryExhausted;
        last.0.message = format!(
            "{attempts} attempts failed, the last one because {}",
            self.message()
        );
        last.0.attempts = Some(attempts);
        last.with_source(self)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let details = &self.0;
        f.write_str(&details.message)?;
        match (details.operation, &details.target) {
            (Some(operation), Some(target)) => write!(f, ": {operation} of `{target}`")?,
            (Some(operation), None) => write!(f, ": {operation}")?,
            (None, Some(target)) => write!(f, ": `{target}`")?,
            (None, None) => {}
        }
        if let Some(help) = &details.help {
            write!(f, "; {help}")?;
        }
        if !details.stderr.is_empty() {
            write!(f, "\nits standard error:")?;
        }
        let mut lines = details.stderr.iter();
        lines.try_for_each(|line| write!(f, "\n    {line}"))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.0.source.as_deref();
        source.map(|source| source as &(dyn std::error::Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_is_wrong_where_and_what_to_do() {
        let error = Error::new(ErrorKind::Connectivity, "connection refused")
            .at("http://localhost/mcp")
            .during("tools/call");
        assert_eq!(
            error.with_help("start the server").to_string(),
            "connection refused: tools/call of `http://localhost/mcp`; start the server"
        );
    }

    #[test]
    fn a_resource_that_does_not_exist_has_an_invalid_uri() {
        for (code, operation, kind) in [
            (-32602, "resources/read", ErrorKind::InvalidUri),
            (-32002, "resources/read", ErrorKind::InvalidUri),
            (-32602, "tools/call", ErrorKind::InvalidParams),
            (-32002, "tools/call", ErrorKind::ServerError),
        ] {
            let error = ErrorObject {
                code: Some(code),
                message: String::new(),
                data: None,
            };
            let error = Error::from_json_rpc(error).during(operation);
            assert_eq!(error.kind(), kind, "{code} {operation}");
        }
    }
}
