//! The cost of a first build for a servlet's author.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::build::{Builder, Side};
use crate::system;

/// How many times each side is built. The cheapest build counts.
const BUILDS: usize = 2;

pub(crate) struct Cold {
    /// CPU seconds, ours and official.
    pub(crate) cpu: [f64; 2],
    /// Crates compiled.
    pub(crate) crates: [f64; 2],
}

/// Builds the greeting of both sides from scratch, in turns.
pub(crate) fn builds(builder: &Builder) -> anyhow::Result<Cold> {
    let mut cold = Cold {
        cpu: [f64::INFINITY; 2],
        crates: [0.0; 2],
    };
    for _ in 0..BUILDS {
        for (index, side) in Side::BOTH.into_iter().enumerate() {
            let (cpu, crates) = build(builder, side)?;
            cold.cpu[index] = cold.cpu[index].min(cpu);
            cold.crates[index] = crates;
        }
    }
    Ok(cold)
}

fn build(builder: &Builder, side: Side) -> anyhow::Result<(f64, f64)> {
    let target = builder.root.join("target/bench/cold");
    if target.exists() {
        fs::remove_dir_all(&target).with_context(|| target.display().to_string())?;
    }
    let mut command = builder.cargo(side, &target);
    command
        .args(["--offline", "--quiet", "--release", "--features", "greet"])
        .args(["--message-format", "json"])
        .stderr(Stdio::inherit());
    let before = system::children_cpu()?;
    let output = command.output().context("cannot run cargo")?;
    let cpu = system::children_cpu()? - before;
    ensure!(
        output.status.success(),
        "cargo cannot build bench/{}",
        side.name()
    );
    let messages = String::from_utf8(output.stdout)?;
    Ok((cpu, crates(&messages) as f64))
}

/// The number of packages in cargo's messages.
fn crates(messages: &str) -> usize {
    let packages: BTreeSet<String> = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact")
        .map(|message| message["package_id"].to_string())
        .collect();
    packages.len()
}

#[cfg(test)]
mod tests {
    #[test]
    fn counts_a_package_with_a_build_script_once() {
        let messages = r#"{"reason":"compiler-artifact","package_id":"a"}
{"reason":"build-script-executed","package_id":"a"}
{"reason":"compiler-artifact","package_id":"a"}
{"reason":"compiler-artifact","package_id":"b"}
{"reason":"build-finished"}"#;
        assert_eq!(super::crates(messages), 2);
    }
}
