//! Compares virtual tools and remotes with what does the same work, and the server without either with an earlier version.
//!
//! All servers start first. In each round every pair runs, and both sides of a pair take turns within the round. A ratio is the
//! median of the ratios of the rounds.

mod access;
mod catalog;
mod servers;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::ensure;
use bench_table::{Row, Target, Unit};
use serde_json::{Value, json};

use self::access::Access;
use self::servers::{Base, Bridges, Bundles, Remote};
use crate::Subject;
use crate::http::{Clients, Listening};
use crate::load::Load;
use crate::report::{Pair, Report, Section, row};
use crate::stdio::Stdio;

const ROUNDS: usize = 7;
/// How often each side has its turn in a round.
const TURNS: usize = 4;
const CLIENTS: usize = 16;

#[derive(clap::Args)]
pub(crate) struct Gateway {
    #[command(flatten)]
    subject: Subject,
    /// The servlet with the tool `get_forecast`
    #[arg(long)]
    weather: PathBuf,
    /// The servlet with the tool `week`, which calls `get_forecast`
    #[arg(long)]
    calls: PathBuf,
    /// The native server and proxy
    #[arg(long)]
    native: PathBuf,
    /// The configuration of `HAProxy` for several processes of the server
    #[arg(long)]
    haproxy: PathBuf,
    /// The `servlet` command of the base commit, to compare with it
    #[arg(long)]
    base: Option<PathBuf>,
    /// The command `mcp-proxy` of Python, to compare with it
    #[arg(long)]
    mcp_proxy: Option<PathBuf>,
    /// The folder with Node and supergateway, to compare with it
    #[arg(long)]
    npm: Option<PathBuf>,
    #[command(flatten)]
    report: Report,
}

impl Gateway {
    pub(crate) fn run(mut self) -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        // Configurations are in that folder, so paths in them must not be relative.
        for path in [&mut self.weather, &mut self.calls, &mut self.native] {
            *path = path.canonicalize()?;
        }
        let bundles = Bundles::start(&self, folder.path())?;
        let remote = Remote::start(&self, folder.path())?;
        let bridges = Bridges::start(&self, folder.path())?;
        let access = Access::start(&self, folder.path())?;
        let mut base = Base::start(&self, folder.path())?;
        let mut comparisons = vec![
            virtual_tool(
                &bundles,
                "16 HTTP clients, virtual tool",
                &MAPPED,
                Some(0.9),
            ),
            virtual_tool(&bundles, "the same, paths only", &PATHS, Some(0.97)),
            virtual_tool(&bundles, "the same, list computed", &COMPUTED, None),
            servlet_to_servlet(&bundles),
            passed_through(&remote),
        ];
        comparisons.extend(steps(&remote));
        comparisons.push(first_search(&self, folder.path(), &remote));
        comparisons.push(generated_client(&self, folder.path(), &remote)?);
        comparisons.extend(bridged(&bridges));
        comparisons.extend(access.comparisons()?);
        comparisons.extend(base.as_mut().map(unchanged).into_iter().flatten());
        for round in 0..=ROUNDS {
            for comparison in &mut comparisons {
                let rates = comparison.round()?;
                // The first round only warms up.
                if round > 0 {
                    comparison.rates.push(rates);
                }
            }
        }
        self.report.finish(&sections(&comparisons))
    }
}

/// The same work on two sides.
struct Comparison<'a> {
    peer: &'static str,
    label: &'static str,
    target: Option<Target>,
    sides: Pair<Side<'a>>,
    rates: Vec<Pair<f64>>,
}

/// Makes calls, and returns how many there were per second.
type Side<'a> = Box<dyn FnMut() -> anyhow::Result<f64> + 'a>;

impl<'a> Comparison<'a> {
    fn new(
        peer: &'static str,
        label: &'static str,
        target: impl Into<Option<Target>>,
        ours: impl FnMut() -> anyhow::Result<f64> + 'a,
        other: impl FnMut() -> anyhow::Result<f64> + 'a,
    ) -> Self {
        Self {
            peer,
            label,
            target: target.into(),
            sides: [Box::new(ours), Box::new(other)],
            rates: Vec::new(),
        }
    }

    /// Measures both sides of a round. Each side begins in half of the turns.
    fn round(&mut self) -> anyhow::Result<Pair<f64>> {
        let mut sums = [0.0; 2];
        for turn in 0..TURNS {
            for side in [turn % 2, 1 - turn % 2] {
                sums[side] += self.sides[side]()?;
            }
        }
        Ok(sums.map(|sum| sum / TURNS as f64))
    }

