//! Compares our host with other servers, in turns, and checks the target ratios.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use bench_table::{Pair, Row, Target, Unit, median};
use serde_json::{Value, json};

use crate::artifacts::Artifacts;
use crate::comparison::{Comparison, calls as calls_over_http, measure};
use crate::http::Listening;
use crate::load::{Load, Taken};
use crate::peer::{Host, Servlet};
use crate::report::{Report, Section};
use crate::start::start;
use crate::stdio::Stdio;

/// How many rounds each side runs.
const ROUNDS: usize = 7;
const IN_FLIGHT: usize = 16;
const SERVLETS: usize = 10;
/// The target duration of a slow call.
const SLOW: Duration = Duration::from_millis(50);

#[derive(clap::Args)]
pub(crate) struct Compare {
    /// The command `hyper-mcp`, to compare with it
    #[arg(long)]
    hyper_mcp: Option<PathBuf>,
    #[command(flatten)]
    report: Report,
}

impl Compare {
    pub(crate) fn run(self, artifacts: &Artifacts) -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let mut sections = Vec::new();
        if let Some(hyper_mcp) = self.hyper_mcp {
            let hosts = [Host::Ours(artifacts.servlet()), Host::HyperMcp(hyper_mcp)];
            let wasm = artifacts.wasm("spin");
            let mut rows = calls(&hosts, &wasm, folder.path())?;
            rows.extend(starts(&hosts, &wasm)?);
            sections.push(Section {
                peer: "hyper-mcp",
                rows,
            });
        } else {
            eprintln!("bench: without `--hyper-mcp FILE`, only the native server is compared");
        }
        sections.extend(against_native(artifacts, folder.path())?);
        self.report.finish(&sections)
    }
}

/// Calls over HTTP, to the servlet and to a native server.
fn against_native(artifacts: &Artifacts, folder: &Path) -> anyhow::Result<Vec<Section>> {
    let mut ours = Command::new(artifacts.servlet());
    ours.arg("serve")
        .arg(artifacts.wasm("spin"))
        .args(["--http", "127.0.0.1:0"]);
    ours.env("RUST_LOG", "error").env("RUST_BACKTRACE", "0");
    ours.env("XDG_CACHE_HOME", folder.join("cache"));
    let ours = Listening::start(&mut ours)?;
    let native = Listening::start(&mut Command::new(artifacts.native()))?;
    let greet = |server| {
        let arguments = json!({ "name": "Ada Lovelace" });
        calls_over_http(IN_FLIGHT, server, "greet", arguments, 125)
    };
    measure(&mut [Comparison::new(
        "native",
        "16 HTTP clients, calls",
        Target::AtLeast(0.9),
        greet(&ours),
        greet(&native),
    )])
}

/// Measures fast calls one by one and in parallel, slow calls in parallel, and the memory after all of them.
fn calls(hosts: &Pair<Host>, wasm: &Path, folder: &Path) -> anyhow::Result<Vec<Row>> {
    let servlets = Servlet::several(1, wasm, folder)?;
    let mut servers = Vec::new();
    for host in hosts {
        servers.push(Stdio::start(&mut host.command(&servlets, folder)?)?);
    }
    let rounds = calibrate(&hosts[0], &mut servers[0])?;
    let mut fast = Loads::new("greet", json!({ "name": "Ada Lovelace" }), 2_000, 1);
    let mut many = Loads::new("greet", json!({ "name": "Ada Lovelace" }), 8_000, IN_FLIGHT);
    let mut slow = Loads::new("spin", json!({ "rounds": rounds }), 64, IN_FLIGHT);
    slow.load.ping_every = Some(Duration::from_millis(20));
    for round in 0..=ROUNDS {
        for loads in [&mut fast, &mut many, &mut slow] {
            loads.run(hosts, &mut servers, round > 0)?;
        }
    }
    let peaks = [servers[0].process.peak()?, servers[1].process.peak()?];
    let latency = |taken: &Taken| median(taken.calls.iter().copied()) * 1e6;
    let rate = |taken: &Taken| taken.calls.len() as f64 / taken.whole;
    let ping = |taken: &Taken| median(taken.pings.iter().copied()) * 1e3;
    Ok(vec![
        fast.row(
            "one call after the other, median",
            Unit::Microseconds,
            Target::AtMost(1.0),
            latency,
        ),
        many.row(
            "16 calls at once",
            Unit::PerSecond,
            Target::AtLeast(3.5),
            rate,
        ),
        slow.row(
            "16 calls of 50 ms CPU at once",
            Unit::PerSecond,
            Target::AtLeast(1.8),
            rate,
        ),
        slow.row(
            "ping during these calls, median",
            Unit::Milliseconds,
            Target::AtMost(0.1),
            ping,
        ),
        Row::new(
            "memory at its peak, one servlet",
            Unit::Mebibytes,
            peaks,
            Target::AtMost(1.0),
        ),
    ])
}

