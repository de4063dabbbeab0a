//! Builds `bench/hosts` and the servers that it measures.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{cargo, root, run, target};

/// The measurement that `bench/hosts` runs.
pub(super) enum Measure<'a> {
    /// `servlet serve` against a native server, and against hyper-mcp if its command is given.
    Compare {
        hyper_mcp: Option<&'a Path>,
        check: bool,
    },
    /// The memory of `servlet serve` under load for this many minutes, with remotes, or with callers at several processes.
    Soak { minutes: u64, access: bool },
}

pub(super) fn measure(measure: &Measure<'_>) -> anyhow::Result<()> {
    eprintln!("x: the first build of an optimised host takes minutes");
    let servlet = servlet()?;
    let mut driver = Command::new(driver()?);
    match measure {
        Measure::Compare { hyper_mcp, check } => {
            driver.arg("compare");
            driver.args(check.then_some("--check"));
            if let Some(hyper_mcp) = hyper_mcp {
                driver.arg("--hyper-mcp").arg(hyper_mcp);
            }
        }
        Measure::Soak { minutes, access } => {
            driver.args(["soak", "--minutes", &minutes.to_string()]);
            if *access {
                driver
                    .arg("--access")
                    .arg(root().join("deploy/haproxy.cfg"));
            }
        }
    }
    driver.arg("--servlet").arg(servlet);
    driver.arg("--native").arg(program("native"));
    run(driver.arg("--wasm").arg(wasm("spin")?))
}

/// The target directory of `bench/hosts`.
pub(super) fn folder() -> PathBuf {
    target().join("bench/hosts")
}

/// A program in the folder of `bench/hosts`.
pub(super) fn program(name: &str) -> PathBuf {
    folder().join("release").join(name)
}

/// Builds the `servlet` command as people install it.
pub(super) fn servlet() -> anyhow::Result<PathBuf> {
    let folder = folder();
    build(
        &folder,
        "dist",
        &["--locked", "--package", "mcp-servlet-cli"],
    )?;
    Ok(folder.join("dist/servlet"))
}

/// Builds the command that measures, and the programs next to it.
pub(super) fn driver() -> anyhow::Result<PathBuf> {
    package("bench/hosts/Cargo.toml")?;
    Ok(program("bench-hosts"))
}

/// Builds a package of `bench` in the folder of `bench/hosts`.
pub(super) fn package(manifest: &str) -> anyhow::Result<()> {
    build(
        &folder(),
        "release",
        &["--locked", "--manifest-path", manifest],
    )
}

/// The servlet of a feature of `bench/ours`.
pub(super) fn wasm(feature: &str) -> anyhow::Result<PathBuf> {
    let folder = target().join("bench/ours");
    let servlet = ["--manifest-path", "bench/ours/Cargo.toml"];
    let servlet = [servlet, ["--features", feature]].concat();
    let for_wasm = ["--target", "wasm32-unknown-unknown"];
    build(
        &folder,
        "release",
        &[servlet.as_slice(), &for_wasm].concat(),
    )?;
    // The next feature replaces what cargo has built.
    let wasm = folder.join(feature).with_extension("wasm");
    fs::copy(
        folder.join("wasm32-unknown-unknown/release/bench_servlet.wasm"),
        &wasm,
    )?;
    Ok(wasm)
}

fn build(folder: &Path, profile: &str, what: &[&str]) -> anyhow::Result<()> {
    run(&mut build_command(folder, profile, what))
}

fn build_command(folder: &Path, profile: &str, what: &[&str]) -> Command {
    let mut command = cargo(&["build", "--quiet", "--profile", profile]);
    command.args(what).arg("--target-dir").arg(folder);
    command
}
