//! Prepares the host and the client of a test. Each method returns a client of another instance.

#[cfg(feature = "http")]
use std::cell::RefCell;
#[cfg(feature = "http")]
use std::panic::Location;
#[cfg(feature = "http")]
use std::rc::Rc;
use std::time::SystemTime;

use serde::Serialize;

use super::Client;
use crate::host::context::{CLIENT_INFO, State};
#[cfg(feature = "http")]
use crate::testing::recorded::{RecordedHttp, Recording, missing};

impl Client {
    /// A client with one more configuration value.
    #[must_use]
    pub fn with_config(&self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.with(|host| host.config.insert(key.into(), value.into()))
    }

    /// A client with a variable.
    ///
    /// # Panics
    ///
    /// Under `servlet test`, in a test with `#[mcp_servlet::test]`: variables belong to the wasm's host. The same
    /// holds for the clock and for random numbers.
    #[must_use]
    pub fn with_var(&self, key: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        self.native("with_var");
        self.with(|host| host.vars.insert(key.into(), value.into()))
    }

    /// A client with a clock that always returns `now`.
    ///
    /// # Panics
    ///
    /// Like [`with_var`](Self::with_var).
    #[must_use]
    pub fn with_now(&self, now: SystemTime) -> Self {
        self.native("with_now");
        self.with(|host| host.now = Some(now))
    }

    /// A client with random numbers that repeat in each run.
    ///
    /// # Panics
    ///
    /// Like [`with_var`](Self::with_var).
    #[must_use]
    pub fn with_random_seed(&self, seed: u64) -> Self {
        self.native("with_random_seed");
        self.with(|host| host.random = Some(seed))
    }

