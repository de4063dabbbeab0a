//! Measures our servlets against those of the official generator, both in one run.
//!
//! `./x bench` runs it. Bytes and instructions repeat exactly. Time and memory are compared as
//! ratios, because other load of the machine affects both sides.

#![allow(clippy::print_stdout, reason = "a command talks to people")]
#![allow(
    clippy::cast_precision_loss,
    reason = "no figure has more than 53 bits"
)]

mod baseline;
mod build;
mod cold;
mod exact;
mod host;
mod report;
mod rows;
mod sizes;
mod system;
mod timed;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use crate::report::Report;

#[derive(Parser)]
#[command(
    name = "bench",
    about = "Measures our servlets against the official generator's"
)]
struct Arguments {
    /// Only what repeats exactly: bytes and instructions
    #[arg(long)]
    quick: bool,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Fail if bytes or instructions differ by more than 1 % from bench/baseline.json
    #[arg(long, conflicts_with = "bless")]
    check: bool,
    /// Write bytes and instructions to bench/baseline.json, and docs/sizes.md from them
    #[arg(long)]
    bless: bool,
    /// Print the resident bytes per instance of this servlet; runs in a process of its own
    #[arg(long, hide = true)]
    memory_of: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    Table,
    Json,
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
    if let Some(wasm) = &arguments.memory_of {
        println!("{}", timed::memory_here(wasm)?);
        return Ok(());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    let builder = build::Builder::new(root.clone())?;

    let exact = exact::measure(&builder)?;
    let validity = exact::validity(&exact)?;
    let mut rows = rows::exact(&exact)?;
    if !arguments.quick {
        rows.extend(rows::timed(&builder)?);
    }
    let report = Report {
        validity,
        rows,
        exact,
    };
    match arguments.format {
        Format::Table => print!("{}", report.table()),
        Format::Json => println!("{}", report.json()?),
    }

    if arguments.bless {
        baseline::bless(&root, &report.exact)?;
        sizes::write(&root, &report.exact)?;
    }
    if arguments.check {
        baseline::check(&root, &report.exact)?;
    }
    Ok(())
}
