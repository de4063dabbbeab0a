//! What a test prepares for its client: each is a client of another instance.

use serde::Serialize;

use super::{Client, TestContext};
#[cfg(feature = "http")]
use crate::testing::recorded::{RecordedHttp, Recording, missing};

impl Client {
    /// With one more configuration value.
    #[must_use]
    pub fn with_config(&self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.with(|context| context.with_config(key, value))
    }

    /// With responses to HTTP requests, or failures, by method and URL, such as `GET https://example.com/`, see
    /// [`TestContext::with_recorded_http`]. Nothing is sent.
    ///
    /// A request that is not among them ends the test. Without this, the wasm may send requests as the options of
    /// `servlet test` allow it, and nothing sends any in this process.
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

    /// With what a person fills into the form `key`, see [`Context::elicit`](crate::Context::elicit).
    ///
    /// # Panics
    ///
    /// If `content` has no JSON.
    #[must_use]
    pub fn with_form(&self, key: &str, content: impl Serialize) -> Self {
        self.with(|context| context.with_form(key, content))
    }

    /// A client with a user who declines the form `key`.
    #[must_use]
    pub fn with_declined_form(&self, key: &str) -> Self {
        self.with(|context| context.with_declined_form(key))
    }

    /// With a person who closes the form `key`.
    #[must_use]
    pub fn with_cancelled_form(&self, key: &str) -> Self {
        self.with(|context| context.with_cancelled_form(key))
    }

    /// With what the client's model answers to the prompt `key`, see [`Context::sample`](crate::Context::sample).
    #[must_use]
    pub fn with_sample(&self, key: &str, text: &str) -> Self {
        self.with(|context| context.with_sample(key, text))
    }

    /// With the client's roots, see [`Context::roots`](crate::Context::roots), which asks for `roots`.
    #[must_use]
    pub fn with_roots<'a>(&self, key: &str, uris: impl IntoIterator<Item = &'a str>) -> Self {
        self.with(|context| context.with_roots(key, uris))
    }

    /// With a client that can do these things only, such as `elicitation`; all, unless said otherwise.
    #[must_use]
    pub fn with_capabilities(&self, names: &[&str]) -> Self {
        self.with(|context| context.with_capabilities(names))
    }

    /// With a host that does not say what its client can do, as the first ones did not.
    #[must_use]
    pub fn without_capabilities(&self) -> Self {
        self.with(TestContext::without_capabilities)
    }

    /// With a client of that name.
    #[must_use]
    pub fn with_client(&self, name: &str, version: &str) -> Self {
        self.with(|context| context.with_client(name, version))
    }

    /// With a value in the `_meta` of requests.
    ///
    /// # Panics
    ///
    /// If `value` has no JSON.
    #[must_use]
    pub fn with_meta(&self, key: &str, value: impl Serialize) -> Self {
        self.with(|context| context.with_meta(key, value))
    }

    fn with(&self, prepare: impl FnOnce(TestContext) -> TestContext) -> Self {
        Self::prepared(self.servlet, prepare(self.context.again()))
    }
}
