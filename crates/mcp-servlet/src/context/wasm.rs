//! The context inside a host.

use std::cell::RefCell;
use std::time::{Duration, SystemTime};

use crate::abi;
use crate::level::Level;

/// What a tool may ask of its host: configuration, variables, log, clock, randomness, HTTP.
///
/// A tool takes it as a parameter by reference. Only what a servlet uses is imported into its wasm.
#[derive(Debug, Default)]
pub struct Context {
    /// The request that is being answered, if it is text.
    request: Option<String>,
    /// What ran once in this call, as members of a JSON object with a comma after each.
    once: RefCell<String>,
}

impl Context {
    /// The context of one request.
    pub(crate) fn of(request: Option<String>) -> Self {
        Self {
            request,
            once: RefCell::default(),
        }
    }

    pub(crate) fn request(&self) -> Option<&str> {
        self.request.as_deref()
    }

    /// Looks into the request.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&str) -> T) -> T {
        look(self.request().unwrap_or_default())
    }

    /// Works on what ran once in this call.
    pub(crate) fn once_in_this_call<T>(&self, work: impl FnOnce(&mut String) -> T) -> T {
        work(&mut self.once.borrow_mut())
    }

    #[allow(
        clippy::unused_self,
        reason = "outside of a host, the context keeps them"
    )]
    pub(super) fn notify_progress(&self, params: String) {
        abi::notify_progress(&params);
    }

    #[allow(
        clippy::unused_self,
        reason = "outside of a host, the context keeps them"
    )]
    pub(super) fn notify_logging_message(&self, params: String) {
        abi::notify_logging_message(&params);
    }

    /// The configuration value of `key` that the operator set, if it is text.
    ///
    /// Hosts do not configure a servlet while they ask it to describe itself. An empty value counts as
    /// none: Extism cannot tell them apart.
    pub fn config_value(&self, key: &str) -> Option<String> {
        abi::config(key).and_then(|value| String::from_utf8(value).ok())
    }

    /// The variable `key`, as some call on this instance of the servlet set it.
    ///
    /// Variables live in one instance, in memory: do not count on them to outlive a call.
    pub fn var(&self, key: &str) -> Option<Vec<u8>> {
        abi::var(key)
    }

    /// Sets the variable `key`. An empty value removes it: Extism cannot tell them apart.
    ///
    /// The host stops the call if all variables together exceed its limit, commonly 1 MiB.
    pub fn set_var(&self, key: &str, value: &[u8]) {
        abi::set_var(key, Some(value));
    }

    /// Removes the variable `key`.
    pub fn remove_var(&self, key: &str) {
        abi::set_var(key, None);
    }

    /// Writes a line to the host's log.
    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "a call would link the functions of all levels"
    )]
    pub fn log(&self, level: Level, text: &str) {
        abi::log(level, text);
    }

    /// The time, from WASI's real-time clock; `SystemTime::now()` traps inside a servlet.
    pub fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_nanos(abi::now())
    }

    /// Fills `bytes` with random bytes that are good enough for keys, from WASI.
    pub fn random(&self, bytes: &mut [u8]) {
        abi::random(bytes);
    }

    /// Sends an HTTP request and waits for the response. A status of 400 and above is no error.
    ///
    /// # Errors
    ///
    /// [`HttpError`](crate::HttpError) if there is no response, with the reason as its
    /// [`kind`](crate::HttpError::kind): no connection, a host that the operator does not allow, a response that is too
    /// large. Hosts other than that of `servlet` end the call instead, unless the URL is not one of HTTP.
    #[cfg(feature = "http")]
    pub fn http(
        &self,
        request: &crate::HttpRequest,
    ) -> Result<crate::HttpResponse, crate::HttpError> {
        let body = (!request.body.is_empty()).then_some(&*request.body);
        let (status, headers, body) = abi::http(&request.checked()?.to_json(), body);
        crate::HttpResponse::from_host(status, headers, body)
    }
}
