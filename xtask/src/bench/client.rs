//! Builds the `servlet` command and what `bench/hosts` compares it with, and measures.

use std::process::Command;

use clap::Args;

use super::hosts;
use crate::npm::{EVERYTHING, FILESYSTEM, MCPORTER, Packages};
use crate::shell::run;

#[derive(Args)]
pub(super) struct Options {
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
    hosts::package("bench/client/Cargo.toml")?;
    let mut driver = Command::new(hosts::driver()?);
    let npm = Packages::install("bench_client", &[MCPORTER, EVERYTHING, FILESYSTEM])?;
    driver.arg("client").arg("--servlet").arg(servlet);
    driver.arg("--bare").arg(hosts::program("bare"));
    driver.arg("--typed").arg(hosts::program("bench-client"));
    driver.arg("--tools").arg(hosts::program("tools"));
    driver.arg("--npm").arg(npm.folder());
    driver.args(["--format", &options.format]);
    driver.args(options.check.then_some("--check"));
    run(&mut driver)
}
