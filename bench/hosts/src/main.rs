//! Measures `servlet serve` against another host of servlets and a native MCP server, checks it under a long load, and measures bundles,
//! remotes and access.
//!
//! `./x bench hosts`, `./x bench soak` and `./x bench gateway` run it. All servers are real processes with their real transports.
//! The two sides run in turns, so that other load of the machine affects both.

#![allow(clippy::print_stdout, reason = "a command talks to people")]
#![allow(
    clippy::cast_precision_loss,
    reason = "no figure has more than 53 bits"
)]

mod artifacts;
mod balancer;
mod compare;
mod comparison;
mod gateway;
mod http;
mod issuer;
mod load;
mod peer;
mod process;
mod report;
mod soak;
mod start;
mod stdio;
mod streams;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::artifacts::Artifacts;

#[derive(Parser)]
#[command(name = "bench", about = "Measures hosts of MCP servlets")]
struct Arguments {
    /// The target directory, which has everything that `./x bench` builds and installs
    target: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compare `servlet serve` with a native server, and with hyper-mcp
    Hosts(compare::Compare),
    /// Keep three processes behind `HAProxy` under load while they are killed and the rules change, and check each decision
    Soak(soak::Soak),
    /// Compare virtual tools, remotes and access with what does the same work without them
    Gateway(gateway::Gateway),
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> anyhow::Result<()> {
    let artifacts = Artifacts::new(&arguments.target)?;
    match arguments.command {
        Command::Hosts(compare) => compare.run(&artifacts),
        Command::Soak(soak) => soak.run(&artifacts),
        Command::Gateway(gateway) => gateway.run(&artifacts),
    }
}
