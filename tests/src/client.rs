//! An MCP client: rmcp's, over the standard streams of a process.

use anyhow::Context;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientRequest, JsonObject, ProtocolVersion, Tool,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::{ServiceError, ServiceExt};
use serde_json::Value;
use tokio::process::Command;
use tokio::runtime::Runtime;

/// The lifecycle of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// With a handshake, as in all protocol versions up to 2025-11-25.
    Handshake,
    /// With metadata in each request, since 2026-07-28.
    Stateless,
}

/// A client that is connected to a server.
#[derive(Debug)]
pub struct Client {
    runtime: Runtime,
    service: RunningService<RoleClient, ()>,
}

impl Client {
    /// Starts the command and opens a session.
    ///
    /// # Errors
    ///
    /// If the command cannot run, or is not an MCP server.
    pub fn start(command: std::process::Command) -> anyhow::Result<Self> {
        Self::start_in(Era::Handshake, command)
    }

    /// Starts the command and connects in this way.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn start_in(era: Era, command: std::process::Command) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let service = runtime.block_on(async {
            let process = TokioChildProcess::new(Command::from(command))
                .context("cannot start the server")?;
            let connected = match era {
                Era::Handshake => ().serve(process).await,
                Era::Stateless => ().serve_with_lifecycle(process, stateless()).await,
            };
            connected.context("the server does not speak MCP")
        })?;
        Ok(Self { runtime, service })
    }

    /// All tools of the server.
    ///
    /// # Errors
    ///
    /// The error of the server.
    pub fn tools(&self) -> Result<Vec<Tool>, ServiceError> {
        self.runtime.block_on(self.service.list_all_tools())
    }

    /// Calls a tool. Arguments that are not an object are left out.
    ///
    /// # Errors
    ///
    /// What the server answered instead.
    pub fn call(&self, tool: &str, arguments: Value) -> Result<CallToolResult, ServiceError> {
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = object(arguments);
        self.runtime.block_on(self.service.call_tool(params))
    }

    /// Sends a request that does not call a tool, and returns the result as JSON.
    ///
    /// # Errors
    ///
    /// What the server answered instead.
    pub fn ask(&self, request: ClientRequest) -> Result<Value, ServiceError> {
        let result = self.runtime.block_on(self.service.send_request(request))?;
        serde_json::to_value(result).map_err(|_| ServiceError::UnexpectedResponse)
    }

    /// The server's description of itself, as JSON.
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

fn stateless() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    }
}

fn object(value: Value) -> Option<JsonObject> {
    match value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}
