//! The client of a test: for the servlet in this process, or for its wasm in the host of `servlet test`.

mod prepare;

use std::cell::RefCell;

use mcp_servlet_json::RawJson;
use mcp_servlet_types::{
    CallToolResult, CompleteRequestParams, Completion, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, Prompt, ReadResourceResult, Resource,
    ResourceTemplate, ServletDescription,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::TestContext;
use super::remote::{ADDRESS, Remote};
use crate::context::Context;
use crate::error::Fault;
use crate::servlet::Servlet;
use crate::servlet::native::exchange::{Exchange, of_prompt, of_resource, read};

/// Uses a servlet like a host, in a test with `#[mcp_servlet::test]`.
///
/// Under `cargo test` the servlet is the one in the test's own process. Under `servlet test` it is the
/// wasm. Both get the same JSON requests and return the same JSON, and the client answers requests for
/// input in the same way.
///
/// Every `with_…` returns a client of another instance without the state of this one: call these first.
#[derive(Debug)]
pub struct Client {
    servlet: &'static Servlet,
    /// What the test prepared, and the requests and notifications of the servlet.
    context: TestContext,
    /// The host of `servlet test`, if the test runs there.
    host: Option<Host>,
}

#[derive(Debug)]
struct Host {
    address: String,
    /// None until the first request.
    remote: RefCell<Option<Remote>>,
}

impl Client {
    /// A client of the servlet, wherever this test runs it.
    pub(crate) fn new(servlet: &'static Servlet) -> Self {
        Self::prepared(servlet, TestContext::new())
    }

    fn prepared(servlet: &'static Servlet, context: TestContext) -> Self {
        let address = std::env::var(ADDRESS).ok();
        let host = address.map(|address| Host {
            address,
            remote: RefCell::default(),
        });
        Self {
            servlet,
            context,
            host,
        }
    }

    /// The description of the servlet.
    ///
    /// # Errors
    ///
    /// The fault that the host returns instead.
    pub fn describe(&self) -> Result<ServletDescription, Fault> {
        read(&self.request("describe", "")?)
    }

    /// Calls a tool with arguments: a struct, a map, or `json!({…})`.
    ///
    /// # Errors
    ///
    /// The fault that a client would get as a JSON-RPC error. A tool that returns an error is an `Ok`
    /// with `is_error`.
    pub fn call(&self, tool: &str, arguments: impl Serialize) -> Result<CallToolResult, Fault> {
        self.exchange().call(tool, arguments)
    }

    /// The resources with fixed URIs.
    ///
    /// # Errors
    ///
    /// The fault that a client would get as a JSON-RPC error; the methods below fail likewise.
    pub fn list_resources(&self) -> Result<Vec<Resource>, Fault> {
        let list: ListResourcesResult = self.list("list_resources")?;
        Ok(list.resources)
    }

    /// The resource templates.
    ///
    /// # Errors
    ///
    /// Like [`list_resources`](Self::list_resources).
    pub fn list_resource_templates(&self) -> Result<Vec<ResourceTemplate>, Fault> {
        let list: ListResourceTemplatesResult = self.list("list_resource_templates")?;
        Ok(list.resource_templates)
    }

    /// Reads a resource.
    ///
    /// # Errors
    ///
    /// Like [`list_resources`](Self::list_resources), including [`Fault::RESOURCE_NOT_FOUND`].
    pub fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, Fault> {
        self.exchange().read_resource(uri)
    }

    /// The prompts.
    ///
    /// # Errors
    ///
    /// Like [`list_resources`](Self::list_resources).
    pub fn list_prompts(&self) -> Result<Vec<Prompt>, Fault> {
        let list: ListPromptsResult = self.list("list_prompts")?;
        Ok(list.prompts)
    }

    /// Fills in a prompt. MCP's arguments are strings; a number or a list is sent as a string with its JSON.
    ///
    /// # Errors
    ///
    /// Like [`list_resources`](Self::list_resources).
    pub fn get_prompt(
        &self,
        prompt: &str,
        arguments: impl Serialize,
    ) -> Result<GetPromptResult, Fault> {
        self.exchange().get_prompt(prompt, arguments)
    }

    /// Suggestions for an argument of a prompt. `typed` is what the user typed so far.
    ///
    /// # Errors
    ///
    /// Like [`list_resources`](Self::list_resources).
    pub fn complete_prompt(
        &self,
        prompt: &str,
        argument: &str,
        typed: &str,
    ) -> Result<Completion, Fault> {
        self.complete(of_prompt(prompt, argument, typed))
    }

    /// Suggestions for a variable of a resource template. `typed` is what the user typed so far.
    ///
    /// # Errors
    ///
    /// Like [`list_resources`](Self::list_resources).
    pub fn complete_resource(
        &self,
        uri_template: &str,
        variable: &str,
        typed: &str,
    ) -> Result<Completion, Fault> {
        self.complete(of_resource(uri_template, variable, typed))
    }

    /// Suggestions for any request of MCP: the values of other arguments are in `context`.
    ///
    /// # Errors
    ///
    /// Like [`list_resources`](Self::list_resources).
    pub fn complete(&self, params: CompleteRequestParams) -> Result<Completion, Fault> {
        self.exchange().complete(params)
    }

    /// The servlet's requests for input so far: key and MCP request.
    pub fn asked(&self) -> Vec<(String, RawJson)> {
        self.context.asked()
    }

    /// The parameters of the progress notifications so far; they need a `progressToken`, see
    /// [`with_meta`](Self::with_meta).
    pub fn progress(&self) -> Vec<RawJson> {
        self.context.progress()
    }

    /// The parameters of the log notifications so far.
    pub fn client_logs(&self) -> Vec<RawJson> {
        self.context.client_logs()
    }

    /// The HTTP requests so far that [`with_recorded_http`](Self::with_recorded_http) answered.
    #[cfg(feature = "http")]
    pub fn requests(&self) -> Vec<crate::HttpRequest> {
        self.context.requests()
    }

    /// Calls an export with a JSON input and returns its JSON output.
    ///
    /// Requests for input are not answered: they are a result of the type `input_required`.
    ///
    /// # Errors
    ///
    /// Like [`list_resources`](Self::list_resources), and if there is no such export. A trap of the
    /// wasm is a fault too, while a panic in this process ends the test.
    pub fn request(&self, export: &str, input: &str) -> Result<String, Fault> {
        if !self.servlet.exports(export) {
            let message = format!("the servlet does not export `{export}`");
            return Err(Fault::internal(message));
        }
        self.run(export, input)
    }

    fn list<T: DeserializeOwned + Default>(&self, export: &str) -> Result<T, Fault> {
        if !self.servlet.exports(export) {
            return Ok(T::default());
        }
        read(&self.run(export, "")?)
    }

    fn exchange(&self) -> Exchange<'_, impl Fn(&str, &str) -> Result<String, Fault>> {
        Exchange {
            context: &self.context,
            export: |export: &str, input: &str| self.run(export, input),
        }
    }

    /// Runs an export in this process or in the host. If it is missing, every host returns the same error.
    fn run(&self, export: &str, input: &str) -> Result<String, Fault> {
        let context: &Context = &self.context;
        match &self.host {
            Some(host) if self.servlet.exports(export) => host
                .remote
                .borrow_mut()
                .get_or_insert_with(|| Remote::connect(&host.address, &self.name(), context))
                .request(export, input, context),
            _ => self.servlet.run(context, export, input),
        }
    }

    /// The name by which the host knows the servlet.
    fn name(&self) -> String {
        let info = self.servlet.describe().server_info;
        info.map_or_else(String::new, |info| info.name)
    }
}
