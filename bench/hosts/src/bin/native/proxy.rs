//! Passes the tools of another server on, as one would write it with rmcp alone.

use std::sync::Arc;

use anyhow::Context as _;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt as _, RequestContext, RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{RoleClient, RoleServer, ServerHandler};

/// One connection for all clients, as a remote of `servlet serve` has.
#[derive(Clone)]
pub(crate) struct Proxy {
    upstream: Arc<RunningService<RoleClient, ()>>,
}

impl Proxy {
    pub(crate) async fn connect(url: String) -> anyhow::Result<Self> {
        // `streams.rs` needs `reqwest` without a built-in provider. Then each client needs one, even for plain HTTP.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let transport = StreamableHttpClientTransport::from_uri(url);
        // Sends no session id and gets plain responses, which is faster than what `initialize` negotiates.
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::LATEST],
            legacy_version: None,
        };
        let upstream =
            ().serve_with_lifecycle(transport, lifecycle)
                .await
                .context("cannot connect to the server")?;
        Ok(Self {
            upstream: Arc::new(upstream),
        })
    }
}

impl ServerHandler for Proxy {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.upstream.list_tools(request).await.map_err(error)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.upstream.call_tool_once(request).await.map_err(error)
    }
}

/// The server's own error, or that it cannot be reached.
fn error(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        other => ErrorData::internal_error(other.to_string(), None),
    }
}