    /// A client with a function that answers every HTTP request. No request is sent.
    ///
    /// Without this method, the wasm may send requests as far as the options of `servlet test` allow; in this
    /// process, no request is ever sent.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn with_http(
        &self,
        answer: impl FnMut(&crate::HttpRequest) -> Result<crate::HttpResponse, crate::HttpError>
        + 'static,
    ) -> Self {
        self.with(|host| host.http = Some(Rc::new(RefCell::new(answer))))
    }

    /// A client with responses to HTTP requests, or failures, by method and URL, such as `GET
    /// https://example.com/`. Any other request ends the test.
    ///
    /// ```
    /// use mcp_servlet::prelude::*;
    /// use mcp_servlet::{HttpErrorKind, HttpRequest, HttpResponse};
    /// use serde_json::json;
    ///
    /// /// Counts the characters of a page.
    /// #[tool]
    /// fn count(context: &Context, url: String) -> Result<usize, ToolError> {
    ///     Ok(context.http(&HttpRequest::get(url))?.text()?.len())
    /// }
    ///
    /// mcp_servlet::export!(static SERVLET = { tools: [count] });
    ///
    /// # fn main() -> Result<(), Fault> {
    /// let client = SERVLET.client().with_recorded_http([
    ///     ("GET https://example.com/", Ok(HttpResponse::new(200, "hello"))),
    ///     ("GET https://example.org/", Err(HttpErrorKind::Timeout)),
    /// ]);
    /// let result = client.call("count", json!({ "url": "https://example.com/" }))?;
    /// assert_eq!(result.text(), "5");
    /// let result = client.call("count", json!({ "url": "https://example.org/" }))?;
    /// assert_eq!(result.is_error, Some(true));
    /// assert_eq!(client.requests().len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "http")]
    #[must_use]
    #[track_caller]
    pub fn with_recorded_http<'a>(
        &self,
        answers: impl IntoIterator<Item = (&'a str, impl Into<RecordedHttp>)>,
    ) -> Self {
        let recording = Recording::new(answers);
        let place = Location::caller();
        self.with_http(move |request| {
            let answer = recording.answer(request);
            answer
                .unwrap_or_else(|| panic!("{}; the recorded ones are at {place}", missing(request)))
        })
    }

    /// A client with the values that a user enters into the form `key`, see
    /// [`Context::elicit`](crate::Context::elicit).
    ///
    /// # Panics
    ///
    /// If `content` cannot be written as JSON.
    #[must_use]
    pub fn with_form(&self, key: &str, content: impl Serialize) -> Self {
        let response = format!("{{\"action\":\"accept\",\"content\":{}}}", json(&content));
        self.with_response(key, response)
    }

    /// A client with a user who declines the form `key`.
    #[must_use]
    pub fn with_declined_form(&self, key: &str) -> Self {
        self.with_response(key, "{\"action\":\"decline\"}".to_owned())
    }

    /// A client with a user who closes the form `key`.
    #[must_use]
    pub fn with_cancelled_form(&self, key: &str) -> Self {
        self.with_response(key, "{\"action\":\"cancel\"}".to_owned())
    }

    /// A client with a user who answers a question with yes or no, see [`Context::confirm`](crate::Context::confirm).
    #[must_use]
    pub fn with_confirmation(&self, question: &str, is_confirmed: bool) -> Self {
        if is_confirmed {
            self.with_response(question, "{\"action\":\"accept\"}".to_owned())
        } else {
            self.with_declined_form(question)
        }
    }

    /// A client with the answer of its model to the prompt `key`, see [`Context::sample`](crate::Context::sample).
    #[must_use]
    pub fn with_sample(&self, key: &str, text: &str) -> Self {
        let response = format!(
            "{{\"role\":\"assistant\",\"model\":\"test\",\"content\":{{\"type\":\"text\",\"text\":{}}}}}",
            json(text)
        );
        self.with_response(key, response)
    }

    /// A client with roots, see [`Context::roots`](crate::Context::roots), which uses the key `roots`.
    #[must_use]
    pub fn with_roots<'a>(&self, key: &str, uris: impl IntoIterator<Item = &'a str>) -> Self {
        let root = |uri| format!("{{\"uri\":{}}}", json(uri));
        let roots: Vec<_> = uris.into_iter().map(root).collect();
        self.with_response(key, format!("{{\"roots\":[{}]}}", roots.join(",")))
    }

    fn with_response(&self, key: &str, response: String) -> Self {
        self.with(|host| host.client.responses.insert(key.to_owned(), response))
    }

    /// A client that only has these capabilities, such as `elicitation`; by default it has all.
    #[must_use]
    pub fn with_capabilities(&self, names: &[&str]) -> Self {
        let capabilities = names
            .iter()
            .map(|name| ((*name).to_owned(), "{}".to_owned()));
        self.with(|host| host.client.capabilities = Some(capabilities.collect()))
    }

    /// A client whose host does not pass on the capabilities, like early versions.
    #[must_use]
    pub fn without_capabilities(&self) -> Self {
        self.with(|host| host.client.capabilities = None)
    }

    /// A client of that name. Completion requests do not carry it, like those of `servlet serve`.
    #[must_use]
    pub fn with_client(&self, name: &str, version: &str) -> Self {
        let info = format!("{{\"name\":{},\"version\":{}}}", json(name), json(version));
        self.with(|host| host.client.meta.insert(CLIENT_INFO.to_owned(), info))
    }

    /// A client with a value in the `_meta` of requests. A `progressToken` enables
    /// [`progress`](Self::progress). Completion requests do not carry it, like those of `servlet serve`.
    ///
    /// # Panics
    ///
    /// If `value` cannot be written as JSON.
    #[must_use]
    pub fn with_meta(&self, key: &str, value: impl Serialize) -> Self {
        let value = json(&value);
        self.with(|host| host.client.meta.insert(key.to_owned(), value))
    }

    pub(super) fn with<T>(&self, prepare: impl FnOnce(&mut State) -> T) -> Self {
        let mut prepared = self.prepared.clone();
        prepare(&mut prepared);
        let address = self.wasm.as_ref().map(|wasm| wasm.address.clone());
        Self::new(self.servlet, prepared, address)
    }
}

pub(super) fn json(value: &(impl Serialize + ?Sized)) -> String {
    mcp_servlet_json::to_string(value).expect("the value cannot be written as JSON")
}
