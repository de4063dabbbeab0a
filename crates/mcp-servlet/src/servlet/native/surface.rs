//! Resources, prompts and completion, answered as a host would get them.

use mcp_servlet_json::{from_str, to_string, write_string};
use mcp_servlet_types::{
    CompleteRequest, CompleteRequestParams, CompleteResult, Completion, CompletionArgument,
    CompletionReference, GetPromptResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, Prompt, ReadResourceResult, Resource, ResourceTemplate,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Servlet;
use crate::context::Context;
use crate::error::Fault;
use crate::surface::Surface;

impl Servlet {
    /// The resources with fixed addresses, as clients get them.
    pub fn list_resources(&self) -> Vec<Resource> {
        listed::<ListResourcesResult>(self.surface.resources.text).resources
    }

    /// The resource templates, as clients get them.
    pub fn list_resource_templates(&self) -> Vec<ResourceTemplate> {
        listed::<ListResourceTemplatesResult>(self.surface.templates.text).resource_templates
    }

    /// The prompts, as clients get them.
    pub fn list_prompts(&self) -> Vec<Prompt> {
        listed::<ListPromptsResult>(self.surface.prompts.text).prompts
    }

    /// Reads a resource as a host would, with a [`Context`] that has nothing configured.
    ///
    /// # Errors
    ///
    /// The fault that a client would get as a JSON-RPC error, [`Fault::RESOURCE_NOT_FOUND`] among them.
    pub fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, Fault> {
        self.read_resource_with(&Context::default(), uri)
    }

    /// Reads a resource with a context from [`testing`](crate::testing).
    ///
    /// # Errors
    ///
    /// As [`read_resource`](Self::read_resource).
    pub fn read_resource_with(
        &self,
        context: &Context,
        uri: &str,
    ) -> Result<ReadResourceResult, Fault> {
        let mut params = String::from("\"uri\":");
        write_string(&mut params, uri);
        read(&self.ask(context, &params, Surface::read_resource)?)
    }

    /// Fills in a prompt as a host would, with a [`Context`] that has nothing configured.
    ///
    /// MCP's arguments are strings; a number or a list stands for the string of its JSON.
    ///
    /// # Errors
    ///
    /// The fault that a client would get as a JSON-RPC error.
    pub fn get_prompt(
        &self,
        prompt: &str,
        arguments: impl Serialize,
    ) -> Result<GetPromptResult, Fault> {
        self.get_prompt_with(&Context::default(), prompt, arguments)
    }

    /// Fills in a prompt with a context from [`testing`](crate::testing).
    ///
    /// # Errors
    ///
    /// As [`get_prompt`](Self::get_prompt).
    pub fn get_prompt_with(
        &self,
        context: &Context,
        prompt: &str,
        arguments: impl Serialize,
    ) -> Result<GetPromptResult, Fault> {
        let arguments = to_string(&arguments)
            .map_err(|error| Fault::invalid_params(format!("arguments are not JSON: {error}")))?;
        let mut params = String::from("\"name\":");
        write_string(&mut params, prompt);
        params.push_str(",\"arguments\":");
        params.push_str(&arguments);
        read(&self.ask(context, &params, Surface::get_prompt)?)
    }

    /// Suggests values for an argument of a prompt, of which `typed` is there so far.
    ///
    /// # Errors
    ///
    /// The fault that a client would get as a JSON-RPC error.
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
        self.complete_with(
            &Context::default(),
            CompleteRequestParams::new(reference, argument),
        )
    }

    /// Suggests values for a variable of a resource template, of which `typed` is there so far.
    ///
    /// # Errors
    ///
    /// As [`complete_prompt`](Self::complete_prompt).
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
        let argument = CompletionArgument::new(variable, typed);
        self.complete_with(
            &Context::default(),
            CompleteRequestParams::new(reference, argument),
        )
    }

    /// Suggests values with a context from [`testing`](crate::testing), and with all that MCP knows.
    ///
    /// # Errors
    ///
    /// As [`complete_prompt`](Self::complete_prompt).
    pub fn complete_with(
        &self,
        context: &Context,
        params: CompleteRequestParams,
    ) -> Result<Completion, Fault> {
        let request = to_string(&CompleteRequest::new(params))
            .map_err(|error| Fault::invalid_params(format!("the request is not JSON: {error}")))?;
        let answer = self.answer_with(context, &request, Surface::complete)?;
        Ok(read::<CompleteResult>(&answer)?.completion)
    }

    /// Asks until there is an answer, and answers what is asked in return.
    fn ask(&self, context: &Context, params: &str, answer: Answer) -> Result<String, Fault> {
        context.converse(|extras| {
            let request = format!("{{\"params\":{{{params},{extras}}}}}");
            self.answer_with(context, &request, answer)
        })
    }

    fn answer_with(
        &self,
        context: &Context,
        request: &str,
        answer: Answer,
    ) -> Result<String, Fault> {
        context.begin(request);
        let answered = answer(self.surface, context, Some(request));
        context.begin("");
        answered
    }
}

/// What an export answers to a request.
type Answer = fn(&Surface, &Context, Option<&str>) -> Result<String, Fault>;

/// What `export!` rendered; an empty text is a section that is not there.
fn listed<T: DeserializeOwned + Default>(text: &[u8]) -> T {
    if text.is_empty() {
        return T::default();
    }
    mcp_servlet_json::from_slice(text).expect("`export!` renders a valid list")
}

fn read<T: DeserializeOwned>(answer: &str) -> Result<T, Fault> {
    from_str(answer).map_err(|error| Fault::internal(format!("the answer is not MCP's: {error}")))
}
