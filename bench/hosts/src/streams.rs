//! Calls of one client that makes many at once, over one connection of HTTP/2 or several of HTTP/1.1.

use std::sync::Arc;
use std::time::Instant;

use anyhow::ensure;
use reqwest::{Client, Version};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::http::{STATELESS, stateless_meta};

/// A client without a session.
pub(crate) struct Streams {
    runtime: Runtime,
    call: Arc<Call>,
}

/// A call that is made again and again.
struct Call {
    client: Client,
    url: String,
    tool: &'static str,
    body: String,
}

impl Streams {
    /// A client that calls a tool at this URL. Over TLS it speaks HTTP/2.
    pub(crate) fn new(url: String, tool: &'static str, arguments: &Value) -> anyhow::Result<Self> {
        // Another part of the program may have chosen the same one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let params = json!({ "name": tool, "arguments": arguments, "_meta": stateless_meta() });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let call = Call {
            // Each run makes its own certificate authority.
            client: Client::builder()
                .danger_accept_invalid_certs(true)
                .build()?,
            url,
            tool,
            body: call.to_string(),
        };
        Ok(Self {
            runtime: Runtime::new()?,
            call: Arc::new(call),
        })
    }

    /// Makes this many calls in each of the streams, and returns how many there were per second.
    pub(crate) fn run(&self, streams: usize, calls: usize) -> anyhow::Result<f64> {
        self.runtime.block_on(async {
            // Opens the connection, which is not measured.
            self.call.run().await?;
            let start = Instant::now();
            let mut running = JoinSet::new();
            for _ in 0..streams {
                let call = Arc::clone(&self.call);
                running.spawn(async move {
                    for _ in 0..calls {
                        call.run().await?;
                    }
                    anyhow::Ok(())
                });
            }
            while let Some(ended) = running.join_next().await {
                ended??;
            }
            Ok((streams * calls) as f64 / start.elapsed().as_secs_f64())
        })
    }
}

impl Call {
    async fn run(&self) -> anyhow::Result<()> {
        let request = self
            .client
            .post(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", STATELESS)
            .header("mcp-method", "tools/call")
            .header("mcp-name", self.tool);
        let response = request.body(self.body.clone()).send().await?;
        let expected = if self.url.starts_with("https") {
            Version::HTTP_2
        } else {
            Version::HTTP_11
        };
        let version = response.version();
        ensure!(version == expected, "{} speaks {version:?}", self.url);
        let body = response.text().await?;
        let is_result = body.contains("\"result\"") && !body.contains("\"isError\":true");
        ensure!(is_result, "a call failed: {body}");
        Ok(())
    }
}
