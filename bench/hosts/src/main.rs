//! Measures `servlet serve` against another host of servlets and a native MCP server, measures its
//! memory under a long load, measures the client half of `servlet` against other clients, and measures bundles
//! and remotes.
//!
//! `./x bench hosts`, `./x bench soak`, `./x bench client` and `./x bench gateway` run it. All servers are real
//! processes with their real transports. The two sides run in turns, so that other load of the machine affects both.

#![allow(clippy::print_stdout, reason = "a command talks to people")]
#![allow(
    clippy::cast_precision_loss,
    reason = "no figure has more than 53 bits"
)]

mod balancer;
mod client;
mod compare;
mod figures;
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
mod usage;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "hosts", about = "Measures hosts of MCP servlets")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compare `servlet serve` with other servers
    Compare(compare::Compare),
    /// Keep `servlet serve` under load, and watch its memory
    Soak(soak::Soak),
    /// Compare `servlet catalog` and typed calls with other clients
    Client(client::Client),
    /// Compare virtual tools and remotes with direct calls and other proxies, and `servlet serve` with an earlier commit
    Gateway(gateway::Gateway),
}

/// What is measured.
#[derive(clap::Args)]
struct Subject {
    /// The `servlet` command
    #[arg(long)]
    servlet: PathBuf,
    /// The servlet with the tools `greet` and `spin`
    #[arg(long)]
    wasm: PathBuf,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Compare(compare) => compare.run(),
        Command::Soak(soak) => soak.run(),
        Command::Client(client) => client.run(),
        Command::Gateway(gateway) => gateway.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hosts: {error:#}");
            ExitCode::FAILURE
        }
    }
}
