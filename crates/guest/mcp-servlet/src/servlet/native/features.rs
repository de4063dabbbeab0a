//! Resources, prompts and completion, called like a host does.

use mcp_servlet_types::{
    CompleteRequestParams, Completion, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, Prompt, ReadResourceResult, Resource,
    ResourceTemplate,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Servlet;
use super::exchange::{of_prompt, of_resource};
use crate::context::Context;
use crate::error::Fault;

impl Servlet {
    /// The resources with fixed URIs, as clients get them.
    pub fn list_resources(&self) -> Vec<Resource> {
        listed::<ListResourcesResult>(self.features.resources.text).resources
    }

    /// The resource templates, as clients get them.
    pub fn list_resource_templates(&self) -> Vec<ResourceTemplate> {
        listed::<ListResourceTemplatesResult>(self.features.templates.text).resource_templates
    }

    /// The prompts, as clients get them.
    pub fn list_prompts(&self) -> Vec<Prompt> {
        listed::<ListPromptsResult>(self.features.prompts.text).prompts
    }

    /// Reads a resource like a host, with an empty [`Context`].
    ///
    /// # Errors
    ///
    /// The fault that a client would get as a JSON-RPC error, including [`Fault::RESOURCE_NOT_FOUND`].
    pub fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, Fault> {
        self.read_resource_with(&Context::default(), uri)
    }

    /// Reads a resource with a context from [`testing`](crate::testing).
    ///
    /// # Errors
    ///
    /// Like [`read_resource`](Self::read_resource).
    pub fn read_resource_with(
        &self,
        context: &Context,
        uri: &str,
    ) -> Result<ReadResourceResult, Fault> {
        self.exchange(context).read_resource(uri)
    }

    /// Fills in a prompt like a host, with an empty [`Context`].
    ///
    /// MCP's arguments are strings; a number or a list is sent as a string with its JSON.
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
    /// Like [`get_prompt`](Self::get_prompt).
    pub fn get_prompt_with(
        &self,
        context: &Context,
        prompt: &str,
        arguments: impl Serialize,
    ) -> Result<GetPromptResult, Fault> {
        self.exchange(context).get_prompt(prompt, arguments)
    }

    /// Suggests values for an argument of a prompt. `typed` is what the user typed so far.
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
        self.complete_with(&Context::default(), of_prompt(prompt, argument, typed))
    }

    /// Suggests values for a variable of a resource template. `typed` is what the user typed so far.
    ///
    /// # Errors
    ///
    /// Like [`complete_prompt`](Self::complete_prompt).
    pub fn complete_resource(
        &self,
        uri_template: &str,
        variable: &str,
        typed: &str,
    ) -> Result<Completion, Fault> {
        let params = of_resource(uri_template, variable, typed);
        self.complete_with(&Context::default(), params)
    }

    /// Suggests values with a context from [`testing`](crate::testing), for any request of MCP.
    ///
    /// # Errors
    ///
    /// Like [`complete_prompt`](Self::complete_prompt).
    pub fn complete_with(
        &self,
        context: &Context,
        params: CompleteRequestParams,
    ) -> Result<Completion, Fault> {
        self.exchange(context).complete(params)
    }
}

/// Reads a list that `export!` rendered; an empty text is a section that is absent.
fn listed<T: DeserializeOwned + Default>(text: &[u8]) -> T {
    if text.is_empty() {
        return T::default();
    }
    mcp_servlet_json::from_slice(text).expect("`export!` renders a valid list")
}