/// How many rounds the tool `spin` needs to take as long as a slow call.
fn calibrate(host: &Host, server: &mut Stdio) -> anyhow::Result<u64> {
    let mut rounds = 1_000_000;
    loop {
        let load = Load {
            tool: &host.tool("s0", "spin"),
            arguments: json!({ "rounds": rounds }),
            calls: 5,
            in_flight: 1,
            ping_every: None,
        };
        let took = median(load.run(server)?.calls);
        let factor = SLOW.as_secs_f64() / took;
        if (0.9..1.1).contains(&factor) {
            return Ok(rounds);
        }
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive and small"
        )]
        let next = (rounds as f64 * factor.clamp(0.1, 10.0)) as u64;
        rounds = next;
    }
}

/// A load, with the measurements of each side and round.
struct Loads {
    load: Load<'static>,
    taken: Pair<Vec<Taken>>,
}

impl Loads {
    fn new(tool: &'static str, arguments: Value, calls: usize, in_flight: usize) -> Self {
        let load = Load {
            tool,
            arguments,
            calls,
            in_flight,
            ping_every: None,
        };
        let taken = Default::default();
        Self { load, taken }
    }

    fn run(
        &mut self,
        hosts: &Pair<Host>,
        servers: &mut [Stdio],
        counts: bool,
    ) -> anyhow::Result<()> {
        for (side, (host, server)) in hosts.iter().zip(servers).enumerate() {
            let tool = &host.tool("s0", self.load.tool);
            let load = Load {
                tool,
                ..self.load.clone()
            };
            let taken = load.run(server)?;
            if counts {
                self.taken[side].push(taken);
            }
        }
        Ok(())
    }

    /// The median over all rounds, for each side.
    fn row(
        &self,
        label: &'static str,
        unit: Unit,
        target: Target,
        figure: impl Fn(&Taken) -> f64,
    ) -> Row {
        let medians = self
            .taken
            .each_ref()
            .map(|taken| median(taken.iter().map(&figure)));
        Row::new(label, unit, medians, target)
    }
}

/// The time from the start of ten servlets until clients see all their tools.
fn starts(hosts: &Pair<Host>, wasm: &Path) -> anyhow::Result<Vec<Row>> {
    let [mut first, mut again, mut peaks]: [Pair<Vec<f64>>; 3] = Default::default();
    for _ in 0..ROUNDS {
        for (side, host) in hosts.iter().enumerate() {
            // A new folder has no compiled modules yet.
            let folder = tempfile::tempdir()?;
            let servlets = Servlet::several(SERVLETS, wasm, folder.path())?;
            first[side].push(start(host, &servlets, folder.path())?.took * 1e3);
            let second = start(host, &servlets, folder.path())?;
            again[side].push(second.took * 1e3);
            peaks[side].push(second.peak);
        }
    }
    let row = |label, unit, most, figures: Pair<Vec<f64>>| {
        Row::new(label, unit, figures.map(median), Target::AtMost(most))
    };
    Ok(vec![
        row(
            "start of 10 servlets, compiled before",
            Unit::Milliseconds,
            0.4,
            again,
        ),
        row(
            "start of 10 servlets, never compiled",
            Unit::Milliseconds,
            0.4,
            first,
        ),
        row(
            "memory at its peak, 10 servlets",
            Unit::Mebibytes,
            0.6,
            peaks,
        ),
    ])
}
