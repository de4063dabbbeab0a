//! Tests of a servlet with a [`Client`].
//!
//! A tool is an ordinary function: call it. To also run dispatch and argument reading, call the servlet through its
//! [`client`](crate::Servlet::client), which prepares what the host and the user's client provide.
//!
//! ```
//! use mcp_servlet::prelude::*;
//! use serde_json::json;
//!
//! /// Says who is configured.
//! #[tool]
//! fn who(context: &Context) -> Result<String, ToolError> {
//!     context.log(Level::Info, "asked");
//!     context.config_value("user").ok_or_else(|| ToolError::new("config key `user` is not set"))
//! }
//!
//! mcp_servlet::export!(static SERVLET = { tools: [who] });
//!
//! # fn main() -> Result<(), Fault> {
//! let client = SERVLET.client().with_config("user", "ada");
//! let result = client.call("who", json!({}))?;
//! assert_eq!(result.text(), "ada");
//! assert_eq!(client.logs(), [(Level::Info, "asked".to_owned())]);
//! # Ok(())
//! # }
//! ```
//!
//! [`SERVLET.call(…)`](crate::Servlet::call) is short for `SERVLET.client().call(…)`.
//!
//! A test that should also run against the wasm has [`#[mcp_servlet::test]`](macro@crate::test), and takes a
//! [`Client`].

mod client;
#[cfg(feature = "http")]
mod recorded;
mod remote;
mod tool_calls;

pub use mcp_servlet_types as types;
use mcp_servlet_types::CallToolResult;
use serde::Serialize;

pub use self::client::Client;
#[cfg(feature = "http")]
pub use self::recorded::RecordedHttp;
pub use self::tool_calls::ToolCall;
use crate::answer::error::Fault;
use crate::dispatch::servlet::Servlet;
use crate::host::context::State;

/// Runs the body of a test with a client of the servlet, or of its wasm under `servlet test`.
#[doc(hidden)]
pub fn run<T>(servlet: &'static Servlet, body: impl FnOnce(&Client) -> T) -> T {
    let address = std::env::var(remote::ADDRESS).ok();
    body(&Client::new(servlet, State::default(), address))
}

impl Servlet {
    /// A client of this servlet in the test's own process.
    pub fn client(&'static self) -> Client {
        Client::new(self, State::default(), None)
    }

    /// Calls a tool: short for `client().call(tool, arguments)`, see [`Client::call`].
    ///
    /// # Errors
    ///
    /// The fault that a client would get as a JSON-RPC error. A tool that returns an error is an `Ok` with
    /// `is_error`.
    pub fn call(
        &'static self,
        tool: &str,
        arguments: impl Serialize,
    ) -> Result<CallToolResult, Fault> {
        self.client().call(tool, arguments)
    }
}
