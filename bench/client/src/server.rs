//! A server with one tool, behind a pipe in memory.

use std::collections::HashMap;
use std::thread;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex, split};
use tokio::runtime::Builder;

use crate::report::{Arguments, text};

/// As much as a pipe of Linux holds.
const PIPE: usize = 64 << 10;

#[derive(Deserialize)]
struct Request {
    /// None for a notification.
    id: Option<Value>,
    method: String,
    #[serde(default)]
    params: Value,
}

/// Starts a server on a thread of its own, and returns the client's end of the pipe.
pub(crate) fn start() -> DuplexStream {
    let (client, server) = duplex(PIPE);
    thread::spawn(|| {
        if let Err(error) = serve(server) {
            eprintln!("server: {error:#}");
        }
    });
    client
}

/// Answers until the client closes the pipe.
fn serve(pipe: DuplexStream) -> anyhow::Result<()> {
    let runtime = Builder::new_current_thread().build()?;
    runtime.block_on(async {
        let (reader, mut writer) = split(pipe);
        let mut lines = BufReader::new(reader).lines();
        let mut results = HashMap::new();
        while let Some(line) = lines.next_line().await? {
            let request: Request = serde_json::from_str(&line)?;
            let Some(id) = &request.id else { continue };
            let answer = answer(&request, &mut results)?;
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{answer}}}\n");
            writer.write_all(line.as_bytes()).await?;
        }
        Ok(())
    })
}

/// The member `result` or `error` of a response.
fn answer(request: &Request, results: &mut HashMap<usize, String>) -> anyhow::Result<String> {
    Ok(match request.method.as_str() {
        "initialize" => {
            let result = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "bench", "version": "1" },
            });
            format!("\"result\":{result}")
        }
        "tools/call" => {
            let arguments = Arguments::deserialize(&request.params["arguments"])?;
            if let Some(result) = results.get(&arguments.stations) {
                return Ok(result.clone());
            }
            let result = format!("\"result\":{}", result(arguments.stations)?);
            results.insert(arguments.stations, result.clone());
            result
        }
        _ => r#""error":{"code":-32601,"message":"no such method"}"#.to_owned(),
    })
}

/// A result as MCP asks for it: the structured content, and the same JSON as text for older clients.
fn result(stations: usize) -> anyhow::Result<String> {
    let structured = text(stations)?;
    let content = json!([{ "type": "text", "text": structured }]);
    Ok(format!(
        r#"{{"content":{content},"structuredContent":{structured}}}"#
    ))
}
