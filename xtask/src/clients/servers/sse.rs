//! Lists a published server over HTTP+SSE.

use std::process::{Command, Stdio};

use anyhow::Context;
use serde_json::Value;

use super::server::Server;
use super::{Outcome, listing};
use crate::serve::servlet;
use crate::shell::{KillOnDrop, free_address, output};

/// A server that has this transport.
const SERVER: &str = "everything";

/// Compares the catalog over HTTP+SSE with the one over stdio.
pub(super) fn compare(servers: &[Server]) -> anyhow::Result<Outcome> {
    let found = servers.iter().find(|server| server.name == SERVER);
    let mut server = found.context(SERVER)?.clone();
    let expected = output(&mut listing("json", &server.install()?))?;
    let address = free_address()?;
    server.run = vec![server.run.swap_remove(0), "sse".to_owned()];
    let command = server.install()?;
    let mut serve = Command::new(&command[0]);
    serve.args(&command[1..]);
    serve.env("PORT", address.port().to_string());
    serve.stdin(Stdio::null()).stdout(Stdio::null());
    let _server = KillOnDrop::spawn(serve.stderr(Stdio::null()))?;
    let mut list = servlet();
    list.args(["catalog", &format!("http://{address}/sse")]);
    list.args(["--transport", "sse", "--format", "json"]);
    // Until the server listens.
    let listed = output(list.args(["--retry", "60", "--every", "500ms"]))?;
    let count = |catalog: &str| {
        let catalog: Value =
            serde_json::from_str(catalog).context("the output of `servlet catalog`")?;
        anyhow::Ok(catalog["items"].as_array().map_or(0, Vec::len))
    };
    Ok(Outcome {
        listed: count(&listed)?,
        expected: count(&expected)?,
        is_equal: listed == expected,
        paths: None,
    })
}
