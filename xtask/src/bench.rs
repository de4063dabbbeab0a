//! Measures our servlets against those of the official generator, for which `bench/runner` does the
//! work, and the code generator against typify alone.

use clap::Args;

use crate::shell::{cargo, run};

#[derive(Args)]
pub(crate) struct Options {
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

/// Builds the runner and runs it.
pub(crate) fn bench(options: &Options) -> anyhow::Result<()> {
    let mut command = cargo(&[
        "run",
        "--quiet",
        "--locked",
        "--manifest-path",
        "bench/runner/Cargo.toml",
        "--target-dir",
        "target/bench/runner",
    ]);
    // Only time needs an optimised host, whose first build takes minutes.
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
    // A backtrace per call would drown what is measured.
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
