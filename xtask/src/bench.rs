//! Measures our servlets against one of the official generator (`bench/runner`), and hosts and proxies against each other
//! (`bench/hosts`).

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::bail;
use clap::Args;

use crate::npm::Packages;
use crate::python;
use crate::shell::{cargo, run, target};

const MCP_PROXY: &str = "mcp-proxy==0.13.0";
const SUPERGATEWAY: &str = "supergateway@4.0.0";

/// The options of the programs in `bench`, which read them.
const HELP: &str = "\
Without a name, compares servlets with the official generator's:
  --check             Fail if bytes or instructions differ by more than 1 % from bench/baseline.json
  --bless             Write bytes and instructions to bench/baseline.json, and docs/sizes.md from them

hosts                 Compares `servlet serve` with a native server
  --hyper-mcp <FILE>  And with hyper-mcp, as `cargo install hyper-mcp --version 0.8.3 --locked` installs it
  --check             Fail if a target is missed

soak                  Loads three processes behind HAProxy while they are killed and rules change, and checks each decision
  --minutes <N>       How long [default: 30]

gateway               Compares virtual tools, remotes and access with the same work without them
  --base <FILE>       Also compare plain `servlet serve` with this command of an earlier version
  --check             Fail if a target is missed";

#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Options {
    /// What to measure, and options
    #[arg(
        value_name = "WHAT",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    arguments: Vec<OsString>,
}

pub(crate) fn bench(Options { arguments }: &Options) -> anyhow::Result<()> {
    if arguments.iter().any(|one| one == "-h" || one == "--help") {
        println!("{HELP}");
        return Ok(());
    }
    match arguments.first().and_then(|first| first.to_str()) {
        Some("hosts" | "soak") => hosts(arguments),
        Some("gateway") => {
            wasm("weather")?;
            wasm("calls")?;
            python::install("bench", &[MCP_PROXY])?;
            Packages::install("bench", &[SUPERGATEWAY])?;
            hosts(arguments)
        }
        Some(other) if !other.starts_with('-') => {
            bail!("expected `hosts`, `soak` or `gateway`, found `{other}`")
        }
        _ => servlets(arguments),
    }
}

/// Builds the runner and runs it.
fn servlets(arguments: &[OsString]) -> anyhow::Result<()> {
    let mut runner = cargo(&["run", "--quiet", "--locked"]);
    runner.args(["--manifest-path", "bench/runner/Cargo.toml"]);
    runner
        .arg("--target-dir")
        .arg(target().join("bench/runner"));
    run(runner.arg("--").args(arguments))
}

/// Builds the `servlet` command as people install it, and what is measured with it, and runs a command of `bench/hosts`.
fn hosts(arguments: &[OsString]) -> anyhow::Result<()> {
    eprintln!("x: the first build of an optimised host takes minutes");
    let folder = target().join("bench/hosts");
    build(&folder, "dist", &["--package", "mcp-servlet-cli"])?;
    let package = ["--manifest-path", "bench/hosts/Cargo.toml"];
    build(&folder, "release", &package)?;
    wasm("spin")?;
    let mut driver = Command::new(folder.join("release/bench-hosts"));
    run(driver.arg(target()).args(arguments))
}

/// Builds the servlet of a feature of `bench/ours`.
fn wasm(feature: &str) -> anyhow::Result<()> {
    let folder = target().join("bench/ours");
    let mut options = vec!["--manifest-path", "bench/ours/Cargo.toml"];
    options.extend(["--features", feature]);
    options.extend(["--target", "wasm32-unknown-unknown"]);
    build(&folder, "release", &options)?;
    // The next feature replaces what cargo has built.
    let built = folder.join("wasm32-unknown-unknown/release/bench_servlet.wasm");
    fs::copy(built, folder.join(feature).with_extension("wasm"))?;
    Ok(())
}

fn build(folder: &Path, profile: &str, options: &[&str]) -> anyhow::Result<()> {
    let mut build = cargo(&["build", "--quiet", "--locked", "--profile", profile]);
    run(build.args(options).arg("--target-dir").arg(folder))
}
