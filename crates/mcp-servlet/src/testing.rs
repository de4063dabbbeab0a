//! Tests without a host.
//!
//! A tool is an ordinary function: call it. To go through dispatch and argument reading, call
//! [`Servlet::call`](crate::Servlet::call); to prepare what the host would offer, make a
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
//!     context.config("user").ok_or_else(|| ToolError::new("config key `user` is not set"))
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

use std::ops::Deref;
use std::time::SystemTime;

use crate::context::{Context, Host, Level};

/// A [`Context`] that a test prepares and looks into.
#[derive(Debug, Default)]
pub struct TestContext {
    context: Context,
}

impl TestContext {
    /// A context with nothing in it, the real time, and random numbers.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with a configuration value.
    #[must_use]
    pub fn with_config(self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.with(|host| host.config.insert(key.into(), value.into()))
    }

    /// The same with a variable.
    #[must_use]
    pub fn with_var(self, key: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        self.with(|host| host.vars.insert(key.into(), value.into()))
    }

    /// The same with a clock that stands still.
    #[must_use]
    pub fn with_now(self, now: SystemTime) -> Self {
        self.with(|host| host.now = Some(now))
    }

    /// The same with random numbers that repeat.
    #[must_use]
    pub fn with_random_seed(self, seed: u64) -> Self {
        self.with(|host| host.random = Some(seed))
    }

    /// The same with an answer to every HTTP request.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn with_http(
        self,
        answer: impl FnMut(&crate::HttpRequest) -> Result<crate::HttpResponse, crate::HttpError>
        + 'static,
    ) -> Self {
        self.with(|host| host.http = Some(Box::new(answer)))
    }

    /// What was logged so far.
    pub fn logs(&self) -> Vec<(Level, String)> {
        self.context.host.borrow().logs.clone()
    }

    fn with<T>(self, change: impl FnOnce(&mut Host) -> T) -> Self {
        change(&mut self.context.host.borrow_mut());
        self
    }
}

impl Deref for TestContext {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}
