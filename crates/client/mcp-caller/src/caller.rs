//! The trait that generated clients are generic over.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Something that calls tools, reads resources and gets prompts of one MCP server.
///
/// How it answers is its own choice: [`Answer`](Self::Answer) may be a `Result`, or a future of one.
pub trait Caller {
    /// The result of a tool without an output schema.
    type Content;
    /// The contents of a resource.
    type Contents;
    /// The messages of a prompt.
    type Messages;
    /// What a request returns.
    type Answer<'a, T: 'a>
    where
        Self: 'a;

    /// Calls a tool, and reads its result into a type.
    fn call<'a, A, R>(
        &'a self,
        tool: &'static str,
        arguments: &A,
        wrap: Wrap,
    ) -> Self::Answer<'a, R>
    where
        A: Serialize,
        R: DeserializeOwned + Send + 'a;

    /// Calls a tool whose result has no type.
    fn call_untyped<A: Serialize>(
        &self,
        tool: &'static str,
        arguments: &A,
    ) -> Self::Answer<'_, Self::Content>;

    /// Reads the resource at a URI.
    fn read(&self, uri: &str) -> Self::Answer<'_, Self::Contents>;

    /// Gets the messages of a prompt. Each argument is a string.
    fn prompt<A: Serialize>(
        &self,
        prompt: &'static str,
        arguments: &A,
    ) -> Self::Answer<'_, Self::Messages>;
}

/// Where the value of a tool is in its structured content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// The structured content is the value.
    No,
    /// The value is the member `result`, because structured content is an object. The output schema says so with
    /// `x-fastmcp-wrap-result`.
    Result,
}

/// The arguments of a tool or a prompt that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NoArguments {}
