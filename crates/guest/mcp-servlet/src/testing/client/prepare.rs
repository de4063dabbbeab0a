//! Prepares the host and the client of a test. Each method returns a client of another instance.

#[cfg(feature = "http")]
use std::cell::RefCell;
use std::collections::BTreeMap;
#[cfg(feature = "http")]
use std::panic::Location;
#[cfg(feature = "http")]
use std::rc::Rc;
use std::time::SystemTime;

use mcp_servlet_json::ObjectWriter;
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
        let mut response = action("accept");
        response.json("content", &json(&content));
        self.with_response(key, response)
    }

    /// A client with a user who declines the form `key`.
    #[must_use]
    pub fn with_declined_form(&self, key: &str) -> Self {
        self.with_response(key, action("decline"))
    }

    /// A client with a user who closes the form `key`.
    #[must_use]
    pub fn with_cancelled_form(&self, key: &str) -> Self {
        self.with_response(key, action("cancel"))
    }

    /// A client with a user who answers a question with yes or no, see [`Context::confirm`](crate::Context::confirm).
    #[must_use]
    pub fn with_confirmation(&self, question: &str, is_confirmed: bool) -> Self {
        let name = if is_confirmed { "accept" } else { "decline" };
        self.with_response(question, action(name))
    }

    /// A client with the answer of its model to the prompt `key`, see [`Context::sample`](crate::Context::sample).
    #[must_use]
    pub fn with_sample(&self, key: &str, text: &str) -> Self {
        let mut response = ObjectWriter::new();
        response.string("role", "assistant");
        response.string("model", "test");
        response.object("content", |content| {
            content.string("type", "text");
            content.string("text", text);
        });
        self.with_response(key, response)
    }

    /// A client with roots, see [`Context::roots`](crate::Context::roots), which uses the key `roots`.
    #[must_use]
    pub fn with_roots<'a>(&self, key: &str, uris: impl IntoIterator<Item = &'a str>) -> Self {
        let roots: Vec<_> = uris
            .into_iter()
            .map(|uri| BTreeMap::from([("uri", uri)]))
            .collect();
        let mut response = ObjectWriter::new();
        response.json("roots", &json(&roots));
        self.with_response(key, response)
    }

    fn with_response(&self, key: &str, response: ObjectWriter) -> Self {
        let response = response.finish();
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
        let mut info = ObjectWriter::new();
        info.string("name", name);
        info.string("version", version);
        let info = info.finish();
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

/// The response to a form.
fn action(name: &str) -> ObjectWriter {
    let mut response = ObjectWriter::new();
    response.string("action", name);
    response
}

pub(super) fn json(value: &(impl Serialize + ?Sized)) -> String {
    mcp_servlet_json::to_string(value).expect("the value cannot be written as JSON")
}
