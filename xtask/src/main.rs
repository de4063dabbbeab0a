//! The project's own commands. `./x` runs them once the toolchain is installed.
#![allow(clippy::print_stdout, reason = "a command talks to people")]

mod bench;
mod bundle;
mod clients;
mod codegen;
mod conformance;
mod demo;
mod dist;
mod fuzz;
mod lint;
mod npm;
mod python;
mod registry;
mod serve;
mod shell;
mod test;
mod tidy;
mod vet;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "x", about = "The commands of the mcp-servlet workspace")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build a servlet, describe it, and call it from a real MCP client
    Demo,
    /// Check and test everything, as CI does
    Test,
    /// Generate the wire types from schema.yaml
    Codegen {
        /// Fail if they differ from the committed ones
        #[arg(long)]
        check: bool,
    },
    /// Write bundle.zip, the template for `xtp plugin init`
    Bundle {
        /// Where to write it
        #[arg(long, default_value = "bundle.zip")]
        output: std::path::PathBuf,
    },
    /// Pack the `servlet` command for npm, pip, Debian, containers, and as an archive
    Dist(dist::Options),
    /// Accept the output of the tests as the expected one
    Bless,
    /// Lint and document all crates
    Lint,
    /// Check the house rules
    Tidy,
    /// Check what a release needs: the oldest compiler, unsafe code in Miri, licenses, packages
    Vet,
    /// Run every scenario of MCP's official conformance suite, over HTTP
    Conformance {
        /// Against an endpoint with TLS and callers, through HAProxy, which adds a key to each request
        #[arg(long)]
        secure: bool,
    },
    /// Call the tools of the servlets in `examples` with MCP clients of other projects, and list MCP servers of other projects
    Clients {
        /// Run only clients whose name contains this, or only the `servers`, the same behind one endpoint: `gateway`, one tool of
        /// several servers: `combine`, what the command packs, signs and pushes: `packages`, or clients that log in: `login`
        only: Option<String>,
        /// The command of hyper-mcp 0.8.3, which then loads a servlet from a registry
        #[arg(long, value_name = "FILE")]
        hyper_mcp: Option<std::path::PathBuf>,
    },
    /// Feed everything that reads foreign input with bytes from libFuzzer
    Fuzz {
        /// Targets, each a folder of `tests/fuzz/corpus`; by default all of them
        targets: Vec<String>,
        /// How long each target runs
        #[arg(long, default_value_t = 60)]
        seconds: u64,
    },
    /// Measure servlets against the official generator's, or hosts of servlets
    Bench(bench::Options),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Demo => demo::demo(),
        Command::Test => test::test(),
        Command::Codegen { check } => codegen::run(check),
        Command::Bundle { output } => bundle::bundle(&output),
        Command::Dist(options) => dist::dist(&options),
        Command::Bless => test::bless(),
        Command::Lint => lint::lint(),
        Command::Tidy => tidy::check_repository(),
        Command::Vet => vet::vet(),
        Command::Conformance { secure } => conformance::run(secure),
        Command::Clients { only, hyper_mcp } => {
            clients::check_clients(only.as_deref(), hyper_mcp.as_deref())
        }
        Command::Fuzz { targets, seconds } => fuzz::fuzz(&targets, seconds),
        Command::Bench(options) => bench::bench(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("x: {error:#}");
            ExitCode::FAILURE
        }
    }
}
