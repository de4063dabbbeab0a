//! One server, as generated clients call it.

use std::borrow::Cow;

use mcp_caller::{Caller, Wrap};
use mcp_servlet_json::to_string;
use mcp_servlet_types::{CallToolResult, PromptMessage, ResourceContents};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::UNSUPPORTED;
use super::{Tools, ToolsError, joined};

/// One server, for a client that `servlet gen client` has generated: [`Tools::member`].
///
/// A servlet cannot get prompts of other servers: such a request is an error of the kind
/// [`Unsupported`](super::ToolsErrorKind::Unsupported).
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    tools: Tools<'a>,
    name: &'a str,
}

impl<'a> Member<'a> {
    #[inline]
    pub(super) fn new(tools: Tools<'a>, name: &'a str) -> Self {
        Self { tools, name }
    }
}

impl Caller for Member<'_> {
    type Content = CallToolResult;
    type Contents = Vec<ResourceContents>;
    type Messages = Vec<PromptMessage>;
    type Answer<'a, T: 'a>
        = Result<T, ToolsError>
    where
        Self: 'a;

    fn call<'a, A, R>(
        &'a self,
        tool: &'static str,
        arguments: &A,
        wrap: Wrap,
    ) -> Result<R, ToolsError>
    where
        A: Serialize,
        R: DeserializeOwned + Send + 'a,
    {
        let tool = joined(self.name, tool);
        self.tools.call_wrapped(&tool, to_string(arguments), wrap)
    }

    fn call_untyped<A: Serialize>(
        &self,
        tool: &'static str,
        arguments: &A,
    ) -> Result<CallToolResult, ToolsError> {
        let tool = joined(self.name, tool);
        self.tools.call_untyped(&tool, to_string(arguments))
    }

    #[inline]
    fn read(&self, uri: &str) -> Result<Vec<ResourceContents>, ToolsError> {
        self.tools.read(self.name, uri)
    }

    fn prompt<A: Serialize>(
        &self,
        prompt: &'static str,
        _: &A,
    ) -> Result<Vec<PromptMessage>, ToolsError> {
        let message = String::from("a servlet cannot get prompts of other servers");
        let prompt = joined(self.name, prompt);
        Err(ToolsError::at(&prompt, message, Cow::Borrowed(UNSUPPORTED)))
    }
}
