//! Measures the time from the start of a host until clients see every tool.

use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use serde_json::json;

use crate::peer::{Host, Servlet};
use crate::stdio::Stdio;

/// The time of a start in seconds, and the memory in MiB.
pub(crate) struct Started {
    pub(crate) took: f64,
    pub(crate) peak: f64,
}

/// Starts the host and lists its tools until there is a `greet` of every servlet.
pub(crate) fn start(host: &Host, servlets: &[Servlet], folder: &Path) -> anyhow::Result<Started> {
    let mut server = Stdio::start(&mut host.command(servlets, folder)?)?;
    let wanted: Vec<String> = servlets
        .iter()
        .map(|servlet| host.tool(&servlet.name, "greet"))
        .collect();
    loop {
        let list = server.request("tools/list", &json!({}))?;
        let took = server.started.elapsed();
        let tools = list["tools"].as_array().map_or(&[][..], Vec::as_slice);
        let is_there = |name: &String| tools.iter().any(|tool| tool["name"] == **name);
        if wanted.iter().all(is_there) {
            return Ok(Started {
                took: took.as_secs_f64(),
                peak: server.process.peak()?,
            });
        }
        ensure!(took < Duration::from_mins(1), "after a minute, only {list}");
    }
}
