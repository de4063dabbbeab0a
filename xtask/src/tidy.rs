//! House rules that no compiler checks.

mod packages;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::shell::{cargo, root, run};

/// Checks all handwritten Rust files, the dependencies between crates, and the lock file of `bench`.
pub(crate) fn check_repository() -> anyhow::Result<()> {
    let mut problems = Vec::new();
    for folder in ["crates", "examples", "tests", "xtask"] {
        for file in rust_files(&root().join(folder))? {
            let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
            let name = file
                .strip_prefix(root())
                .unwrap_or(&file)
                .display()
                .to_string();
            problems.extend(
                problems_of(&text)
                    .into_iter()
                    .map(|problem| format!("{name}: {problem}")),
            );
        }
    }
    problems.extend(packages::problems()?);
    if !problems.is_empty() {
        bail!("{}", problems.join("\n   "));
    }
    check_bench_lock()
}

/// Fails if cargo would have to change the lock file of `bench`.
fn check_bench_lock() -> anyhow::Result<()> {
    let update = ["update", "--quiet", "--workspace", "--locked"];
    run(cargo(&update).current_dir(root().join("bench")))
        .context("run `cargo update --workspace` in `bench`")
}

fn problems_of(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let is_fence = line.starts_with("/// ```") || line.starts_with("//! ```");
        if is_fence && line.contains("ignore") {
            problems.push(format!(
                "line {}: a doctest that never runs: use `no_run` or make it run",
                number + 1
            ));
        }
        if line.starts_with("#[ignore") {
            problems.push(format!("line {}: a test that never runs", number + 1));
        }
    }
    if !text.starts_with("//!") && !text.starts_with("#!") {
        problems.push("no module documentation on its first line".to_owned());
    }
    problems
}

/// All `.rs` files under a folder, except generated code, goldens and compiler fixtures.
fn rust_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            let is_fixture = path.ends_with("ui/fail") || path.ends_with("ui/pass");
            if !is_fixture && !["golden", "target"].contains(&&*name) {
                files.extend(rust_files(&path)?);
            }
        } else if name.ends_with(".rs") && name != "generated.rs" {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
