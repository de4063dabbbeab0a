//! Lists a published server over HTTP+SSE.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use anyhow::Context;
use serde_json::Value;

use super::table::{OVER_SSE, OVER_STDIO};
use super::{Outcome, listing, output};
use crate::serve::servlet;

/// A server that ends when this value is dropped.
struct Running {
    child: Child,
    url: String,
}

/// Compares the catalog over HTTP+SSE with the one over stdio.
pub(super) fn compare() -> anyhow::Result<Outcome> {
    let expected = output(&mut listing("json", &OVER_STDIO.install()?))?;
    let listed = Running::start(&mut OVER_SSE.install()?)?.catalog()?;
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

impl Running {
    /// Starts a server that reads its port from `PORT`.
    fn start(server: &mut Command) -> anyhow::Result<Self> {
        // The port is free again until the server takes it.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let server = server.env("PORT", port.to_string());
        let server = server.stdin(Stdio::null()).stdout(Stdio::null());
        Ok(Self {
            child: server.stderr(Stdio::null()).spawn()?,
            url: format!("http://127.0.0.1:{port}/sse"),
        })
    }

    /// The catalog, as soon as the server listens.
    fn catalog(&self) -> anyhow::Result<Vec<u8>> {
        let mut list = servlet();
        list.args(["catalog", &self.url, "--transport", "sse"]);
        output(list.args(["--format", "json", "--retry", "60", "--every", "500ms"]))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The server may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
