//! The greeting as a native MCP server on rmcp, over streamable HTTP: the baseline without a sandbox.

use axum::serve::ListenerExt as _;
use rmcp::ServerHandler;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// the name of the person to greet
    name: String,
}

#[derive(Clone)]
struct Greeter;

#[tool_router]
impl Greeter {
    /// A very simple tool to provide a greeting.
    #[tool]
    fn greet(Parameters(Greet { name }): Parameters<Greet>) -> String {
        format!("Hello, {name}!")
    }
}

#[tool_handler]
impl ServerHandler for Greeter {}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let sessions = LocalSessionManager::default();
    let config = StreamableHttpServerConfig::default();
    let service = StreamableHttpService::new(|| Ok(Greeter), sessions.into(), config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    // Without `TCP_NODELAY`, each small response would wait for an acknowledgement.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let router = axum::Router::new().nest_service("/mcp", service);
    Ok(axum::serve(listener, router).await?)
}
