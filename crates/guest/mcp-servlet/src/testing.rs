//! Tests without a host.
//!
//! A tool is an ordinary function: call it. To run dispatch and argument reading too, call
//! [`Servlet::call`](crate::Servlet::call). To prepare what the host provides, create a
//! [`TestContext`] and call [`Servlet::call_with`](crate::Servlet::call_with).
//!
//! ```
//! use mcp_servlet::prelude::*;
//! use mcp_servlet::testing::TestContext;
//! use serde_json::json;
//!
//! /// Says who is configured.
//! #[tool]
//! fn who(context: &Context) -> Result<String, ToolError> {
//!     context.log(Level::Info, "asked");
//!     context.config_value("user").ok_or_else(|| ToolError::new("config key `user` is not set"))
//! }
//!
//! mcp_servlet::export!(static SERVLET = { tools: [who] });
//!
//! # fn main() -> Result<(), Fault> {
//! let context = TestContext::new().with_config("user", "ada");
//! let result = SERVLET.call_with(&context, "who", json!({}))?;
//! assert_eq!(result.content[0].text.as_deref(), Some("ada"));
//! assert_eq!(context.logs(), [(Level::Info, "asked".to_owned())]);
//! # Ok(())
//! # }
//! ```
//!
//! Resources, prompts and completion have [`read_resource`](crate::Servlet::read_resource),
//! [`get_prompt`](crate::Servlet::get_prompt) and [`complete_prompt`](crate::Servlet::complete_prompt), each
//! with a variant that takes a context. [`list_resources`](crate::Servlet::list_resources) and its siblings
//! return the lists that clients see.
//!
//! A test that should also run against the wasm has [`#[mcp_servlet::test]`](macro@crate::test), and takes a
//! [`Client`].

mod client;
#[cfg(feature = "http")]
mod recorded;
mod remote;

#[cfg(feature = "http")]
use std::cell::RefCell;
use std::ops::Deref;
#[cfg(feature = "http")]
use std::rc::Rc;
use std::time::SystemTime;

use mcp_servlet_json::RawJson;
pub use mcp_servlet_types as types;
use serde::Serialize;

pub use self::client::Client;
#[cfg(feature = "http")]
pub use self::recorded::RecordedHttp;
use crate::context::{Context, State};
use crate::level::Level;
use crate::servlet::Servlet;

/// Runs the body of a test with a client of the servlet.
#[doc(hidden)]
pub fn run<T>(servlet: &'static Servlet, body: impl FnOnce(&Client) -> T) -> T {
    body(&Client::new(servlet))
}

/// A [`Context`] that a test prepares and inspects.
#[derive(Debug, Default)]
pub struct TestContext {
    context: Context,
}

impl TestContext {
    /// An empty context, with the real time and random numbers.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same context with a configuration value.
    #[must_use]
    pub fn with_config(self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.with(|host| host.config.insert(key.into(), value.into()))
    }

    /// The same context with a variable.
    #[must_use]
    pub fn with_var(self, key: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        self.with(|host| host.vars.insert(key.into(), value.into()))
    }

    /// The same context with a clock that always returns `now`.
    #[must_use]
    pub fn with_now(self, now: SystemTime) -> Self {
        self.with(|host| host.now = Some(now))
    }

    /// The same context with random numbers that repeat in each run.
    #[must_use]
    pub fn with_random_seed(self, seed: u64) -> Self {
        self.with(|host| host.random = Some(seed))
    }

