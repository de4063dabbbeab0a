//! The part of a host between a client and the exports of a servlet, in this process or elsewhere.

use mcp_servlet_json::{from_str, to_string, write_string};
use mcp_servlet_types::{
    CallToolResult, CompleteRequest, CompleteRequestParams, CompleteResult, Completion,
    CompletionArgument, CompletionReference, GetPromptResult, ReadResourceResult,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::context::Context;
use crate::error::Fault;

/// Writes requests, answers the servlet's requests for input, and reads results.
pub(crate) struct Exchange<'a, E> {
    /// The client's parameters and prepared answers.
    pub(crate) context: &'a Context,
    /// Calls an export with an input and returns its output.
    pub(crate) export: E,
}

impl<E: Fn(&str, &str) -> Result<String, Fault>> Exchange<'_, E> {
    pub(crate) fn call(
        &self,
        tool: &str,
        arguments: impl Serialize,
    ) -> Result<CallToolResult, Fault> {
        self.ask("call", &named(tool, arguments)?)
    }

    pub(crate) fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, Fault> {
        let mut params = String::from("\"uri\":");
        write_string(&mut params, uri);
        self.ask("read_resource", &params)
    }

    pub(crate) fn get_prompt(
        &self,
        prompt: &str,
        arguments: impl Serialize,
    ) -> Result<GetPromptResult, Fault> {
        self.ask("get_prompt", &named(prompt, arguments)?)
    }

    pub(crate) fn complete(&self, params: CompleteRequestParams) -> Result<Completion, Fault> {
        let request = to_string(&CompleteRequest::new(params))
            .map_err(|error| Fault::invalid_params(format!("the request is not JSON: {error}")))?;
        let result: CompleteResult = read(&(self.export)("complete", &request)?)?;
        Ok(result.completion)
    }

    /// Repeats the request until there is a result, and answers requests for input in between.
    fn ask<T: DeserializeOwned>(&self, export: &str, params: &str) -> Result<T, Fault> {
        let answer = self.context.converse(|request_meta| {
            let request = format!("{{\"params\":{{{params},{request_meta}}}}}");
            (self.export)(export, &request)
        })?;
        read(&answer)
    }
}

/// The request for suggestions for an argument of a prompt.
pub(crate) fn of_prompt(prompt: &str, argument: &str, typed: &str) -> CompleteRequestParams {
    let reference = CompletionReference {
        name: Some(prompt.to_owned()),
        ..CompletionReference::new("ref/prompt")
    };
    CompleteRequestParams::new(reference, CompletionArgument::new(argument, typed))
}

/// The request for suggestions for a variable of a resource template.
pub(crate) fn of_resource(template: &str, variable: &str, typed: &str) -> CompleteRequestParams {
    let reference = CompletionReference {
        uri: Some(template.to_owned()),
        ..CompletionReference::new("ref/resource")
    };
    CompleteRequestParams::new(reference, CompletionArgument::new(variable, typed))
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
pub(crate) fn read<T: DeserializeOwned>(answer: &str) -> Result<T, Fault> {
    from_str(answer).map_err(|error| Fault::internal(format!("the answer is not MCP's: {error}")))
}
