//! Builds the `servlet` command and the programs to compare it with, and runs `bench/hosts`.

use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use super::hosts;
use crate::npm::Packages;
use crate::python;
use crate::shell::{root, run};

const MCP_PROXY: &str = "mcp-proxy==0.13.0";
const SUPERGATEWAY: &str = "supergateway@4.0.0";

#[derive(Args)]
pub(super) struct Options {
    /// The `servlet` command of an earlier version, to compare with it where neither bundles nor remotes are used
    #[arg(long)]
    base: Option<PathBuf>,
    /// How to print the result: `table` or `json`
    #[arg(long, default_value = "table", value_parser = ["table", "json"])]
    format: String,
    /// Fail if a target is missed
    #[arg(long)]
    check: bool,
}

pub(super) fn measure(options: &Options) -> anyhow::Result<()> {
    eprintln!("x: the first build of an optimised host takes minutes");
    let servlet = hosts::servlet()?;
    let mut driver = Command::new(hosts::driver()?);
    let python = python::install("bench_gateway", &[MCP_PROXY])?;
    let npm = Packages::install("bench_gateway", &[SUPERGATEWAY])?;
    driver.arg("gateway").arg("--servlet").arg(servlet);
    driver.arg("--wasm").arg(hosts::wasm("spin")?);
    driver.arg("--weather").arg(hosts::wasm("weather")?);
    driver.arg("--calls").arg(hosts::wasm("calls")?);
    driver.arg("--native").arg(hosts::program("native"));
    driver
        .arg("--mcp-proxy")
        .arg(python.with_file_name("mcp-proxy"));
    driver.arg("--npm").arg(npm.folder());
    driver
        .arg("--haproxy")
        .arg(root().join("deploy/haproxy.cfg"));
    if let Some(base) = &options.base {
        driver.arg("--base").arg(base);
    }
    driver.args(["--format", &options.format]);
    driver.args(options.check.then_some("--check"));
    run(&mut driver)
}
