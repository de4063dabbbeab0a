//! Compares `servlet catalog` with other clients, and typed calls with those of rmcp alone.
//!
//! All commands list the same server, with the same environment, and their output has to have the same tools. Times and memory are
//! those of the client's process; the server is a child of it and does not count.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use bench_table::{Row, Target, Unit};
use serde::Deserialize;
use serde_json::Value;

use crate::report::{Pair, Report, Section, row};
use crate::usage::Usage;

/// How many rounds each side runs.
const ROUNDS: usize = 15;
/// How often the large catalog is listed.
const LARGE_ROUNDS: usize = 5;
/// The number of its tools.
const LARGE: usize = 10_000;
/// Labels and targets of the typed calls, by size.
const TYPED: [(&str, f64); 3] = [
    ("processor time of a typed call, 0.2 kB", 0.8),
    ("processor time of a typed call, 7 kB", 0.5),
    ("processor time of a typed call, 780 kB", 0.35),
];

#[derive(clap::Args)]
pub(crate) struct Client {
    /// The `servlet` command
    #[arg(long)]
    servlet: PathBuf,
    /// The client on rmcp alone
    #[arg(long)]
    bare: PathBuf,
    /// The program with the typed calls
    #[arg(long)]
    typed: PathBuf,
    /// The server with 10,000 tools
    #[arg(long)]
    tools: PathBuf,
    /// The folder with Node, mcporter and the servers of npm
    #[arg(long)]
    npm: PathBuf,
    #[command(flatten)]
    report: Report,
}

impl Client {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let temporary = tempfile::tempdir()?;
        let folder = temporary.path().canonicalize()?;
        let sections = [
            Section {
                peer: "mcporter",
                rows: self.against_mcporter(&folder)?,
            },
            Section {
                peer: "rmcp",
                rows: self.against_rmcp(&folder)?,
            },
            Section {
                peer: "limit",
                rows: self.large(&folder)?,
            },
        ];
        self.report.finish(&sections)
    }

    /// The time and memory of `servlet catalog` and `mcporter list`.
    fn against_mcporter(&self, folder: &Path) -> anyhow::Result<Vec<Row>> {
        let filesystem = self.filesystem(folder);
        let everything = self.everything();
        let listed = |server: &[String]| {
            in_turns(folder, [self.ours(server), self.mcporter(server)], ROUNDS)
        };
        let (short, long) = (listed(&filesystem)?, listed(&everything)?);
        Ok(vec![
            row(
                "list server-filesystem",
                Unit::Milliseconds,
                &seconds(&short, 1e3),
                Some(Target::AtMost(0.6)),
            ),
            row(
                "peak memory of the client",
                Unit::Mebibytes,
                &memory(&short),
                Some(Target::AtMost(0.4)),
            ),
            // Its own start and end take most of that time, whichever client it has.
            row(
                "list server-everything",
                Unit::Milliseconds,
                &seconds(&long, 1e3),
                None,
            ),
        ])
    }

    /// The time of `servlet catalog` and of a client on rmcp alone, and the processor time of typed calls.
    fn against_rmcp(&self, folder: &Path) -> anyhow::Result<Vec<Row>> {
        let everything = self.everything();
        let sides = [self.ours(&everything), self.on_rmcp(&everything)];
        let listed = in_turns(folder, sides, ROUNDS)?;
        let filesystem = self.filesystem(folder);
        let sides = [self.ours(&filesystem), self.on_rmcp(&filesystem)];
        let short = in_turns(folder, sides, ROUNDS)?;
        let mut rows = vec![
            row(
                "list server-everything",
                Unit::Milliseconds,
                &seconds(&listed, 1e3),
                Some(Target::AtMost(1.15)),
            ),
            row(
                "list server-filesystem",
                Unit::Milliseconds,
                &seconds(&short, 1e3),
                Some(Target::AtMost(1.15)),
            ),
        ];
        rows.extend(self.typed(folder)?);
        Ok(rows)
    }

    fn typed(&self, folder: &Path) -> anyhow::Result<Vec<Row>> {
        #[derive(Deserialize)]
        struct Figures {
            ours: Vec<f64>,
            peer: Vec<f64>,
        }
        let output = folder.join("typed.json");
        Usage::of(&mut Command::new(&self.typed), &output)?;
        let sizes: Vec<Figures> = serde_json::from_slice(&fs::read(&output)?)?;
        ensure!(sizes.len() == TYPED.len(), "the figures of each size");
        let rows = sizes.iter().zip(TYPED).map(|(figures, (label, target))| {
            let rounds = figures.ours.iter().zip(&figures.peer);
            let pairs: Vec<_> = rounds
                .map(|(ours, peer)| [ours * 1e6, peer * 1e6])
                .collect();
            row(
                label,
                Unit::Microseconds,
                &pairs,
                Some(Target::AtMost(target)),
            )
        });
        Ok(rows.collect())
    }

    /// The costs of a large catalog, and what they may be at most.
    fn large(&self, folder: &Path) -> anyhow::Result<Vec<Row>> {
        let server = [self.tools.to_string_lossy().into_owned()];
        let output = folder.join("large.json");
        let mut times = Vec::new();
        let mut peaks = Vec::new();
        for _ in 0..LARGE_ROUNDS {
            let usage = Usage::of(&mut self.ours(&server).in_folder(folder), &output)?;
            let listed = tools(&output)?;
            ensure!(listed == LARGE, "expected {LARGE} tools, found {listed}");
            times.push([usage.processor, 1.5]);
            peaks.push([usage.peak / 1024.0, 200.0]);
        }
        Ok(vec![
            row(
                "processor time of a catalog of 10,000 tools",
                Unit::Seconds,
                &times,
                Some(Target::AtMost(1.0)),
            ),
            row(
                "its peak memory",
                Unit::Mebibytes,
                &peaks,
                Some(Target::AtMost(1.0)),
            ),
        ])
    }

    /// `servlet catalog` of a server.
    fn ours(&self, server: &[String]) -> Listing {
        let mut command = Command::new(&self.servlet);
        command.args(["catalog", "--format", "json", "--"]);
        command.args(server);
        Listing(command)
    }

    fn on_rmcp(&self, server: &[String]) -> Listing {
        let mut command = Command::new(&self.bare);
        command.args(server);
        Listing(command)
    }

    fn mcporter(&self, server: &[String]) -> Listing {
        let mut command = Command::new(self.program("node"));
        command.arg(self.program("mcporter"));
        command.args(["list", "--json", "--name", "server"]);
        for (index, word) in server.iter().enumerate() {
            let option = if index == 0 { "--stdio" } else { "--stdio-arg" };
            command.args([option, word]);
        }
        Listing(command)
    }

    fn filesystem(&self, folder: &Path) -> Vec<String> {
        let folder = folder.to_string_lossy().into_owned();
        vec![
            self.program("node"),
            self.program("mcp-server-filesystem"),
            folder,
        ]
    }

    fn everything(&self) -> Vec<String> {
        vec![
            self.program("node"),
            self.program("mcp-server-everything"),
            "stdio".to_owned(),
        ]
    }

    /// The path of a program of npm.
    fn program(&self, name: &str) -> String {
        let path = self.npm.join("node_modules/.bin").join(name);
        path.to_string_lossy().into_owned()
    }
}

