//! Compares virtual tools and remotes with what does the same work, and the server without either with an earlier version.
//!
//! All servers start before anything is measured, except the new server of each first search.

mod access;
mod catalog;
mod servers;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::ensure;
use bench_table::Target;
use serde_json::{Value, json};

use self::access::Access;
use self::servers::{Base, Bridges, Bundles, Remote};
use crate::artifacts::Artifacts;
use crate::comparison::{Comparison, calls, measure};
use crate::http::Listening;
use crate::load::Load;
use crate::report::Report;
use crate::stdio::Stdio;

const CLIENTS: usize = 16;

#[derive(clap::Args)]
pub(crate) struct Gateway {
    /// The `servlet` command of an earlier version, to compare with it where neither bundles, remotes nor access are used
    #[arg(long)]
    base: Option<PathBuf>,
    #[command(flatten)]
    report: Report,
}

/// Starts the servers of a run. Their configurations and compiled modules are in a folder of their own.
struct Starter<'a> {
    artifacts: &'a Artifacts,
    folder: &'a Path,
}

impl Gateway {
    pub(crate) fn run(self, artifacts: &Artifacts) -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let starter = Starter {
            artifacts,
            folder: folder.path(),
        };
        let bundles = Bundles::start(&starter)?;
        let remote = Remote::start(&starter)?;
        let search = remote.start_search(&starter)?;
        let bridges = Bridges::start(&starter)?;
        let access = Access::start(&starter)?;
        let mut base = None;
        if let Some(program) = &self.base {
            base = Some(Base::start(&starter, program)?);
        } else {
            eprintln!("bench: without `--base FILE`, no earlier version is compared");
        }
        let mut comparisons = Vec::from(direct(&bundles));
        comparisons.push(passed_through(&remote));
        comparisons.extend(steps(&remote));
        comparisons.extend(searches(&starter, &remote, &search));
        comparisons.push(generated_client(&starter, &remote)?);
        comparisons.extend(bridged(&bridges));
        comparisons.extend(access.comparisons()?);
        comparisons.extend(base.as_mut().map(unchanged).into_iter().flatten());
        self.report.finish(&measure(&mut comparisons)?)
    }
}

/// Arguments of `get_forecast`.
fn forecast() -> Value {
    json!({ "city": "Bern", "days": 7, "units": "metric" })
}

/// Arguments of a virtual tool that become those of `get_forecast`.
fn place() -> Value {
    json!({ "place": " Bern ", "weeks": 1, "metric": true })
}

/// Both sides run `get_forecast` with the same arguments, in the same server. Ours calls it through another tool.
fn direct(bundles: &Bundles) -> [Comparison<'_>; 4] {
    let server = &bundles.server;
    let through = |label, tool, arguments, target: Option<f64>| {
        Comparison::new(
            "direct",
            label,
            target.map(Target::AtLeast),
            calls(CLIENTS, server, tool, arguments, 125),
            calls(CLIENTS, server, "get_forecast", forecast(), 125),
        )
    };
    let (mapped, paths) = ("16 HTTP clients, virtual tool", "the same, paths only");
    let servlet = "16 HTTP clients, servlet calls servlet";
    let city = json!({ "city": "Bern" });
    [
        through(mapped, "forecast", place(), Some(0.9)),
        through(paths, "forecast_of", forecast(), Some(0.97)),
        // Each item of the list is computed instead of copied.
        through("the same, list computed", "forecast_ranges", place(), None),
        through(servlet, "week", city, Some(1.0 / 2.2)),
    ]
}

fn greeting() -> Value {
    json!({ "name": "Ada Lovelace" })
}

/// Both sides pass the calls of 16 sessions on to the same native server, over HTTP and without a session there.
fn passed_through(remote: &Remote) -> Comparison<'_> {
    Comparison::new(
        "rmcp",
        "16 HTTP clients, remote over HTTP",
        Target::AtLeast(0.85),
        calls(CLIENTS, &remote.ours, "greet", greeting(), 75),
        calls(CLIENTS, &remote.proxy, "greet", greeting(), 75),
    )
}

/// Compares `ours` with a tool that takes as long as the work of `ours` may take. That tool is called `count` times in each turn.
fn against_one_call<'a>(
    remote: &'a Remote,
    label: &'static str,
    target: f64,
    ours: impl FnMut() -> anyhow::Result<f64> + 'a,
    microseconds: u32,
    count: usize,
) -> Comparison<'a> {
    let wait = json!({ "microseconds": microseconds });
    let other = calls(1, &remote.ours, "wait", wait, count);
    Comparison::new("one call", label, Target::AtLeast(target), ours, other)
}

