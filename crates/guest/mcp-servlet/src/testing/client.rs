//! The client of a test: for the servlet in this process, or for its wasm in the host of `servlet test`.

mod prepare;
mod tools;

use std::cell::RefCell;

use mcp_servlet_json::{RawJson, from_str, to_string, write_string};
use mcp_servlet_types::{
    CallToolResult, CompleteRequest, CompleteRequestParams, CompleteResult, Completion,
    CompletionArgument, CompletionReference, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, Prompt, ReadResourceResult, Resource,
    ResourceTemplate, ServletDescription,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::remote::Remote;
use crate::answer::error::Fault;
use crate::dispatch::servlet::Servlet;
use crate::host::context::{Context, Host, State};
use crate::host::level::Level;

/// Uses a servlet like a host: [`Servlet::client`] returns one for the servlet in the test's own process.
///
/// A test with [`#[mcp_servlet::test]`](macro@crate::test) takes one. Under `cargo test` it is for the servlet in the
/// test's own process, too. Under `servlet test` it is for the wasm. Both get the same JSON requests and return the
/// same JSON, and the client answers requests for input in the same way.
///
/// Every `with_…` returns a client of another instance without the state of this one: call these first.
#[derive(Debug)]
pub struct Client {
    servlet: &'static Servlet,
    /// What the test prepared, for clients of other instances.
    prepared: State,
    /// The host of the instance in this process. It also answers and records requests of wasm.
    context: Context,
    /// The connection to the host of `servlet test`, if the test runs there.
    wasm: Option<Wasm>,
}

#[derive(Debug)]
struct Wasm {
    address: String,
    /// None until the first request.
    remote: RefCell<Option<Remote>>,
}

impl Client {
    pub(super) fn new(servlet: &'static Servlet, prepared: State, address: Option<String>) -> Self {
        Self {
            servlet,
            context: Context {
                host: Host::new(prepared.clone()),
            },
            prepared,
            wasm: address.map(|address| Wasm {
                address,
                remote: RefCell::default(),
            }),
        }
    }

    /// The context of this instance, to call a function without the dispatch.
    ///
    /// ```
    /// use mcp_servlet::prelude::*;
    ///
    /// /// Says who is configured.
    /// #[tool]
    /// fn who(context: &Context) -> Option<String> {
    ///     context.config_value("user")
    /// }
    ///
    /// mcp_servlet::export!(static SERVLET = { tools: [who] });
    ///
    /// # fn main() {
    /// let client = SERVLET.client().with_config("user", "ada");
    /// assert_eq!(who(client.context()).as_deref(), Some("ada"));
    /// # }
    /// ```
    pub fn context(&self) -> &Context {
        &self.context
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
        self.ask("call", &named(tool, arguments)?)
    }

    /// The resources with fixed URIs, and those of templates that functions list.
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
        let mut params = String::from("\"uri\":");
        write_string(&mut params, uri);
        self.ask("read_resource", &params)
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
        self.ask("get_prompt", &named(prompt, arguments)?)
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
        let reference = CompletionReference {
            name: Some(prompt.to_owned()),
            ..CompletionReference::new("ref/prompt")
        };
        let argument = CompletionArgument::new(argument, typed);
        self.complete(CompleteRequestParams::new(reference, argument))
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
        let reference = CompletionReference {
            uri: Some(uri_template.to_owned()),
            ..CompletionReference::new("ref/resource")
        };
        let variable = CompletionArgument::new(variable, typed);
        self.complete(CompleteRequestParams::new(reference, variable))
    }

    /// Suggestions for any request of MCP: the values of other arguments are in `context`.
    ///
    /// # Errors
    ///
    /// Like [`list_resources`](Self::list_resources).
    pub fn complete(&self, params: CompleteRequestParams) -> Result<Completion, Fault> {
        let request = to_string(&CompleteRequest::new(params))
            .map_err(|error| Fault::invalid_params(format!("the request is not JSON: {error}")))?;
        let result: CompleteResult = read(&self.run("complete", request.as_bytes())?)?;
        Ok(result.completion)
    }

    /// The servlet's requests for input so far: key and MCP request.
    pub fn input_requests(&self) -> Vec<(String, RawJson)> {
        let host = self.context.host.state();
        let requests = host.client.input_requests.iter();
        requests
            .filter_map(|(key, request)| Some((key.clone(), RawJson::parse(request).ok()?)))
            .collect()
    }

    /// The parameters of the progress notifications so far; they need a `progressToken`, see
    /// [`with_meta`](Self::with_meta).
    pub fn progress(&self) -> Vec<RawJson> {
        raw(&self.context.host.state().progress)
    }

    /// The parameters of the log notifications to the client so far.
    pub fn client_logs(&self) -> Vec<RawJson> {
        raw(&self.context.host.state().messages)
    }

    /// How often the servlet has said that its [resources have changed](Context::resource_list_changed).
    ///
    /// # Panics
    ///
    /// Under `servlet test`, in a test with `#[mcp_servlet::test]`: only the host knows it there.
    pub fn resource_list_changes(&self) -> usize {
        self.native("resource_list_changes");
        self.context.host.state().resource_list_changes
    }

    /// The entries of the operator's log so far.
    ///
    /// # Panics
    ///
    /// Under `servlet test`, in a test with `#[mcp_servlet::test]`: they are in the log of that command.
    pub fn logs(&self) -> Vec<(Level, String)> {
        self.native("logs");
        self.context.host.state().logs.clone()
    }

    /// The HTTP requests so far that [`with_http`](Self::with_http) or
    /// [`with_recorded_http`](Self::with_recorded_http) answered.
    #[cfg(feature = "http")]
    pub fn requests(&self) -> Vec<crate::HttpRequest> {
        self.context.host.state().requests.clone()
    }

    /// Calls an export with a JSON input and returns its JSON output.
    ///
    /// Requests for input are not answered: they are a result of the type `input_required`.
    ///
    /// # Errors
    ///
    /// Like [`list_resources`](Self::list_resources), and if there is no such export. A trap of the
    /// wasm is a fault too, while a panic in this process ends the test.
    ///
    /// # Panics
    ///
    /// Under `servlet test`, in a test with `#[mcp_servlet::test]`, if `input` is not UTF-8.
    pub fn request(&self, export: &str, input: impl AsRef<[u8]>) -> Result<String, Fault> {
        if !self.servlet.exports(export) {
            let message = format!("the servlet does not export `{export}`");
            return Err(Fault::internal(message));
        }
        self.run(export, input.as_ref())
    }

    fn list<T: DeserializeOwned + Default>(&self, export: &str) -> Result<T, Fault> {
        if !self.servlet.exports(export) {
            return Ok(T::default());
        }
        read(&self.run(export, b"")?)
    }

    /// Repeats the request until there is a result, and answers requests for input in between.
    fn ask<T: DeserializeOwned>(&self, export: &str, params: &str) -> Result<T, Fault> {
        let answer = self.context.converse(|request_meta| {
            let request = format!("{{\"params\":{{{params},{request_meta}}}}}");
            self.run(export, request.as_bytes())
        })?;
        read(&answer)
    }

    /// Runs an export in this process or in the host. An export that the wasm lacks runs here, where it returns the error
    /// that a host would.
    fn run(&self, export: &str, input: &[u8]) -> Result<String, Fault> {
        let context = &self.context;
        match &self.wasm {
            Some(wasm) if self.servlet.exports(export) => wasm
                .remote
                .borrow_mut()
                .get_or_insert_with(|| Remote::connect(&wasm.address, &self.name(), context))
                .request(export, input, context),
            _ => self.servlet.run(context, export, input),
        }
    }

    /// The name by which the host knows the servlet.
    fn name(&self) -> String {
        let description: Result<ServletDescription, Fault> = read(self.servlet.description());
        let info = description.ok().and_then(|known| known.server_info);
        info.map_or_else(String::new, |info| info.name)
    }

    /// Panics if the test runs against the wasm: `method` needs a servlet in the test's own process.
    fn native(&self, method: &str) {
        assert!(
            self.wasm.is_none(),
            "the wasm uses the host's clock, randomness, variables and log: call `{method}` in a `#[test]` with `SERVLET.client()`"
        );
    }
}

/// The parameters of a request with a name and arguments.
fn named(name: &str, arguments: impl Serialize) -> Result<String, Fault> {
    let arguments = to_string(&arguments)
        .map_err(|error| Fault::invalid_params(format!("arguments are not JSON: {error}")))?;
    let mut params = String::from("\"name\":");
    write_string(&mut params, name);
    params.extend([",\"arguments\":", &arguments]);
    Ok(params)
}

/// Reads a result as its MCP type.
fn read<T: DeserializeOwned>(answer: &str) -> Result<T, Fault> {
    from_str(answer)
        .map_err(|error| Fault::internal(format!("the result is not valid MCP: {error}")))
}

fn raw(texts: &[String]) -> Vec<RawJson> {
    let parsed = texts.iter().filter_map(|text| RawJson::parse(text).ok());
    parsed.collect()
}
