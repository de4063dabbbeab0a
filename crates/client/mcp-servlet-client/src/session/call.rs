//! Calls of tools.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::header::HeaderMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::request::RequestOptions;
use super::retry::Attempts;
use super::{List, Session};
use crate::content::CallResult;
use crate::error::{Error, ErrorKind};
use crate::progress::Progress;
use crate::target::{TargetError, header};

/// The code for a call whose HTTP headers do not fit its arguments. Such a call did not run.
const HEADER_MISMATCH: i64 = -32020;

/// Options of one call of a tool, or of one reading of a resource.
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
    repetition: Repetition,
    headers: HeaderMap,
}

/// Whether a call is sent again as the options of the session say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Repetition {
    #[default]
    Never,
    /// If the tool has the annotation `idempotentHint` or `readOnlyHint`.
    IfHinted,
    Always,
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

    /// The tool may run twice. The call is sent again if its connection breaks, and as often as
    /// [`Options::retry`](crate::Options::retry) says.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.repetition = Repetition::Always;
        self
    }

    /// As [`idempotent`](Self::idempotent), if the tool has the annotation `idempotentHint` or `readOnlyHint`. The session lists
    /// the tools when a call has failed. MCP requires that only servers that the user trusts are believed.
    #[must_use]
    pub fn trust_hints(mut self) -> Self {
        self.repetition = Repetition::IfHinted;
        self
    }

    /// Sets `_meta` of the request. Without members, the request has none.
    #[must_use]
    pub fn meta(mut self, meta: Map<String, Value>) -> Self {
        self.meta = Some(meta).filter(|meta| !meta.is_empty());
        self
    }

    /// Adds a header to the HTTP request, instead of one of the target with this name. Other transports have no headers.
    ///
    /// # Errors
    /// If the protocol sets the header, or if HTTP does not allow it.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, TargetError> {
        let (name, value) = header(name, value)?;
        self.headers.insert(name, value);
        Ok(self)
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

    /// Waits for a request until the caller cancels it.
    pub(super) async fn until_cancelled<T>(
        &self,
        request: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let result = match &self.cancel {
            // The future is dropped, which cancels the request.
            Some(token) => token.run_until_cancelled(request).await,
            None => Some(request.await),
        };
        result.unwrap_or_else(|| {
            let message = "the caller has cancelled the request";
            Err(Error::new(ErrorKind::Cancelled, message))
        })
    }

    pub(super) fn request_options(&self) -> RequestOptions<'_> {
        RequestOptions {
            timeout: self.timeout,
            max_total: self.max_total,
            meta: self.meta.as_ref(),
            on_progress: self.on_progress.as_deref(),
            is_idempotent: self.repetition == Repetition::Always,
            headers: (!self.headers.is_empty()).then_some(&self.headers),
        }
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .field("max_total", &self.max_total)
            .field("meta", &self.meta)
            .field("repetition", &self.repetition)
            .finish_non_exhaustive()
    }
}

/// The name of a tool.
#[derive(Deserialize)]
struct Name {
    name: String,
}

/// What a tool says about running twice.
#[derive(Deserialize)]
struct Entry {
    annotations: Hints,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Hints {
    idempotent_hint: bool,
    read_only_hint: bool,
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
        let call = self.call_again(tool, &arguments, options);
        let result = options.until_cancelled(call).await;
        result.map_err(|error| self.place_of_call(error))
    }

    /// Adds the server and the method to an error.
    pub(crate) fn place_of_call(&self, error: Error) -> Error {
        error.at(&self.target).during("tools/call")
    }

    /// Calls a tool, and again if its annotations allow it.
    async fn call_again(
        &self,
        tool: &str,
        arguments: &Value,
        options: &CallOptions,
    ) -> Result<Box<RawValue>, Error> {
        let mut attempts = Attempts::default();
        loop {
            let error = match self.call_or_list(tool, arguments, options).await {
                Ok(result) => return Ok(result),
                Err(error) => error,
            };
            let may_be_hinted = options.repetition == Repetition::IfHinted && error.is_temporary();
            if !may_be_hinted || !self.is_hinted(tool).await {
                return Err(error);
            }
            attempts.again(self, error).await?;
        }
    }

    async fn call_or_list(
        &self,
        tool: &str,
        arguments: &Value,
        options: &CallOptions,
    ) -> Result<Box<RawValue>, Error> {
        let options = options.request_options();
        match self.call_once(tool, arguments, &options).await {
            // The headers come from the list of tools.
            Err(error) if is_header_mismatch(&error) => {
                self.listed_tool(tool).await?;
                self.call_once(tool, arguments, &options).await
            }
            result => result,
        }
    }

    /// Whether the server says that a tool may run twice.
    async fn is_hinted(&self, tool: &str) -> bool {
        let entry: Option<Entry> = self
            .listed_tool(tool)
            .await
            .ok()
            .flatten()
            .and_then(|entry| serde_json::from_str(entry.get()).ok());
        entry.is_some_and(|entry| {
            entry.annotations.idempotent_hint || entry.annotations.read_only_hint
        })
    }

    /// A tool as the server lists it. Reads pages of the list up to the one that has it.
    pub(super) async fn listed_tool(&self, tool: &str) -> Result<Option<Box<RawValue>>, Error> {
        let pages = self.pages(List::Tools);
        tokio::pin!(pages);
        while let Some(page) = pages.next().await {
            let mut entries = page?.entries.into_iter();
            let is_named = |entry: &RawValue| {
                let name: Result<Name, _> = serde_json::from_str(entry.get());
                name.is_ok_and(|known| known.name == tool)
            };
            if let Some(entry) = entries.find(|entry| is_named(entry)) {
                return Ok(Some(entry));
            }
        }
        Ok(None)
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