/// Steps that run at once, and one call that takes as long as the slowest way through them.
fn steps(remote: &Remote) -> [Comparison<'_>; 2] {
    let items: Vec<_> = (0..100).collect();
    let items = json!({ "items": items });
    let both = calls(1, &remote.ours, "both", json!({}), 10);
    let many = calls(1, &remote.ours, "many", items, 10);
    let label = "100 items, 16 at once, 5 ms each";
    [
        against_one_call(remote, "two steps of 20 ms", 0.87, both, 20_000, 10),
        against_one_call(remote, label, 0.77, many, 31_250, 10),
    ]
}

/// Searches of a server. The first search of a new server builds the index.
fn searches<'a>(
    starter: &'a Starter<'_>,
    remote: &'a Remote,
    server: &'a Listening,
) -> [Comparison<'a>; 2] {
    let query = || json!({ "query": "close the issue of a project" });
    let later = calls(1, server, "find_tools", query(), 10);
    let first = move || {
        let server = remote.start_search(starter)?;
        calls(1, &server, "find_tools", query(), 1)()
    };
    let later_label = "search over 5,000 tools, 5 ms";
    let first_label = "first search over 5,000 tools, 150 ms";
    [
        against_one_call(remote, later_label, 1.0, later, 5_000, 10),
        against_one_call(remote, first_label, 1.0, first, 150_000, 1),
    ]
}

/// `servlet gen client`, from the start of the process to its end.
fn generated_client<'a>(
    starter: &Starter<'_>,
    remote: &'a Remote,
) -> anyhow::Result<Comparison<'a>> {
    let catalog = starter.folder.join("client.catalog.json");
    fs::write(&catalog, catalog::of_tools(118).to_string())?;
    let mut command = Command::new(starter.artifacts.servlet());
    command.args(["gen", "client"]).arg(&catalog);
    command.arg("-o").arg(starter.folder.join("client.rs"));
    let generate = move || {
        let start = Instant::now();
        ensure!(command.status()?.success(), "no client is generated");
        anyhow::Ok(1.0 / start.elapsed().as_secs_f64())
    };
    let label = "gen client of 118 tools, 1 s";
    Ok(against_one_call(remote, label, 1.0, generate, 1_000_000, 1))
}

/// All bridges pass the calls of 16 sessions over HTTP on to a child process. Ours and mcp-proxy have one child for all sessions.
/// supergateway has one for each, which are started before the time is taken: it cannot share one over streamable HTTP.
fn bridged(bridges: &Bridges) -> [Comparison<'_>; 2] {
    let against = |peer, server, count, target| {
        Comparison::new(
            peer,
            "16 HTTP clients, child process",
            Target::AtLeast(target),
            calls(CLIENTS, &bridges.ours, "greet", greeting(), 75),
            calls(CLIENTS, server, "greet", greeting(), count),
        )
    };
    [
        against("mcp-proxy", &bridges.mcp_proxy, 5, 5.0),
        against("supergateway", &bridges.supergateway, 20, 2.0),
    ]
}

/// Both sides serve one servlet, without bundles and remotes: this checkout, and the base commit.
fn unchanged(base: &mut Base) -> [Comparison<'_>; 2] {
    let target = Target::Between(0.97, 1.03);
    let [ours, peer] = base.http.each_ref();
    let over_http = Comparison::new(
        "base",
        "16 HTTP clients, calls",
        target,
        calls(CLIENTS, ours, "greet", greeting(), 125),
        calls(CLIENTS, peer, "greet", greeting(), 125),
    );
    let [ours, peer] = base.stdio.each_mut();
    let over_stdio = Comparison::new(
        "base",
        "16 calls at once, stdio",
        target,
        || in_flight(ours),
        || in_flight(peer),
    );
    [over_http, over_stdio]
}

/// The calls per second with 16 of them in flight.
fn in_flight(server: &mut Stdio) -> anyhow::Result<f64> {
    let load = Load {
        tool: "greet",
        arguments: greeting(),
        calls: 4_000,
        in_flight: CLIENTS,
        ping_every: None,
    };
    Ok(load.calls as f64 / load.run(server)?.whole)
}
