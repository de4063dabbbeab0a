//! An MCP client: rmcp's, over the standard streams of a process that it starts.

use anyhow::Context;
use rmcp::model::{CallToolRequestParams, CallToolResult, JsonObject, Tool};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::{ServiceError, ServiceExt};
use serde_json::Value;
use tokio::process::Command;
use tokio::runtime::Runtime;

/// A client that is connected to a server.
#[derive(Debug)]
pub struct Client {
    runtime: Runtime,
    service: RunningService<RoleClient, ()>,
}

impl Client {
    /// Starts the command and shakes hands with it.
    ///
    /// # Errors
    ///
    /// If the command cannot run, or is no MCP server.
    pub fn start(command: std::process::Command) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let service = runtime.block_on(async {
            let process = TokioChildProcess::new(Command::from(command)).context("cannot start the server")?;
            ().serve(process).await.context("the server does not speak MCP")
        })?;
        Ok(Self { runtime, service })
    }

    /// All tools of the server.
    ///
    /// # Errors
    ///
    /// What the server answered instead.
    pub fn tools(&self) -> Result<Vec<Tool>, ServiceError> {
        self.runtime.block_on(self.service.list_all_tools())
    }

    /// Calls a tool; anything but an object as arguments is left out.
    ///
    /// # Errors
    ///
    /// What the server answered instead.
    pub fn call(&self, tool: &str, arguments: Value) -> Result<CallToolResult, ServiceError> {
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = object(arguments);
        self.runtime.block_on(self.service.call_tool(params))
    }

    /// What the server said of itself, as JSON.
    pub fn server(&self) -> Value {
        serde_json::to_value(self.service.peer_info()).unwrap_or_default()
    }

    /// Ends the connection and waits for the server to stop.
    ///
    /// # Errors
    ///
    /// If the connection's task failed.
    pub fn stop(self) -> anyhow::Result<()> {
        self.runtime.block_on(self.service.cancel())?;
        Ok(())
    }
}

fn object(value: Value) -> Option<JsonObject> {
    match value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}
