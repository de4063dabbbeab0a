//! rmcp's client: lists the tools of an MCP server, calls those that send no requests to the client, and prints the
//! counts as JSON.
//!
//! `with_rmcp MODE CALLS TARGET…`, like the Python scripts.
#![allow(clippy::print_stdout, reason = "a command talks to people")]

use std::collections::BTreeMap;

use anyhow::{Context as _, bail, ensure};
use rmcp::model::{CallToolRequestParams, JsonObject, ProtocolVersion, Tool};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RunningService};
use rmcp::transport::{IntoTransport, StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::json;

/// This tool returns an error for every call.
const FAIL: &str = "test_error_handling";

/// The result of this tool may have no content.
const EMPTY: &str = "find_notes";

type Session = RunningService<RoleClient, ()>;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [mode, calls, target @ ..] = &*words else {
        bail!("usage: with_rmcp MODE CALLS TARGET…");
    };
    let calls = std::fs::read_to_string(calls).with_context(|| calls.clone())?;
    let calls: BTreeMap<String, JsonObject> = serde_json::from_str(&calls)?;
    let session = connect(mode, target).await?;
    let tools = session.list_all_tools().await?;
    ensure!(!tools.is_empty(), "tools/list is empty");
    let mut called = 0;
    for tool in tools.iter().filter(|tool| !asks(tool)) {
        call(&session, &tool.name, calls.get(&*tool.name)).await?;
        called += 1;
    }
    session.cancel().await?;
    println!("{}", json!({ "listed": tools.len(), "called": called }));
    Ok(())
}

async fn connect(mode: &str, target: &[String]) -> anyhow::Result<Session> {
    match target {
        [url] if url.starts_with("http://") => {
            open(mode, StreamableHttpClientTransport::from_uri(&**url)).await
        }
        [program, arguments @ ..] => {
            let mut command = tokio::process::Command::new(program);
            command.args(arguments);
            open(mode, TokioChildProcess::new(command)?).await
        }
        [] => bail!("there is no target"),
    }
}

/// Connects by a handshake, or with the protocol version of the stateless lifecycle.
async fn open<T, E, A>(mode: &str, transport: T) -> anyhow::Result<Session>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    if mode == "legacy" {
        return Ok(().serve(transport).await?);
    }
    ensure!(mode == "2026-07-28", "rmcp has no protocol version `{mode}`");
    let lifecycle = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    Ok(().serve_with_lifecycle(transport, lifecycle).await?)
}

async fn call(session: &Session, name: &str, arguments: Option<&JsonObject>) -> anyhow::Result<()> {
    let mut params = CallToolRequestParams::new(name.to_owned());
    params.arguments = Some(arguments.cloned().unwrap_or_default());
    let result = session.call_tool(params).await.with_context(|| name.to_owned())?;
    let is_error = result.is_error.unwrap_or_default();
    ensure!(is_error == (name == FAIL), "{name}: {result:?}");
    ensure!(!result.content.is_empty() || name == EMPTY, "{name}: {result:?}");
    Ok(())
}

/// Whether a tool sends elicitation, sampling or roots requests, which this client does not answer.
fn asks(tool: &Tool) -> bool {
    let asks = tool.meta.as_ref().and_then(|meta| meta.get("mcp-servlet/asks"));
    asks.and_then(serde_json::Value::as_bool).unwrap_or_default()
}