    /// The same context with a function that answers every HTTP request.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn with_http(
        self,
        answer: impl FnMut(&crate::HttpRequest) -> Result<crate::HttpResponse, crate::HttpError>
        + 'static,
    ) -> Self {
        self.with(|host| host.http = Some(Rc::new(RefCell::new(answer))))
    }

    /// The same context with responses to HTTP requests, or failures, by method and URL, such as `GET
    /// https://example.com/`.
    ///
    /// Any other request fails with an error that names it. [`requests`](Self::requests) returns the
    /// requests that were sent.
    ///
    /// ```
    /// use mcp_servlet::prelude::*;
    /// use mcp_servlet::testing::TestContext;
    /// use mcp_servlet::{HttpErrorKind, HttpRequest, HttpResponse};
    ///
    /// let context = TestContext::new().with_recorded_http([
    ///     ("GET https://example.com/", Ok(HttpResponse::new(200, "hello"))),
    ///     ("GET https://example.org/", Err(HttpErrorKind::Timeout)),
    /// ]);
    /// let answer = context.http(&HttpRequest::get("https://example.com/")).unwrap();
    /// assert_eq!(answer.text().unwrap(), "hello");
    /// let error = context.http(&HttpRequest::get("https://example.org/")).unwrap_err();
    /// assert_eq!(error.kind(), HttpErrorKind::Timeout);
    /// assert!(context.http(&HttpRequest::get("https://example.net/")).is_err());
    /// assert_eq!(context.requests().len(), 3);
    /// ```
    #[cfg(feature = "http")]
    #[must_use]
    pub fn with_recorded_http<'a>(
        self,
        answers: impl IntoIterator<Item = (&'a str, impl Into<RecordedHttp>)>,
    ) -> Self {
        let recording = recorded::Recording::new(answers);
        self.with_http(move |request| {
            let missing = |request| crate::HttpError::new(recorded::missing(request));
            recording
                .answer(request)
                .unwrap_or_else(|| Err(missing(request)))
        })
    }

    /// The HTTP requests so far.
    #[cfg(feature = "http")]
    pub fn requests(&self) -> Vec<crate::HttpRequest> {
        self.context.host.state().requests.clone()
    }

    /// The same context with the values that a user enters into the form `key`, see [`Context::elicit`].
    ///
    /// # Panics
    ///
    /// If `content` cannot be written as JSON; the methods below panic likewise.
    #[must_use]
    pub fn with_form(self, key: &str, content: impl Serialize) -> Self {
        let response = format!("{{\"action\":\"accept\",\"content\":{}}}", json(&content));
        self.with_response(key, response)
    }

    /// The same context with a user who declines the form `key`.
    #[must_use]
    pub fn with_declined_form(self, key: &str) -> Self {
        self.with_response(key, "{\"action\":\"decline\"}".to_owned())
    }

    /// The same context with a user who closes the form `key`.
    #[must_use]
    pub fn with_cancelled_form(self, key: &str) -> Self {
        self.with_response(key, "{\"action\":\"cancel\"}".to_owned())
    }

    /// The same context with the answer of the client's model to the prompt `key`, see [`Context::sample`].
    #[must_use]
    pub fn with_sample(self, key: &str, text: &str) -> Self {
        let response = format!(
            "{{\"role\":\"assistant\",\"model\":\"test\",\"content\":{{\"type\":\"text\",\"text\":{}}}}}",
            json(text)
        );
        self.with_response(key, response)
    }

    /// The same context with the client's roots, see [`Context::roots`], which uses the key `roots`.
    #[must_use]
    pub fn with_roots<'a>(self, key: &str, uris: impl IntoIterator<Item = &'a str>) -> Self {
        let roots = uris
            .into_iter()
            .map(|uri| format!("{{\"uri\":{}}}", json(uri)));
        let roots = roots.collect::<Vec<_>>().join(",");
        self.with_response(key, format!("{{\"roots\":[{roots}]}}"))
    }

    fn with_response(self, key: &str, response: String) -> Self {
        self.with(|host| host.client.responses.insert(key.to_owned(), response))
    }

    /// The same context with a client that only has these capabilities, such as `elicitation`; by default it has all.
    #[must_use]
    pub fn with_capabilities(self, names: &[&str]) -> Self {
        let capabilities = names
            .iter()
            .map(|name| ((*name).to_owned(), "{}".to_owned()));
        self.with(|host| host.client.capabilities = Some(capabilities.collect()))
    }

    /// The same context with a host that does not pass on the capabilities of its client, like early versions.
    #[must_use]
    pub fn without_capabilities(self) -> Self {
        self.with(|host| host.client.capabilities = None)
    }

    /// The same context with a client of that name.
    #[must_use]
    pub fn with_client(self, name: &str, version: &str) -> Self {
        let info = format!("{{\"name\":{},\"version\":{}}}", json(name), json(version));
        let key = "io.modelcontextprotocol/clientInfo".to_owned();
        self.with(|host| host.client.meta.insert(key, info))
    }

    /// The same context with a value in the request's `_meta`. A `progressToken` enables
    /// [`progress`](Self::progress).
    #[must_use]
    pub fn with_meta(self, key: &str, value: impl Serialize) -> Self {
        let value = json(&value);
        self.with(|host| host.client.meta.insert(key.to_owned(), value))
    }

    /// The requests that the client got so far: key and MCP request.
    pub fn asked(&self) -> Vec<(String, RawJson)> {
        let host = self.context.host.state();
        let asked = host.client.asked.iter();
        asked
            .filter_map(|(key, request)| Some((key.clone(), RawJson::parse(request).ok()?)))
            .collect()
    }

    /// The parameters of the progress notifications so far.
    pub fn progress(&self) -> Vec<RawJson> {
        raw(&self.context.host.state().progress)
    }

    /// The parameters of the log notifications to the client so far.
    pub fn client_logs(&self) -> Vec<RawJson> {
        raw(&self.context.host.state().messages)
    }

    /// The log entries so far.
    pub fn logs(&self) -> Vec<(Level, String)> {
        self.context.host.state().logs.clone()
    }

    /// A context with the same preparation, without the effects of any call.
    ///
    /// Clocks, random numbers and variables are not copied: a [`Client`] cannot prepare them.
    fn again(&self) -> Self {
        let host = self.context.host.state();
        Self::new().with(|again| {
            again.config.clone_from(&host.config);
            again.client = host.client.again();
            #[cfg(feature = "http")]
            again.http.clone_from(&host.http);
        })
    }

    fn with<T>(self, change: impl FnOnce(&mut State) -> T) -> Self {
        change(&mut self.context.host.state_mut());
        self
    }
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    mcp_servlet_json::to_string(value).expect("a test prepares what has JSON")
}

fn raw(texts: &[String]) -> Vec<RawJson> {
    let parsed = texts.iter().filter_map(|text| RawJson::parse(text).ok());
    parsed.collect()
}

impl Deref for TestContext {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}