    fn row(&self) -> Row {
        row(self.label, Unit::PerSecond, &self.rates, self.target)
    }
}

/// The rows of each peer, in their order.
fn sections(comparisons: &[Comparison<'_>]) -> Vec<Section> {
    let of_peer = |chunk: &[Comparison<'_>]| Section {
        peer: chunk[0].peer,
        rows: chunk.iter().map(Comparison::row).collect(),
    };
    let chunks = comparisons.chunk_by(|one, next| one.peer == next.peer);
    chunks.map(of_peer).collect()
}

/// Calls by HTTP clients, as a side.
fn clients<'a>(
    server: &'a Listening,
    tool: &'a str,
    arguments: Value,
    calls: usize,
) -> impl FnMut() -> anyhow::Result<f64> + 'a {
    calls_by(CLIENTS, server, tool, arguments, calls)
}

/// Calls by this number of clients, as a side.
fn calls_by<'a>(
    clients: usize,
    server: &'a Listening,
    tool: &'a str,
    arguments: Value,
    calls: usize,
) -> impl FnMut() -> anyhow::Result<f64> + 'a {
    let clients = Clients {
        tool,
        arguments,
        clients,
        calls,
        tokens: Vec::new(),
    };
    move || clients.run(&server.url)
}

/// A virtual tool, and the arguments that become those of the servlet's tool.
struct VirtualTool {
    name: &'static str,
    arguments: fn() -> Value,
}

const MAPPED: VirtualTool = VirtualTool {
    name: "forecast",
    arguments: || json!({ "place": " Bern ", "weeks": 1, "metric": true }),
};
/// The same, but each item of the list is computed instead of copied.
const COMPUTED: VirtualTool = VirtualTool {
    name: "forecast_ranges",
    arguments: MAPPED.arguments,
};
const PATHS: VirtualTool = VirtualTool {
    name: "forecast_of",
    arguments: || json!({ "city": "Bern", "days": 7, "units": "metric" }),
};

/// Both sides run `get_forecast` with the same arguments, in the same server. Ours also maps arguments and result.
fn virtual_tool<'a>(
    bundles: &'a Bundles,
    label: &'static str,
    tool: &VirtualTool,
    target: Option<f64>,
) -> Comparison<'a> {
    let server = &bundles.server;
    Comparison::new(
        "direct",
        label,
        target.map(Target::AtLeast),
        clients(server, tool.name, (tool.arguments)(), 125),
        clients(server, "get_forecast", (PATHS.arguments)(), 125),
    )
}

/// Both sides run `get_forecast` with the same arguments, in the same server. Ours is called by another servlet, which the clients
/// call.
fn servlet_to_servlet(bundles: &Bundles) -> Comparison<'_> {
    let server = &bundles.server;
    Comparison::new(
        "direct",
        "16 HTTP clients, servlet calls servlet",
        Target::AtLeast(1.0 / 2.2),
        clients(server, "week", json!({ "city": "Bern" }), 125),
        clients(server, "get_forecast", (PATHS.arguments)(), 125),
    )
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
        clients(&remote.ours, "greet", greeting(), 75),
        clients(&remote.proxy, "greet", greeting(), 75),
    )
}

/// Calls by one client, as a side.
fn one_client<'a>(
    server: &'a Listening,
    tool: &'a str,
    arguments: Value,
    calls: usize,
) -> impl FnMut() -> anyhow::Result<f64> + 'a {
    calls_by(1, server, tool, arguments, calls)
}

/// Calls that take this long, as a side.
fn wait(
    remote: &Remote,
    microseconds: u32,
    calls: usize,
) -> impl FnMut() -> anyhow::Result<f64> + '_ {
    let arguments = json!({ "microseconds": microseconds });
    one_client(&remote.ours, "wait", arguments, calls)
}

fn query() -> Value {
    json!({ "query": "close the issue of a project" })
}

