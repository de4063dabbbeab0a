//! Lists a published server over HTTP+SSE.

use std::process::{Command, Stdio};

use anyhow::Context;
use serde_json::Value;

use super::table::{OVER_SSE, OVER_STDIO};
use super::{Outcome, listing, output};
use crate::serve::servlet;
use crate::shell::{KillOnDrop, free_address};

/// Compares the catalog over HTTP+SSE with the one over stdio.
pub(super) fn compare() -> anyhow::Result<Outcome> {
    let expected = output(&mut listing("json", &OVER_STDIO.install()?))?;
    let address = free_address()?;
    let command = OVER_SSE.install()?;
    let mut server = Command::new(&command[0]);
    server.args(&command[1..]);
    server.env("PORT", address.port().to_string());
    server.stdin(Stdio::null()).stdout(Stdio::null());
    let _server = KillOnDrop::spawn(server.stderr(Stdio::null()))?;
    let mut list = servlet();
    list.args(["catalog", &format!("http://{address}/sse")]);
    list.args(["--transport", "sse", "--format", "json"]);
    // Until the server listens.
    let listed = output(list.args(["--retry", "60", "--every", "500ms"]))?;
    let count = |catalog: &[u8]| {
        let catalog: Value =
            serde_json::from_slice(catalog).context("the output of `servlet catalog`")?;
        anyhow::Ok(catalog["items"].as_array().map_or(0, Vec::len))
    };
    Ok(Outcome {
        listed: count(&listed)?,
        expected: count(&expected)?,
        is_equal: listed == expected,
        paths: None,
    })
}
