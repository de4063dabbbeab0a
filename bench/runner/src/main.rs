//! Measures our servlets against one of the official generator.
//!
//! `./x bench` runs it. Bytes and instructions are the same in each run.

#![allow(clippy::print_stdout, reason = "a command talks to people")]
#![allow(
    clippy::cast_precision_loss,
    reason = "no figure has more than 53 bits"
)]

mod baseline;
mod build;
mod exact;
mod host;
mod report;
mod sizes;

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
#[command(
    name = "bench",
    about = "Measures our servlets against one of the official generator"
)]
struct Arguments {
    /// Fail if bytes or instructions differ by more than 1 % from bench/baseline.json
    #[arg(long, conflicts_with = "bless")]
    check: bool,
    /// Write bytes and instructions to bench/baseline.json, and docs/sizes.md from them
    #[arg(long)]
    bless: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    let figures = exact::measure(&build::Builder::new(root.clone())?)?;
    print!("{}", report::report(&figures)?);
    if arguments.bless {
        baseline::bless(&root, &figures)?;
        sizes::write(&root, &figures)?;
    }
    if arguments.check {
        baseline::check_figures(&root, &figures)?;
    }
    Ok(())
}
