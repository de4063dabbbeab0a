//! MCP's official conformance suite against `examples/everything` behind the real host.

use std::fs;
use std::process::Command;

use anyhow::{Context, bail};

use crate::npm::Packages;
use crate::serve::{Server, build};
use crate::shell::target;

const SUITE: &str = "@modelcontextprotocol/conformance@0.2.0-alpha.12";

/// The revisions that have a set of required scenarios.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Runs both required sets, and fails unless every scenario in them passes.
pub(crate) fn run() -> anyhow::Result<()> {
    let packages = Packages::install("conformance", &[SUITE])?;
    let server = Server::start(&build(&["everything"])?, &[])?;
    let mut failed = Vec::new();
    for revision in REVISIONS {
        let command = packages.program("conformance")?;
        if !passes(command, revision, &server.url)? {
            failed.push(revision);
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    bail!("not everything passes at {}", failed.join(", "));
}

/// Runs one set, and shows its summary.
fn passes(mut command: Command, revision: &str, url: &str) -> anyhow::Result<bool> {
    let folder = target().join("conformance").join(revision);
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let output = command
        .args(["server", "--url", url, "--requirements", revision])
        .arg("-o")
        .arg(&folder)
        .output()
        .context("cannot run the suite")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let log = folder.join("log.txt");
    fs::write(&log, [&output.stdout[..], &output.stderr].concat())?;
    let scored = Summary::of(&text);
    let (passed, all) = (
        scored.passed.len(),
        scored.passed.len() + scored.failed.len(),
    );
    println!("{revision}: {passed} of {all} required scenarios pass");
    for scenario in &scored.failed {
        println!("  {scenario}");
    }
    for other in &scored.others {
        println!("  not required: {other}");
    }
    if !output.status.success() {
        println!("  details: {}", log.display());
    }
    Ok(output.status.success() && scored.failed.is_empty() && passed > 0)
}

/// The lines of the suite's own summary.
#[derive(Default)]
struct Summary<'a> {
    passed: Vec<&'a str>,
    failed: Vec<&'a str>,
    /// Failed, and not part of the set.
    others: Vec<&'a str>,
}

impl<'a> Summary<'a> {
    fn of(text: &'a str) -> Self {
        let mut summary = Self::default();
        let (_, text) = text.split_once("=== SUMMARY ===").unwrap_or_default();
        let (scored, others) = text.split_once("\nNot scored").unwrap_or((text, ""));
        let others: Vec<_> = others.lines().map(str::trim).collect();
        let is_other = |line: &str| {
            let (name, _) = line.split_once(':').unwrap_or((line, ""));
            others.iter().any(|other| {
                other
                    .trim_start_matches(['✓', '✗', ' '])
                    .starts_with(&format!("{name} ("))
            })
        };
        for line in scored.lines() {
            if let Some(scenario) = line.strip_prefix("✓ ").filter(|line| !is_other(line)) {
                summary.passed.push(scenario);
            } else if let Some(scenario) = line.strip_prefix("✗ ").filter(|line| !is_other(line))
            {
                summary.failed.push(scenario);
            }
        }
        let failed = others.iter().filter_map(|line| line.strip_prefix("✗ "));
        summary.others = failed.collect();
        summary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_suite_says() {
        let text = "✓ noise\n=== SUMMARY ===\n✓ ping: 2 passed, 0 failed\n✗ tools-list: 1 passed, 1 failed\n\
                    ✗ tasks: 0 passed, 1 failed\n✓ polling: 1 passed, 0 failed\n\nTotal: 4 passed, 2 failed\n\n\
                    Not scored for 2025-11-25: 2 scenario(s) run.\n  ✗ tasks (extension)\n  ✓ polling (pending)\n";
        let summary = Summary::of(text);
        assert_eq!(summary.passed, ["ping: 2 passed, 0 failed"]);
        assert_eq!(summary.failed, ["tools-list: 1 passed, 1 failed"]);
        assert_eq!(summary.others, ["tasks (extension)"]);
    }
}
