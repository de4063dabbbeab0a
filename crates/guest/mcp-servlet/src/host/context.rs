//! A tool's access to its host.

#[cfg(not(target_family = "wasm"))]
mod native;
#[cfg(target_family = "wasm")]
mod wasm;

mod caller;
#[cfg(feature = "charset")]
mod charset;
#[cfg(not(target_family = "wasm"))]
mod client;
pub(crate) mod config;
#[cfg(feature = "http")]
pub(crate) mod http;
mod notify;
mod request;
pub(crate) mod tools;
mod vars;

use std::time::SystemTime;

pub use self::caller::{Caller, Certificate};
#[cfg(not(target_family = "wasm"))]
pub(crate) use self::native::{Host, State, ToolAnswer};
#[cfg(not(target_family = "wasm"))]
pub(crate) use self::request::CLIENT_INFO;
pub use self::request::{Capabilities, ClientInfo};
#[cfg(target_family = "wasm")]
pub(crate) use self::wasm::Host;
use crate::host::level::Level;

/// A tool's access to its host: configuration, variables, log, clock, randomness, HTTP,
/// tools of other servers.
///
/// A tool takes it as a parameter by reference. Only what a servlet uses is imported into its wasm.
/// In tests, [`testing::Client`](crate::testing::Client) prepares one.
#[derive(Debug, Default)]
pub struct Context {
    pub(crate) host: Host,
}

impl Context {
    /// The configuration value of `key` that the operator set, if it is UTF-8.
    ///
    /// Hosts do not pass a configuration when they ask the servlet to describe itself. An empty value counts as
    /// none: Extism cannot tell them apart.
    pub fn config_value(&self, key: &str) -> Option<String> {
        self.host.config_value(key)
    }

    /// The variable `key`, as this call or an earlier one has set it.
    ///
    /// `servlet serve` keeps variables until it loads the servlet again. Other hosts may lose them earlier. Store data
    /// that must last outside the servlet.
    pub fn var(&self, key: &str) -> Option<Vec<u8>> {
        self.host.var(key)
    }

    /// Sets the variable `key`. An empty value removes it: Extism cannot tell them apart.
    ///
    /// The host ends the call if all variables together exceed its limit, commonly 1 MiB.
    pub fn set_var(&self, key: &str, value: &[u8]) {
        self.host.set_var(key, value);
    }

    /// Removes the variable `key`.
    pub fn remove_var(&self, key: &str) {
        self.host.remove_var(key);
    }

    /// Writes a line to the host's log.
    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "a call would link the functions of all levels"
    )]
    pub fn log(&self, level: Level, text: &str) {
        self.host.log(level, text);
    }

    /// The time, from WASI's real-time clock; `SystemTime::now()` traps inside a servlet.
    pub fn now(&self) -> SystemTime {
        self.host.now()
    }

    /// Fills `bytes` with random bytes that are good enough for keys, from WASI.
    ///
    /// In native tests they come from a simple generator and are not secure.
    pub fn random(&self, bytes: &mut [u8]) {
        self.host.random(bytes);
    }

    /// Sends an HTTP request and waits for the response. A status of 400 and above is not an error.
    ///
    /// # Errors
    ///
    /// [`HttpError`](http::HttpError) if there is no response, with the reason as its
    /// [`kind`](http::HttpError::kind): no connection, a host that the operator does not allow, a
    /// response that is too large. In hosts other than `servlet serve`, these end the call instead, unless
    /// the URL is not an HTTP URL.
    #[cfg(feature = "http")]
    pub fn http(&self, request: &http::HttpRequest) -> Result<http::HttpResponse, http::HttpError> {
        self.host.http(request.checked()?)
    }

    /// Sends several HTTP requests, and waits for all responses, which are in the order of the requests.
    ///
    /// `servlet serve` sends them at the same time, other hosts one after the other. A request that fails does not affect the
    /// others; see [`http`](Self::http) for the errors.
    ///
    /// ```
    /// use mcp_servlet::HttpRequest;
    /// use mcp_servlet::prelude::*;
    ///
    /// /// Tells how many of these pages exist.
    /// #[tool]
    /// fn existing(context: &Context, urls: Vec<String>) -> usize {
    ///     let requests: Vec<_> = urls.into_iter().map(HttpRequest::get).collect();
    ///     let responses = context.http_all(&requests);
    ///     responses.into_iter().filter(|response| matches!(response, Ok(page) if page.status == 200)).count()
    /// }
    ///
    /// mcp_servlet::export!(static SERVLET = { tools: [existing] });
    ///
    /// # fn main() {
    /// # use mcp_servlet::HttpResponse;
    /// let pages = [("GET https://a.example/", HttpResponse::new(200, "")), ("GET https://b.example/", HttpResponse::new(404, ""))];
    /// let client = SERVLET.client().with_recorded_http(pages);
    /// let urls = ["https://a.example/", "https://b.example/"].map(str::to_owned).into();
    /// assert_eq!(existing(client.context(), urls), 1);
    /// # }
    /// ```
    #[cfg(feature = "http")]
    pub fn http_all(
        &self,
        requests: &[http::HttpRequest],
    ) -> Vec<Result<http::HttpResponse, http::HttpError>> {
        let together = self.host.http_all(requests);
        together.unwrap_or_else(|| requests.iter().map(|request| self.http(request)).collect())
    }
}
