//! Messages on the standard input of a server: each answer is one line of JSON-RPC.

use std::time::Duration;

use mcp_servlet_server::Server;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;

use crate::server::{RUNTIME, SERVICE};

/// How long a server may take to answer everything and end, on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) fn run(bytes: &[u8]) {
    // Loading a servlet blocks, so it must not happen in a task.
    for message in answers(SERVICE.server(), bytes) {
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
    }
}

/// What a server answers to these lines.
pub(crate) fn answers(server: &Server, bytes: &[u8]) -> Vec<Value> {
    let output = RUNTIME.block_on(async {
        let (mut input, server_input) = tokio::io::duplex(1 << 16);
        let (server_output, mut output) = tokio::io::duplex(1 << 20);
        let answers = async {
            let mut answers = Vec::new();
            tokio::io::AsyncReadExt::read_to_end(&mut output, &mut answers)
                .await
                .expect("a pipe");
            answers
        };
        let ask = async move {
            // The server may end before it has read everything.
            let _ = input.write_all(bytes).await;
        };
        // The server refuses input that does not open a session correctly, which is also fine.
        let serve = async {
            drop(server.serve_stream(server_input, server_output).await);
        };
        let all = async { tokio::join!(serve, ask, answers).2 };
        tokio::time::timeout(PATIENCE, all)
            .await
            .expect("the server ends")
    });
    let lines = output.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty());
    let messages = lines.map(|line| serde_json::from_slice(line).expect("a line is JSON"));
    messages.collect()
}
