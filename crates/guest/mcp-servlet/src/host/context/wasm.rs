//! The host of a context inside the wasm: its functions, and the current request.

use std::cell::RefCell;
use std::time::{Duration, SystemTime};

use super::Context;
#[cfg(feature = "http")]
use super::http::{HttpError, HttpRequest, HttpResponse};
use crate::host::abi;
use crate::host::level::Level;

/// The state of a call; everything else is in the host.
#[derive(Debug, Default)]
pub(crate) struct Host {
    /// The current request, if it is UTF-8.
    request: Option<String>,
    /// The results of `once` in this call, as members of a JSON object with a comma after each.
    once: RefCell<String>,
}

impl Context {
    /// The context of one request.
    pub(crate) fn for_request(request: Option<String>) -> Self {
        let once = RefCell::default();
        Self {
            host: Host { request, once },
        }
    }

    pub(crate) fn request(&self) -> Option<&str> {
        self.host.request.as_deref()
    }

    /// Reads from the request.
    pub(crate) fn with_request<T>(&self, read: impl FnOnce(&str) -> T) -> T {
        read(self.request().unwrap_or_default())
    }

    /// Accesses the results of `once` in this call.
    pub(crate) fn once_in_this_call<T>(&self, work: impl FnOnce(&mut String) -> T) -> T {
        work(&mut self.host.once.borrow_mut())
    }
}

#[allow(clippy::unused_self, reason = "outside of a host, it is prepared")]
impl Host {
    pub(super) fn config_value(&self, key: &str) -> Option<String> {
        abi::config(key).and_then(|value| String::from_utf8(value).ok())
    }

    pub(super) fn var(&self, key: &str) -> Option<Vec<u8>> {
        abi::var(key)
    }

    pub(super) fn set_var(&self, key: &str, value: &[u8]) {
        abi::set_var(key, Some(value));
    }

    pub(super) fn remove_var(&self, key: &str) {
        abi::set_var(key, None);
    }

    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "a call would link the functions of all levels"
    )]
    pub(super) fn log(&self, level: Level, text: &str) {
        abi::log(level, text);
    }

    pub(super) fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_nanos(abi::now())
    }

    pub(super) fn random(&self, bytes: &mut [u8]) {
        abi::random(bytes);
    }

    #[cfg(feature = "http")]
    pub(super) fn http(&self, request: &HttpRequest) -> Result<HttpResponse, HttpError> {
        let body = (!request.body.is_empty()).then_some(&*request.body);
        let (status, headers, body) = abi::http(&request.to_json(), body);
        HttpResponse::from_host(status, headers, body)
    }

    /// Whether the host has set the keys in `_meta` that only hosts may set.
    pub(super) fn keeps_meta(&self) -> bool {
        abi::config(mcp_servlet_types::KEEPS_META).is_some()
    }

    /// Sends several requests at once. `None` if the host only takes one after the other.
    #[cfg(feature = "http")]
    pub(super) fn http_all(
        &self,
        requests: &[HttpRequest],
    ) -> Option<Vec<Result<HttpResponse, HttpError>>> {
        abi::config(mcp_servlet_types::HTTP_ALL)?;
        let (json, bodies) = super::http::to_list(requests);
        let bodies = (!bodies.is_empty()).then_some(&*bodies);
        let (status, headers, bodies) = abi::http(&json, bodies);
        let responses = HttpResponse::list_from_host(status, headers, bodies);
        Some(responses.unwrap_or_else(|error| vec![Err(error); requests.len()]))
    }

    #[cfg(not(mcp_servlet_no_tools))]
    #[inline]
    pub(super) fn call_tool(&self, request: &str) -> String {
        abi::call_tool(request)
    }

    pub(super) fn notify_progress(&self, params: String) {
        abi::notify_progress(&params);
    }

    pub(super) fn notify_logging_message(&self, params: String) {
        abi::notify_logging_message(&params);
    }

    pub(super) fn notify_resource_list_changed(&self) {
        abi::notify_resource_list_changed();
    }
}