/// A command that lists a server.
struct Listing(Command);

impl Listing {
    /// The command, with the folder as its home, so that it finds no configuration of this machine.
    fn in_folder(mut self, folder: &Path) -> Command {
        self.0.current_dir(folder).env("HOME", folder);
        for variable in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
            self.0.env(variable, folder);
        }
        self.0.env_remove("RUST_LOG").env("RUST_BACKTRACE", "0");
        self.0
    }
}

/// Runs both sides in turns. The first round only warms up.
fn in_turns(
    folder: &Path,
    sides: Pair<Listing>,
    rounds: usize,
) -> anyhow::Result<Vec<Pair<Usage>>> {
    let outputs = ["ours.json", "peer.json"].map(|name| folder.join(name));
    let [mut ours, mut peer] = sides.map(|side| side.in_folder(folder));
    let mut pairs = Vec::new();
    for _ in 0..=rounds {
        let pair = [
            Usage::of(&mut ours, &outputs[0])?,
            Usage::of(&mut peer, &outputs[1])?,
        ];
        let [ours, peer] = [tools(&outputs[0])?, tools(&outputs[1])?];
        ensure!(ours > 0 && ours == peer, "{ours} tools; peer: {peer}");
        pairs.push(pair);
    }
    pairs.remove(0);
    Ok(pairs)
}

/// The number of tools in the output of a client. A catalog of `servlet` has items of several types.
fn tools(output: &Path) -> anyhow::Result<usize> {
    let lists: Value = serde_json::from_slice(&fs::read(output)?)?;
    let (items, tools) = (lists["items"].as_array(), lists["tools"].as_array());
    if let Some(items) = items {
        return Ok(items.iter().filter(|item| item["type"] == "tool").count());
    }
    Ok(tools.context("the output has no list of tools")?.len())
}

fn seconds(pairs: &[Pair<Usage>], factor: f64) -> Vec<Pair<f64>> {
    let pairs = pairs.iter();
    pairs
        .map(|pair| pair.map(|usage| usage.took * factor))
        .collect()
}

fn memory(pairs: &[Pair<Usage>]) -> Vec<Pair<f64>> {
    let pairs = pairs.iter();
    pairs
        .map(|pair| pair.map(|usage| usage.peak / 1024.0))
        .collect()
}
