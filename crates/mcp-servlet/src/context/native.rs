//! The context outside of any host: what a test prepared.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::SystemTime;

use super::client::Prepared;
use crate::level::Level;

/// What a tool may ask of its host: configuration, variables, log, clock, randomness, HTTP.
///
/// A tool takes it as a parameter by reference. Only what a servlet uses is imported into its wasm.
/// Outside of a host, [`testing::TestContext`](crate::testing::TestContext) prepares one.
#[derive(Debug, Default)]
pub struct Context {
    pub(crate) host: Rc<RefCell<Host>>,
}

/// What stands in for the host.
#[derive(Default)]
pub(crate) struct Host {
    pub(crate) config: BTreeMap<String, String>,
    pub(crate) vars: BTreeMap<String, Vec<u8>>,
    pub(crate) logs: Vec<(Level, String)>,
    /// The request that is being answered; empty outside of one.
    pub(crate) request: String,
    pub(crate) once: String,
    /// What a request says beside its arguments.
    pub(crate) client: Prepared,
    pub(crate) progress: Vec<String>,
    pub(crate) messages: Vec<String>,
    pub(crate) now: Option<SystemTime>,
    pub(crate) random: Option<u64>,
    #[cfg(feature = "http")]
    pub(crate) http: Option<Answer>,
    #[cfg(feature = "http")]
    pub(crate) requests: Vec<crate::HttpRequest>,
}

/// Answers HTTP requests in a test.
#[cfg(feature = "http")]
pub(crate) type Answer =
    Rc<RefCell<dyn FnMut(&crate::HttpRequest) -> Result<crate::HttpResponse, crate::HttpError>>>;

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host")
            .field("config", &self.config)
            .field("vars", &self.vars)
            .field("logs", &self.logs)
            .finish_non_exhaustive()
    }
}

impl Context {
    /// The configuration value of `key` that the operator set, if it is text.
    ///
    /// Hosts do not configure a servlet while they ask it to describe itself. An empty value counts as
    /// none: Extism cannot tell them apart.
    pub fn config_value(&self, key: &str) -> Option<String> {
        let value = self.host.borrow().config.get(key).cloned();
        value.filter(|value| !value.is_empty())
    }

    /// The variable `key`, as some call on this instance of the servlet set it.
    ///
    /// Variables live in one instance, in memory: do not count on them to outlive a call.
    pub fn var(&self, key: &str) -> Option<Vec<u8>> {
        self.host.borrow().vars.get(key).cloned()
    }

    /// Sets the variable `key`. An empty value removes it: Extism cannot tell them apart.
    ///
    /// The host stops the call if all variables together exceed its limit, commonly 1 MiB.
    pub fn set_var(&self, key: &str, value: &[u8]) {
        if value.is_empty() {
            return self.remove_var(key);
        }
        self.host.borrow_mut().vars.insert(key.into(), value.into());
    }

    /// Removes the variable `key`.
    pub fn remove_var(&self, key: &str) {
        self.host.borrow_mut().vars.remove(key);
    }

    /// Writes a line to the host's log.
    pub fn log(&self, level: Level, text: &str) {
        self.host.borrow_mut().logs.push((level, text.into()));
    }

    /// The time, from WASI's real-time clock; `SystemTime::now()` traps inside a servlet.
    pub fn now(&self) -> SystemTime {
        self.host.borrow().now.unwrap_or_else(SystemTime::now)
    }

    /// Fills `bytes` with random bytes that are good enough for keys, from WASI.
    ///
    /// Outside of a host they are good enough for tests only.
    pub fn random(&self, bytes: &mut [u8]) {
        let mut host = self.host.borrow_mut();
        let state = host.random.get_or_insert_with(arbitrary);
        for byte in bytes {
            *byte = next(state);
        }
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
        let request = request.checked()?;
        self.host.borrow_mut().requests.push(request.clone());
        let headers = request.headers.keys().map(String::as_str);
        if let Some(reason) = mcp_servlet_types::refused_request(&request.method, headers) {
            let message = format!("invalid HTTP request: {reason}");
            return Err(crate::HttpError::new(message).with_kind(crate::HttpErrorKind::Request));
        }
        let Some(answer) = self.host.borrow().http.clone() else {
            return Err(crate::HttpError::new(
                "there is no HTTP outside of a host: see `TestContext::with_http`",
            ));
        };
        let mut answer = answer.borrow_mut();
        answer(request)
    }
}

/// A number that differs from run to run.
fn arbitrary() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}

/// One byte of the `SplitMix64` sequence.
fn next(state: &mut u64) -> u8 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)).to_le_bytes()[0]
}
