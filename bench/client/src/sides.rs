//! The two clients.

use anyhow::Context as _;
use mcp_servlet_client::{CallOptions, Era, Options, Session};
use rmcp::model::CallToolRequestParams;
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Value, json};
use tokio::io::split;

use crate::report::{Arguments, Report};
use crate::server;

/// A client with a session.
pub(crate) trait Side {
    /// Calls the tool for a report of this many stations.
    async fn call(&self, stations: usize) -> anyhow::Result<Report>;
}

/// `mcp-servlet-client`.
pub(crate) struct Ours(Session);

impl Ours {
    pub(crate) async fn connect() -> anyhow::Result<Self> {
        let (reader, writer) = split(server::start());
        let options = Options::new().era(Era::Handshake);
        Ok(Self(Session::attach(reader, writer, &options).await?))
    }
}

impl Side for Ours {
    async fn call(&self, stations: usize) -> anyhow::Result<Report> {
        let (arguments, options) = (Arguments { stations }, CallOptions::new());
        Ok(self.0.call_as("report", &arguments, &options).await?)
    }
}

/// rmcp, as its users read structured content.
pub(crate) struct WithRmcp(RunningService<RoleClient, ()>);

impl WithRmcp {
    pub(crate) async fn connect() -> anyhow::Result<Self> {
        Ok(Self(().serve(split(server::start())).await?))
    }
}

impl Side for WithRmcp {
    async fn call(&self, stations: usize) -> anyhow::Result<Report> {
        let Value::Object(arguments) = json!(Arguments { stations }) else {
            anyhow::bail!("arguments are an object");
        };
        let call = CallToolRequestParams::new("report").with_arguments(arguments);
        let result = self.0.call_tool(call).await?;
        let content = result.structured_content;
        let content = content.context("the result has no structured content")?;
        Ok(serde_json::from_value(content)?)
    }
}
