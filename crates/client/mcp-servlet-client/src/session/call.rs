//! Calls of tools.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::request::RequestOptions;
use super::{List, Session};
use crate::content::CallResult;
use crate::error::{Error, ErrorKind};
use crate::progress::Progress;

/// The code for a call whose HTTP headers do not fit its arguments. Such a call did not run.
const HEADER_MISMATCH: i64 = -32020;

/// Options of one call.
///
/// ```
/// use std::time::Duration;
/// use mcp_servlet_client::CallOptions;
///
/// let options = CallOptions::new()
///     .timeout(Duration::from_secs(120))
///     .on_progress(|progress| println!("{progress}"));
/// ```
#[derive(Clone, Default)]
pub struct CallOptions {
    timeout: Option<Duration>,
    max_total: Option<Duration>,
    meta: Option<Map<String, Value>>,
    on_progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    cancel: Option<CancellationToken>,
}

impl CallOptions {
    /// The timeout of the session, and nothing else.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long the call may take, without the time in which [`Answers`](crate::Answers) answer the server.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Starts the timeout again with each report of progress, until this time is over.
    #[must_use]
    pub fn extend_on_progress(mut self, max_total: Duration) -> Self {
        self.max_total = Some(max_total);
        if self.on_progress.is_none() {
            self.on_progress = Some(Arc::new(|_| {}));
        }
        self
    }

    /// Sets `_meta` of the request.
    #[must_use]
    pub fn meta(mut self, meta: Map<String, Value>) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Calls a function with each report of progress, in order. If it is slow, reports may be dropped.
    #[must_use]
    pub fn on_progress(mut self, report: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.on_progress = Some(Arc::new(report));
        self
    }

    /// Cancels the call when the token is cancelled, even while [`Answers`](crate::Answers) answer the server. Dropping the
    /// future of the call does the same.
    #[must_use]
    pub fn cancel_with(mut self, token: CancellationToken) -> Self {
        self.cancel = Some(token);
        self
    }

    pub(super) fn request_options(&self) -> RequestOptions<'_> {
        RequestOptions {
            timeout: self.timeout,
            max_total: self.max_total,
            meta: self.meta.as_ref(),
            on_progress: self.on_progress.as_deref(),
        }
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .field("max_total", &self.max_total)
            .field("meta", &self.meta)
            .finish_non_exhaustive()
    }
}

/// Whether the HTTP headers of a call did not fit its arguments, so that it did not run.
pub(super) fn is_header_mismatch(error: &Error) -> bool {
    error.code() == Some(HEADER_MISMATCH)
}

impl Session {
    /// Calls a tool with arguments, which are an object or `null`.
    ///
    /// # Errors
    /// If there is no result. A tool that reports a failure has one, with [`CallResult::is_error`].
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<CallResult, Error> {
        self.call_with(tool, arguments, &CallOptions::default())
            .await
    }

    /// Calls a tool with options.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn call_with(
        &self,
        tool: &str,
        arguments: Value,
        options: &CallOptions,
    ) -> Result<CallResult, Error> {
        let result = self.call_raw(tool, arguments, options).await?;
        CallResult::new(result).map_err(|error| self.place_of_call(error))
    }

    /// Calls a tool, and returns its result as the server wrote it.
    pub(crate) async fn call_raw(
        &self,
        tool: &str,
        arguments: Value,
        options: &CallOptions,
    ) -> Result<Box<RawValue>, Error> {
        let call = self.call_or_repeat(tool, &arguments, options);
        let result = match &options.cancel {
            // The future is dropped, which cancels the request.
            Some(token) => token.run_until_cancelled(call).await,
            None => Some(call.await),
        };
        let result = result.unwrap_or_else(|| {
            let message = "the caller has cancelled the request";
            Err(Error::new(ErrorKind::Cancelled, message))
        });
        result.map_err(|error| self.place_of_call(error))
    }

    /// Adds the server and the method to an error.
    pub(crate) fn place_of_call(&self, error: Error) -> Error {
        error.at(&self.target).during("tools/call")
    }

    async fn call_or_repeat(
        &self,
        tool: &str,
        arguments: &Value,
        options: &CallOptions,
    ) -> Result<Box<RawValue>, Error> {
        let options = options.request_options();
        match self.call_once(tool, arguments, &options).await {
            // The headers come from the list of tools.
            Err(error) if is_header_mismatch(&error) => {
                self.page(List::Tools, None).await?;
                self.call_once(tool, arguments, &options).await
            }
            result => result,
        }
    }

    async fn call_once(
        &self,
        tool: &str,
        arguments: &Value,
        options: &RequestOptions<'_>,
    ) -> Result<Box<RawValue>, Error> {
        let mut params = Map::from_iter([("name".to_owned(), json!(tool))]);
        if !arguments.is_null() {
            params.insert("arguments".to_owned(), arguments.clone());
        }
        self.request_with_input("tools/call", params, options).await
    }
}
