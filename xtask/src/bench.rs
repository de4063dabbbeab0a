//! Measures our servlets against those of the official generator (`bench/runner`), the code generator against typify
//! alone, hosts and proxies against each other (`bench/hosts`), and the client half against other clients (`bench/client`).

mod client;
mod gateway;
mod hosts;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use self::hosts::Measure;
use crate::shell::{cargo, run};

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    what: Option<What>,
    /// Only what repeats exactly: bytes and instructions
    #[arg(long)]
    quick: bool,
    /// How to print the result: `table` or `json`
    #[arg(long, default_value = "table", value_parser = ["table", "json"])]
    format: String,
    /// Fail if bytes or instructions differ by more than 1 % from bench/baseline.json
    #[arg(long, conflicts_with = "bless")]
    check: bool,
    /// Write bytes and instructions to bench/baseline.json, and docs/sizes.md from them
    #[arg(long)]
    bless: bool,
}

#[derive(Subcommand)]
enum What {
    /// Compare `servlet serve` with a native server, and with hyper-mcp
    Hosts {
        /// The command `hyper-mcp`, such as `cargo install hyper-mcp --version 0.8.3 --locked` installs
        #[arg(long)]
        hyper_mcp: Option<PathBuf>,
        /// Fail if a target is missed
        #[arg(long)]
        check: bool,
    },
    /// Keep `servlet serve` under a mixed load while its remotes are killed and its configuration changes, and watch its memory
    Soak {
        /// How long
        #[arg(long, default_value_t = 30)]
        minutes: u64,
        /// Instead, keep three processes behind HAProxy under the load of callers whose tokens expire, while the processes end and the
        /// rules change, and check each decision with a second evaluator
        #[arg(long)]
        access: bool,
    },
    /// Compare `servlet catalog` with mcporter and a client on rmcp alone, and typed calls with those of rmcp
    Client(client::Options),
    /// Compare virtual tools and remotes with direct calls and other proxies
    Gateway(gateway::Options),
}

pub(crate) fn bench(options: &Options) -> anyhow::Result<()> {
    match &options.what {
        None => servlets(options),
        Some(What::Hosts { hyper_mcp, check }) => hosts::measure(&Measure::Compare {
            hyper_mcp: hyper_mcp.as_deref(),
            check: *check,
        }),
        Some(What::Soak { minutes, access }) => hosts::measure(&Measure::Soak {
            minutes: *minutes,
            access: *access,
        }),
        Some(What::Client(options)) => client::measure(options),
        Some(What::Gateway(options)) => gateway::measure(options),
    }
}

/// Builds the runner and runs it.
fn servlets(options: &Options) -> anyhow::Result<()> {
    let mut command = cargo(&[
        "run",
        "--quiet",
        "--locked",
        "--manifest-path",
        "bench/runner/Cargo.toml",
        "--target-dir",
        "target/bench/runner",
    ]);
    // Only the measurement of time needs an optimised host, whose first build takes minutes.
    if !options.quick {
        eprintln!("x: the first build of an optimised host takes minutes; `--quick` does without");
        command.arg("--release");
    }
    command.args(["--", "--format", &options.format]);
    let flags = [
        ("--quick", options.quick),
        ("--check", options.check),
        ("--bless", options.bless),
    ];
    command.args(flags.iter().filter(|(_, on)| *on).map(|(flag, _)| flag));
    // A backtrace per call would take longer than what is measured.
    run(command.env("RUST_BACKTRACE", "0"))?;
    if options.quick || options.format == "json" {
        return Ok(());
    }
    run(&mut cargo(&[
        "bench",
        "--quiet",
        "--package",
        "xtp-codegen",
        "--bench",
        "generation",
    ]))
}
