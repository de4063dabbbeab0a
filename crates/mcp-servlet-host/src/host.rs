//! Several servlets behind one list of tools.

use std::collections::HashMap;

use crate::{CallError, CallToolResult, Extras, JsonObject, LoadError, Servlet, Tool};

/// Loaded servlets and the index of their tools.
#[derive(Debug)]
pub struct Host {
    servlets: Vec<Servlet>,
    /// From the name of a tool to its servlet.
    index: HashMap<String, usize>,
}

impl Host {
    /// Puts servlets side by side, in the given order.
    ///
    /// # Errors
    /// [`LoadError::DuplicateTool`] if two of them have a tool of the same name.
    pub fn new(servlets: Vec<Servlet>) -> Result<Self, LoadError> {
        let mut index = HashMap::new();
        for (at, servlet) in servlets.iter().enumerate() {
            for tool in servlet.tools() {
                if let Some(first) = index.insert(tool.name().to_owned(), at) {
                    return Err(LoadError::DuplicateTool {
                        tool: tool.name().to_owned(),
                        first: servlets[first].origin().to_owned(),
                        second: servlet.origin().to_owned(),
                    });
                }
            }
        }
        Ok(Self { servlets, index })
    }

    /// The servlets, in order.
    pub fn servlets(&self) -> &[Servlet] {
        &self.servlets
    }

    /// All tools: servlet by servlet, each in its own order.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.servlets.iter().flat_map(Servlet::tools)
    }

    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.servlets[*self.index.get(name)?].tool(name)
    }

    /// Calls a tool and waits for its result; see [`Servlet::call`].
    ///
    /// # Errors
    /// [`CallError`].
    pub fn call(
        &self,
        tool: &str,
        arguments: Option<&JsonObject>,
    ) -> Result<CallToolResult, CallError> {
        match self.index.get(tool) {
            Some(at) => self.servlets[*at].call(tool, arguments),
            None => Err(CallError::unknown_tool(tool, self.tools().map(Tool::name))),
        }
    }

    /// Calls a tool on a thread that may block; see [`Servlet::call_async`].
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn call_async(
        &self,
        tool: &str,
        arguments: Option<&JsonObject>,
    ) -> Result<CallToolResult, CallError> {
        self.call_with(tool, arguments, &Extras::default()).await
    }

    /// As [`Host::call_async`], with what the request has beside the arguments.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn call_with(
        &self,
        tool: &str,
        arguments: Option<&JsonObject>,
        extras: &Extras,
    ) -> Result<CallToolResult, CallError> {
        match self.index.get(tool) {
            Some(at) => self.servlets[*at].call_with(tool, arguments, extras).await,
            None => Err(CallError::unknown_tool(tool, self.tools().map(Tool::name))),
        }
    }
}
