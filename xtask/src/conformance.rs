//! Runs MCP's official conformance suite against real servlets in the real host.
//!
//! Every scenario of the suite runs, required or not, for every protocol version and each
//! extension. No check may fail or warn.

mod results;
mod secure;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::npm::Packages;
use crate::serve::{Server, build};
use crate::shell::{cargo, output, run as run_command, target};
use results::{Checks, Scenario};
use secure::Secure;

const SUITE: &str = "@modelcontextprotocol/conformance@0.2.0-alpha.12";

/// Servlets in `tests/fixtures` for what no example does.
const FIXTURES: [&str; 2] = ["list_changes", "tasks"];

/// The column of scenarios that belong to an extension instead of a protocol version.
const EXTENSION: &str = "extension";

/// Runs every scenario, prints how many checks passed, and fails if one does not. With `secure`, against an endpoint with TLS and callers.
pub(crate) fn run(secure: bool) -> anyhow::Result<()> {
    let packages = Packages::install("conformance", &[SUITE])?;
    let scenarios = scenarios(&packages)?;
    let mut servlets = build(&["everything"])?;
    servlets.extend(fixtures()?);
    let (server, behind);
    let url = if secure {
        behind = Secure::start(&servlets)?;
        &behind.url
    } else {
        server = Server::start(&servlets, &[])?;
        &server.url
    };
    let folder = target().join("conformance");
    // Results of an earlier run would look like results of this one.
    let _ = fs::remove_dir_all(&folder);
    let columns: BTreeSet<_> = scenarios.iter().flat_map(|one| &one.columns).collect();
    println!("{:<12} scenarios  passed  failed", "protocol");
    let mut findings = Vec::new();
    for column in columns {
        let folder = folder.join(column);
        let is_one = |one: &&Scenario| one.columns.contains(column);
        let names = scenarios.iter().filter(is_one).map(|one| &*one.name);
        let names: Vec<&str> = names.collect();
        if column == EXTENSION {
            for name in &names {
                start(&packages, url, &folder, &["--scenario", name])?;
            }
        } else {
            let choice = ["--suite", "all", "--spec-version", column];
            start(&packages, url, &folder, &choice)?;
        }
        let checks = Checks::read(&names, &folder)?;
        let (passed, failed) = (checks.passed, checks.findings.len());
        println!("{column:<12} {:>9}  {passed:>6}  {failed:>6}", names.len());
        let failed = checks.findings.into_iter();
        findings.extend(failed.map(|finding| format!("failed: {column} {finding}")));
    }
    ensure!(
        findings.is_empty(),
        "{}\nhelp: details are in {}",
        findings.join("\n"),
        folder.display()
    );
    Ok(())
}

/// All scenarios for servers, from the suite's own list.
fn scenarios(packages: &Packages) -> anyhow::Result<Vec<Scenario>> {
    let mut list = packages.program("conformance")?;
    let text = output(list.args(["list", "--server"]))?;
    let scenarios = Scenario::list(&text);
    if scenarios.is_empty() {
        bail!("the suite lists no scenarios: {text}");
    }
    Ok(scenarios)
}

/// Runs some scenarios, which write their results to files.
fn start(packages: &Packages, url: &str, folder: &Path, choice: &[&str]) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let mut suite: Command = packages.program("conformance")?;
    let output = suite
        .args(["server", "--url", url, "-o"])
        .arg(folder)
        .args(choice)
        .output()
        .context("cannot run the suite")?;
    let log = folder.join("log.txt");
    fs::write(&log, [&output.stdout[..], &output.stderr].concat())
        .with_context(|| log.display().to_string())
}

fn fixtures() -> anyhow::Result<Vec<PathBuf>> {
    let wasm = "wasm32-unknown-unknown";
    let mut build = cargo(&["build", "--quiet", "--release", "--target", wasm]);
    build.args(["--package", "fixtures"]);
    for name in FIXTURES {
        build.args(["--example", name]);
    }
    run_command(&mut build)?;
    let folder = target().join(wasm).join("release/examples");
    Ok(FIXTURES
        .iter()
        .map(|name| folder.join(format!("{name}.wasm")))
        .collect())
}