/// Steps that run at once, and one call that takes as long as the slowest way through them. A search, and a call that takes as long
/// as it may.
fn steps(remote: &Remote) -> [Comparison<'_>; 3] {
    let items: Vec<_> = (0..100).collect();
    [
        Comparison::new(
            "one call",
            "two steps of 20 ms",
            Target::AtLeast(0.87),
            one_client(&remote.ours, "both", json!({}), 10),
            wait(remote, 20_000, 10),
        ),
        Comparison::new(
            "one call",
            "100 items, 16 at once, 5 ms each",
            Target::AtLeast(0.77),
            one_client(&remote.ours, "many", json!({ "items": items }), 10),
            wait(remote, 31_250, 10),
        ),
        Comparison::new(
            "one call",
            "search over 5,000 tools, 5 ms",
            Target::AtLeast(1.0),
            one_client(&remote.search, "find_tools", query(), 10),
            wait(remote, 5_000, 10),
        ),
    ]
}

/// The first search of a new server builds the index. The other side is a call that takes as long as that may.
fn first_search<'a>(gateway: &'a Gateway, folder: &'a Path, remote: &'a Remote) -> Comparison<'a> {
    Comparison::new(
        "one call",
        "first search over 5,000 tools, 150 ms",
        Target::AtLeast(1.0),
        || {
            let server = remote.start_search(gateway, folder)?;
            one_client(&server, "find_tools", query(), 1)()
        },
        wait(remote, 150_000, 1),
    )
}

/// `servlet gen client`, from the start of the process to its end. The other side is a call that takes as long as that may.
fn generated_client<'a>(
    gateway: &'a Gateway,
    folder: &Path,
    remote: &'a Remote,
) -> anyhow::Result<Comparison<'a>> {
    let catalog = folder.join("client.catalog.json");
    fs::write(&catalog, catalog::of_tools(118).to_string())?;
    let mut command = Command::new(&gateway.subject.servlet);
    command.args(["gen", "client"]).arg(&catalog);
    command.arg("-o").arg(folder.join("client.rs"));
    Ok(Comparison::new(
        "one call",
        "gen client of 118 tools, 1 s",
        Target::AtLeast(1.0),
        move || {
            let start = Instant::now();
            ensure!(command.status()?.success(), "no client is generated");
            Ok(1.0 / start.elapsed().as_secs_f64())
        },
        wait(remote, 1_000_000, 1),
    ))
}

/// All bridges pass the calls of 16 sessions over HTTP on to a child process. Ours and mcp-proxy have one child for all sessions.
/// supergateway has one for each, which are started before the time is taken: it cannot share one over streamable HTTP.
fn bridged(bridges: &Bridges) -> Vec<Comparison<'_>> {
    let label = "16 HTTP clients, child process";
    let peers = [
        ("mcp-proxy", 5.0, 5, &bridges.mcp_proxy),
        ("supergateway", 2.0, 20, &bridges.supergateway),
    ];
    let peers = peers
        .into_iter()
        .filter_map(|(peer, target, calls, server)| {
            let server = server.as_ref()?;
            Some(Comparison::new(
                peer,
                label,
                Target::AtLeast(target),
                clients(&bridges.ours, "greet", greeting(), 75),
                clients(server, "greet", greeting(), calls),
            ))
        });
    peers.collect()
}

/// The start may take this much longer than with the command of the base commit.
const START: Duration = Duration::from_millis(2);

/// Both sides serve one servlet, without bundles and remotes: this checkout, and the base commit.
fn unchanged(base: &mut Base) -> [Comparison<'_>; 3] {
    let target = Target::Between(0.97, 1.03);
    let [ours, peer] = base.http.each_ref();
    let over_http = Comparison::new(
        "base",
        "16 HTTP clients, calls",
        target,
        clients(ours, "greet", greeting(), 125),
        clients(peer, "greet", greeting(), 125),
    );
    let [ours, peer] = base.stdio.each_mut();
    let over_stdio = Comparison::new(
        "base",
        "16 calls at once, stdio",
        target,
        || in_flight(ours),
        || in_flight(peer),
    );
    let [ours, peer] = base.commands.each_mut();
    let start = Comparison::new(
        "base",
        "start, which may take 2 ms longer",
        Target::AtLeast(1.0),
        || starts(ours, Duration::ZERO),
        || starts(peer, START),
    );
    [over_http, over_stdio, start]
}

/// How often a server could start in a second, if each start took this much longer.
fn starts(command: &mut Command, longer: Duration) -> anyhow::Result<f64> {
    let begin = Instant::now();
    let server = Listening::start(command)?;
    let took = begin.elapsed() + longer;
    drop(server);
    Ok(1.0 / took.as_secs_f64())
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
