//! Prepares the client of a test. Each method returns a client of another instance.

use serde::Serialize;

use super::{Client, TestContext};
#[cfg(feature = "http")]
use crate::testing::recorded::{RecordedHttp, Recording, missing};

impl Client {
    /// A client with one more configuration value.
    #[must_use]
    pub fn with_config(&self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.with(|context| context.with_config(key, value))
    }

    /// A client with responses to HTTP requests, or failures, by method and URL, such as `GET
    /// https://example.com/`, see [`TestContext::with_recorded_http`]. No request is sent.
    ///
    /// Any other request ends the test. Without this method, the wasm may send requests as far as the
    /// options of `servlet test` allow; in this process, no request is ever sent.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn with_recorded_http<'a>(
        &self,
        answers: impl IntoIterator<Item = (&'a str, impl Into<RecordedHttp>)>,
    ) -> Self {
        let recording = Recording::new(answers);
        self.with(|context| {
            context.with_http(move |request| {
                let answer = recording.answer(request);
                answer.unwrap_or_else(|| panic!("{}", missing(request)))
            })
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
        self.with(|context| context.with_form(key, content))
    }

    /// A client with a user who declines the form `key`.
    #[must_use]
    pub fn with_declined_form(&self, key: &str) -> Self {
        self.with(|context| context.with_declined_form(key))
    }

    /// A client with a user who closes the form `key`.
    #[must_use]
    pub fn with_cancelled_form(&self, key: &str) -> Self {
        self.with(|context| context.with_cancelled_form(key))
    }

    /// A client with the answer of its model to the prompt `key`, see [`Context::sample`](crate::Context::sample).
    #[must_use]
    pub fn with_sample(&self, key: &str, text: &str) -> Self {
        self.with(|context| context.with_sample(key, text))
    }

    /// A client with roots, see [`Context::roots`](crate::Context::roots), which uses the key `roots`.
    #[must_use]
    pub fn with_roots<'a>(&self, key: &str, uris: impl IntoIterator<Item = &'a str>) -> Self {
        self.with(|context| context.with_roots(key, uris))
    }

    /// A client that only has these capabilities, such as `elicitation`; by default it has all.
    #[must_use]
    pub fn with_capabilities(&self, names: &[&str]) -> Self {
        self.with(|context| context.with_capabilities(names))
    }

    /// A client whose host does not pass on the capabilities, like early versions.
    #[must_use]
    pub fn without_capabilities(&self) -> Self {
        self.with(TestContext::without_capabilities)
    }

    /// A client of that name.
    #[must_use]
    pub fn with_client(&self, name: &str, version: &str) -> Self {
        self.with(|context| context.with_client(name, version))
    }

    /// A client with a value in the `_meta` of requests.
    ///
    /// # Panics
    ///
    /// If `value` cannot be written as JSON.
    #[must_use]
    pub fn with_meta(&self, key: &str, value: impl Serialize) -> Self {
        self.with(|context| context.with_meta(key, value))
    }

    fn with(&self, prepare: impl FnOnce(TestContext) -> TestContext) -> Self {
        Self::prepared(self.servlet, prepare(self.context.again()))
    }
}
