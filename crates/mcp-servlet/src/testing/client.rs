//! The client of a test: of the servlet in this process, or of its wasm in the host of `servlet test`.

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

/// Uses a servlet as a host does, in a test that has `#[mcp_servlet::test]`.
///
/// Under `cargo test` the servlet is the one in the test's own process. Under `servlet test` it is the wasm. Requests and
/// answers are the same JSON in both, and so is what the client answers where the servlet asks.
///
/// Every `with_…` is a client of another instance, which remembers nothing of this one: prepare first, and ask then.
#[derive(Debug)]
pub struct Client {
    servlet: &'static Servlet,
    /// What the test prepared, and what the servlet told and asked.
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

    /// What the servlet says of itself.
    ///
    /// # Errors
    ///
    /// The fault with which the host answers instead.
    pub fn describe(&self) -> Result<ServletDescription, Fault> {
        read(&self.request("describe", "")?)
    }

    /// Calls a tool with arguments: a struct, a map, or `json!({…})`.
    ///
    /// # Errors
    ///
    /// The fault that a client would get as a JSON-RPC error. A tool that answers with an error is an `Ok`
    /// with `is_error`.
    pub fn call(&self, tool: &str, arguments: impl Serialize) -> Result<CallToolResult, Fault> {
        self.exchange().call(tool, arguments)
    }

    /// The resources with fixed addresses.
    ///
    /// # Errors
    ///
    /// The fault that a client would get as a JSON-RPC error, here and below.
    pub fn list_resources(&self) -> Result<Vec<Resource>, Fault> {
        let list: ListResourcesResult = self.list("list_resources")?;
        Ok(list.resources)
    }

    /// The resource templates.
    ///
    /// # Errors
    ///
    /// As [`list_resources`](Self::list_resources).
    pub fn list_resource_templates(&self) -> Result<Vec<ResourceTemplate>, Fault> {
        let list: ListResourceTemplatesResult = self.list("list_resource_templates")?;
        Ok(list.resource_templates)
    }

    /// Reads a resource.
    ///
    /// # Errors
    ///
    /// As [`list_resources`](Self::list_resources), [`Fault::RESOURCE_NOT_FOUND`] among them.
    pub fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, Fault> {
        self.exchange().read_resource(uri)
    }

    /// The prompts.
    ///
    /// # Errors
    ///
    /// As [`list_resources`](Self::list_resources).
    pub fn list_prompts(&self) -> Result<Vec<Prompt>, Fault> {
        let list: ListPromptsResult = self.list("list_prompts")?;
        Ok(list.prompts)
    }

    /// Fills in a prompt. MCP's arguments are strings; a number or a list stands for the string of its JSON.
    ///
    /// # Errors
    ///
    /// As [`list_resources`](Self::list_resources).
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
    /// As [`list_resources`](Self::list_resources).
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
    /// As [`list_resources`](Self::list_resources).
    pub fn complete_resource(
        &self,
        uri_template: &str,
        variable: &str,
        typed: &str,
    ) -> Result<Completion, Fault> {
        self.complete(of_resource(uri_template, variable, typed))
    }

    /// Suggestions, with all that MCP knows: the values of other arguments go into `context`.
    ///
    /// # Errors
    ///
    /// As [`list_resources`](Self::list_resources).
    pub fn complete(&self, params: CompleteRequestParams) -> Result<Completion, Fault> {
        self.exchange().complete(params)
    }

    /// What the servlet asked so far: keys, and MCP's requests.
    pub fn asked(&self) -> Vec<(String, RawJson)> {
        self.context.asked()
    }

    /// The parameters of the progress notifications so far; they want a [`with_meta`](Self::with_meta) `progressToken`.
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

    /// Gives an export its input and returns its output, JSON for JSON.
    ///
    /// Nothing is answered on the way: a servlet that asks has a result of the type `input_required`.
    ///
    /// # Errors
    ///
    /// As [`list_resources`](Self::list_resources), and if there is no such export. A wasm that traps is a fault too,
    /// where a panic in this process ends the test.
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

    /// Runs an export where the servlet is. For what it does not export, every host has the same answer.
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
