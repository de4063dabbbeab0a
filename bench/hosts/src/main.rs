//! Measures `servlet serve` against another host of servlets and a native MCP server, measures its
//! memory under a long load, measures two versions of the runtime against each other, measures the
//! client half of `servlet` against other clients, and measures bundles and remotes. It also finds the
//! functions that a start needs.
//!
//! `./x bench hosts`, `./x bench soak`, `./x bench engine`, `./x bench client`, `./x bench gateway`
//! and `./x bench order` run it. All servers are real processes with their real transports. The two sides run in
//! turns, so that other load of the machine affects both.

#![allow(clippy::print_stdout, reason = "a command talks to people")]
#![allow(
    clippy::cast_precision_loss,
    reason = "no figure has more than 53 bits"
)]

mod client;
mod compare;
mod engine;
mod figures;
mod gateway;
mod http;
mod load;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod order;
mod peer;
mod process;
mod report;
mod soak;
mod start;
mod stdio;
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
    /// Compare the runtime of this checkout with the runtime of an earlier commit
    Engine(engine::Engine),
    /// Compare `servlet catalog` and typed calls with other clients
    Client(client::Client),
    /// Compare virtual tools and remotes with direct calls and other proxies, and `servlet serve` with an earlier commit
    Gateway(gateway::Gateway),
    /// Find the functions of the `servlet` command that a start needs
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    Order(order::Order),
    /// Run a program and write the names of the functions that it calls
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    Trace(order::Trace),
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
        Command::Engine(engine) => engine.run(),
        Command::Client(client) => client.run(),
        Command::Gateway(gateway) => gateway.run(),
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        Command::Order(order) => order.run(),
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        Command::Trace(trace) => trace.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hosts: {error:#}");
            ExitCode::FAILURE
        }
    }
}
