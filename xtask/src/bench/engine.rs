//! Builds `bench/engine` in this tree and in the tree of a base commit, and compares them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use super::{base, hosts};
use crate::shell::{cargo, root, run, target};

/// The last commit whose runtime used Extism.
const BASE: &str = "b6cd4ddd3f3ee77ec3ab70bf0607020477883c62";

#[derive(Args)]
pub(super) struct Options {
    /// The commit to compare with
    #[arg(long, default_value = BASE)]
    base: String,
    /// Fail if a target is missed
    #[arg(long)]
    check: bool,
}

pub(super) fn measure(options: &Options) -> anyhow::Result<()> {
    eprintln!("x: the first build of two optimised runtimes takes minutes");
    let base = checkout(&options.base)?;
    let base = runner(&base, "base")?;
    let ours = runner(&root(), "ours")?;
    let mut driver = Command::new(hosts::driver()?);
    driver.arg("engine").arg("--ours").arg(ours);
    driver.arg("--base").arg(base);
    driver.arg("--servlets").arg(servlets()?);
    driver.arg("--wasm").arg(hosts::wasm("spin")?);
    driver.args(options.check.then_some("--check"));
    run(&mut driver)
}

/// The tree of a commit, with `bench/engine` of this tree.
fn checkout(commit: &str) -> anyhow::Result<PathBuf> {
    let tree = base::checkout("bench/base", commit)?;
    let (here, there) = (root().join("bench/engine"), tree.join("bench/engine"));
    fs::create_dir_all(there.join("src"))?;
    fs::copy(here.join("Cargo.toml"), there.join("Cargo.toml"))?;
    for file in fs::read_dir(here.join("src"))? {
        let file = file?;
        fs::copy(file.path(), there.join("src").join(file.file_name()))?;
    }
    Ok(tree)
}

/// Builds `bench/engine` in a tree, with the versions of its lock file.
fn runner(tree: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let package = tree.join("bench/engine");
    fs::copy(tree.join("Cargo.lock"), package.join("Cargo.lock"))?;
    let folder = target().join("bench/engine");
    let mut build = cargo(&["build", "--quiet", "--release"]);
    build.arg("--manifest-path").arg(package.join("Cargo.toml"));
    run(build.arg("--target-dir").arg(&folder))?;
    let program = folder.join(name);
    fs::copy(folder.join("release/bench-engine"), &program)?;
    Ok(program)
}

/// A folder with the examples as wasm.
fn servlets() -> anyhow::Result<PathBuf> {
    let target_of_servlets = ["--target", "wasm32-unknown-unknown", "--profile", "servlet"];
    run(cargo(&["build", "--quiet"]).args(target_of_servlets))?;
    let built = target().join("wasm32-unknown-unknown/servlet");
    let folder = target().join("bench/servlets");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    for example in fs::read_dir(root().join("examples"))? {
        let name = example?.file_name().to_string_lossy().replace('-', "_");
        let file = built.join(&name).with_extension("wasm");
        // An XTP plugin, which is not a servlet, is not built.
        if file.exists() {
            fs::copy(&file, folder.join(name).with_extension("wasm"))?;
        }
    }
    Ok(folder)
}
