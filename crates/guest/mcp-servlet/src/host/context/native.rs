//! The host of a context in native tests: what a test prepared.

mod tools;

use std::cell::{Ref, RefCell, RefMut};
use std::collections::BTreeMap;
use std::rc::Rc;
#[cfg(feature = "log")]
use std::rc::Weak;
use std::time::SystemTime;

pub(crate) use self::tools::{PreparedTools, ToolAnswer};
use super::client::Prepared;
#[cfg(feature = "http")]
use super::http::{HttpError, HttpErrorKind, HttpRequest, HttpResponse};
use crate::host::level::Level;

/// The test's host, shared with the logger.
#[derive(Debug, Default)]
pub(crate) struct Host {
    state: Rc<RefCell<State>>,
}

/// What a test prepared, and the effects of the servlet's calls.
#[derive(Clone, Default)]
pub(crate) struct State {
    pub(crate) config: BTreeMap<String, String>,
    pub(crate) vars: BTreeMap<String, Vec<u8>>,
    pub(crate) logs: Vec<(Level, String)>,
    /// The current request; empty without one.
    pub(crate) request: String,
    pub(crate) once: String,
    /// What a request contains in addition to its arguments.
    pub(crate) client: Prepared,
    pub(crate) progress: Vec<String>,
    pub(crate) messages: Vec<String>,
    pub(crate) resource_list_changes: usize,
    pub(crate) now: Option<SystemTime>,
    pub(crate) random: Option<u64>,
    pub(crate) tools: PreparedTools,
    #[cfg(feature = "http")]
    pub(crate) http: Option<Answer>,
    #[cfg(feature = "http")]
    pub(crate) requests: Vec<HttpRequest>,
}

/// Answers HTTP requests in a test.
#[cfg(feature = "http")]
pub(crate) type Answer = Rc<RefCell<dyn FnMut(&HttpRequest) -> Result<HttpResponse, HttpError>>>;

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("config", &self.config)
            .field("vars", &self.vars)
            .field("logs", &self.logs)
            .finish_non_exhaustive()
    }
}

impl Host {
    /// A host that begins in this state.
    pub(crate) fn new(state: State) -> Self {
        Self {
            state: Rc::new(RefCell::new(state)),
        }
    }

    pub(crate) fn state(&self) -> Ref<'_, State> {
        self.state.borrow()
    }

    pub(crate) fn state_mut(&self) -> RefMut<'_, State> {
        self.state.borrow_mut()
    }

    /// The state, for as long as the context exists.
    #[cfg(feature = "log")]
    pub(crate) fn weak_state(&self) -> Weak<RefCell<State>> {
        Rc::downgrade(&self.state)
    }

    /// In a test, the values in `_meta` are those that the test has set.
    #[allow(clippy::unused_self, reason = "in wasm, the host answers this")]
    pub(super) fn keeps_meta(&self) -> bool {
        true
    }

    pub(super) fn config_value(&self, key: &str) -> Option<String> {
        let value = self.state().config.get(key).cloned();
        value.filter(|value| !value.is_empty())
    }

    pub(super) fn var(&self, key: &str) -> Option<Vec<u8>> {
        self.state().vars.get(key).cloned()
    }

    pub(super) fn set_var(&self, key: &str, value: &[u8]) {
        if value.is_empty() {
            return self.remove_var(key);
        }
        self.state_mut().vars.insert(key.into(), value.into());
    }

    pub(super) fn remove_var(&self, key: &str) {
        self.state_mut().vars.remove(key);
    }

    pub(super) fn log(&self, level: Level, text: &str) {
        self.state_mut().logs.push((level, text.into()));
    }

    pub(super) fn now(&self) -> SystemTime {
        self.state().now.unwrap_or_else(SystemTime::now)
    }

    pub(super) fn random(&self, bytes: &mut [u8]) {
        let mut state = self.state_mut();
        let seed = state.random.get_or_insert_with(arbitrary);
        for byte in bytes {
            *byte = next(seed);
        }
    }

    #[cfg(feature = "http")]
    pub(super) fn http(&self, request: &HttpRequest) -> Result<HttpResponse, HttpError> {
        let headers = request.headers.keys().map(String::as_str);
        if let Some(reason) = mcp_servlet_types::refused_request(&request.method, headers) {
            let message = format!("invalid HTTP request: {reason}");
            return Err(HttpError::new(message).with_kind(HttpErrorKind::Request));
        }
        let Some(answer) = self.state().http.clone() else {
            return Err(HttpError::new(
                "there is no HTTP outside of a host: see `Client::with_http`",
            ));
        };
        self.state_mut().requests.push(request.clone());
        let mut answer = answer.borrow_mut();
        answer(request)
    }

    /// A test answers one request after the other.
    #[cfg(feature = "http")]
    #[allow(clippy::unused_self, reason = "the wasm host has the same signature")]
    pub(super) fn http_all(
        &self,
        _: &[HttpRequest],
    ) -> Option<Vec<Result<HttpResponse, HttpError>>> {
        None
    }

    pub(crate) fn notify_progress(&self, params: String) {
        self.state_mut().progress.push(params);
    }

    pub(crate) fn notify_logging_message(&self, params: String) {
        self.state_mut().messages.push(params);
    }

    pub(crate) fn notify_resource_list_changed(&self) {
        self.state_mut().resource_list_changes += 1;
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
