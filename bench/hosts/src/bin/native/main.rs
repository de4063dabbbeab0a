//! MCP servers on rmcp alone, as baselines: the greeting without a sandbox, and a proxy without configuration.

mod greeter;
mod proxy;

use axum::serve::ListenerExt as _;
use clap::Parser;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio};
use rmcp::{ServerHandler, ServiceExt as _};

use greeter::Greeter;
use proxy::Proxy;

/// Serves the tools `greet` and `wait`, over streamable HTTP
#[derive(Parser)]
struct Arguments {
    /// Serve over standard input and output instead
    #[arg(long, conflicts_with = "forward")]
    stdio: bool,
    /// Serve the tools of the server at this URL instead
    #[arg(long)]
    forward: Option<String>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if arguments.stdio {
        Greeter.serve(stdio()).await?.waiting().await?;
        return Ok(());
    }
    match arguments.forward {
        None => serve(|| Greeter).await,
        Some(url) => {
            let proxy = Proxy::connect(url).await?;
            serve(move || proxy.clone()).await
        }
    }
}

async fn serve<S: ServerHandler>(
    server: impl Fn() -> S + Send + Sync + 'static,
) -> anyhow::Result<()> {
    let sessions = LocalSessionManager::default();
    let config = StreamableHttpServerConfig::default();
    let service = StreamableHttpService::new(move || Ok(server()), sessions.into(), config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    // Without `TCP_NODELAY`, each small response would wait for an acknowledgement.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let router = axum::Router::new().nest_service("/mcp", service);
    Ok(axum::serve(listener, router).await?)
}
