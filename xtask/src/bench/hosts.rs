//! Builds `bench/hosts` and the servers that it measures.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{cargo, run, target};

/// The measurement that `bench/hosts` runs.
pub(super) enum Measure<'a> {
    /// `servlet serve` against a native server, and against hyper-mcp if its command is given.
    Compare(Option<&'a Path>),
    /// The memory of `servlet serve` under load for this many minutes.
    Soak(u64),
}

pub(super) fn measure(measure: &Measure<'_>) -> anyhow::Result<()> {
    eprintln!("x: the first build of an optimised host takes minutes");
    let folder = folder();
    build(&folder, &["--locked", "--package", "mcp-servlet-cli"])?;
    let mut driver = Command::new(driver()?);
    match measure {
        Measure::Compare(hyper_mcp) => {
            driver.arg("compare");
            driver.arg("--native").arg(folder.join("release/native"));
            if let Some(hyper_mcp) = hyper_mcp {
                driver.arg("--hyper-mcp").arg(hyper_mcp);
            }
        }
        Measure::Soak(minutes) => {
            driver.args(["soak", "--minutes", &minutes.to_string()]);
        }
    }
    driver.arg("--servlet").arg(folder.join("release/servlet"));
    run(driver.arg("--wasm").arg(wasm()?))
}

fn folder() -> PathBuf {
    target().join("bench/hosts")
}

/// Builds the command that measures.
pub(super) fn driver() -> anyhow::Result<PathBuf> {
    let package = ["--locked", "--manifest-path", "bench/hosts/Cargo.toml"];
    build(&folder(), &package)?;
    Ok(folder().join("release/bench-hosts"))
}

/// The servlet with the tools `greet` and `spin`.
pub(super) fn wasm() -> anyhow::Result<PathBuf> {
    let folder = target().join("bench/ours");
    let servlet = [
        "--manifest-path",
        "bench/ours/Cargo.toml",
        "--features",
        "spin",
    ];
    let for_wasm = ["--target", "wasm32-unknown-unknown"];
    build(&folder, &[servlet.as_slice(), &for_wasm].concat())?;
    Ok(folder.join("wasm32-unknown-unknown/release/bench_servlet.wasm"))
}

fn build(folder: &Path, what: &[&str]) -> anyhow::Result<()> {
    let mut command = cargo(&["build", "--quiet", "--release"]);
    run(command.args(what).arg("--target-dir").arg(folder))
}
