//! The client of a test: of the servlet in this process, or of its wasm in the host of `servlet test`.

use std::cell::RefCell;
use std::collections::BTreeMap;

use mcp_servlet_json::{from_str, to_string, write_string};
use mcp_servlet_types::{CallToolResult, ServletDescription};
use serde::Serialize;

use super::TestContext;
use super::remote::{ADDRESS, Remote};
use crate::error::Fault;
use crate::servlet::Servlet;

/// Calls a servlet as a host does, in a test that has `#[mcp_servlet::test]`.
///
/// Under `cargo test` the servlet is the one in the test's own process, with a context of its own. Under `servlet test`
/// it is the wasm, in an instance of its own. Requests and answers are the same JSON in both.
#[derive(Debug)]
pub struct Client {
    servlet: &'static Servlet,
    place: Place,
    config: BTreeMap<String, String>,
}

/// Where the servlet runs.
#[derive(Debug)]
enum Place {
    Here(Box<TestContext>),
    Host {
        address: String,
        remote: RefCell<Option<Remote>>,
    },
}

impl Client {
    /// A client of the servlet, wherever this test runs it.
    pub(crate) fn new(servlet: &'static Servlet) -> Self {
        Self::configured(servlet, BTreeMap::new())
    }

    fn configured(servlet: &'static Servlet, config: BTreeMap<String, String>) -> Self {
        let place = if let Ok(address) = std::env::var(ADDRESS) {
            Place::Host {
                address,
                remote: RefCell::default(),
            }
        } else {
            let with = |context: TestContext, (key, value)| context.with_config(key, value);
            let context = config.clone().into_iter().fold(TestContext::new(), with);
            Place::Here(Box::new(context))
        };
        Self {
            servlet,
            place,
            config,
        }
    }

    /// A client of another instance, with one more configuration value.
    #[must_use]
    pub fn with_config(&self, key: impl Into<String>, value: impl Into<String>) -> Self {
        let mut config = self.config.clone();
        config.insert(key.into(), value.into());
        Self::configured(self.servlet, config)
    }

    /// What the servlet says of itself.
    ///
    /// # Errors
    ///
    /// The fault with which the host answers instead.
    pub fn describe(&self) -> Result<ServletDescription, Fault> {
        let answer = self.request("describe", "")?;
        from_str(&answer).map_err(|error| {
            Fault::internal(format!("the answer is not a ServletDescription: {error}"))
        })
    }

    /// Calls a tool with arguments: a struct, a map, or `json!({…})`.
    ///
    /// # Errors
    ///
    /// The fault that a client would get as a JSON-RPC error. A tool that answers with an error is an `Ok`
    /// with `is_error`.
    pub fn call(&self, tool: &str, arguments: impl Serialize) -> Result<CallToolResult, Fault> {
        let arguments = to_string(&arguments)
            .map_err(|error| Fault::invalid_params(format!("arguments are not JSON: {error}")))?;
        let mut request = String::from("{\"params\":{\"name\":");
        write_string(&mut request, tool);
        request.extend([",\"arguments\":", &arguments, "}}"]);
        let answer = self.request("call", &request)?;
        from_str(&answer).map_err(|error| {
            Fault::internal(format!("the result is not a CallToolResult: {error}"))
        })
    }

    /// Gives an export its input and returns its output, JSON for JSON.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call); a wasm that traps is a fault too, where a panic in this process ends the test.
    pub fn request(&self, export: &str, input: &str) -> Result<String, Fault> {
        match &self.place {
            Place::Here(context) => match export {
                "describe" => Ok(self.servlet.description().to_owned()),
                "call" => self.servlet.call_raw(context, input.as_bytes()),
                _ => Err(Fault::internal(format!(
                    "the servlet does not export `{export}`"
                ))),
            },
            Place::Host { address, remote } => remote
                .borrow_mut()
                .get_or_insert_with(|| Remote::connect(address, &self.name(), &self.config))
                .request(export, input),
        }
    }

    /// The name by which the host knows the servlet.
    fn name(&self) -> String {
        let info = self.servlet.describe().server_info;
        info.map_or_else(String::new, |info| info.name)
    }
}
