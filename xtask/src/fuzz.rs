//! Feeds the readers of foreign input with bytes from libFuzzer.
//!
//! cargo-fuzz would build wasmtime and everything else again, and needs a nightly compiler. Here a wrapper around
//! rustc instruments only the crates of the workspace, so that the dependencies of the tests are reused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};
use cargo_metadata::Message;

use crate::shell::{cargo, root, target};

/// Each target has a folder in it.
const CORPUS: &str = "tests/fuzz/corpus";

/// The limits of a run: bytes of input, MiB of memory, seconds for one input. Leaks are not detected, because that
/// needs the address sanitizer.
const BOUNDS: [&str; 4] = [
    "-max_len=16384",
    "-rss_limit_mb=2048",
    "-timeout=20",
    "-detect_leaks=0",
];

/// How many targets run at once.
const TARGETS_AT_ONCE: usize = 2;

/// Runs these targets, or all of them, for this many seconds each.
pub(crate) fn fuzz(only: &[String], seconds: u64) -> anyhow::Result<()> {
    let program = build()?;
    let mut targets = targets()?;
    if let Some(unknown) = only.iter().find(|name| !targets.contains(name)) {
        bail!("no target `{unknown}`; there are {}", targets.join(", "));
    }
    targets.retain(|name| only.is_empty() || only.contains(name));
    let mut failed = Vec::new();
    for targets in targets.chunks(TARGETS_AT_ONCE) {
        let started: Vec<_> = targets
            .iter()
            .map(|name| Run::start(&program, name, seconds))
            .collect::<Result<_, _>>()?;
        for run in started {
            failed.extend(run.finish()?);
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    bail!("found by fuzzing:\n{}", failed.join("\n"));
}

fn targets() -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join(CORPUS))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Builds the program with instrumentation and returns its path.
fn build() -> anyhow::Result<PathBuf> {
    let mut build = cargo(&[
        "build",
        "--workspace",
        "--test",
        "fuzz",
        "--message-format=json",
        "--quiet",
    ]);
    build.env(
        "RUSTC_WORKSPACE_WRAPPER",
        root().join("tests/fuzz/rustc.sh"),
    );
    let output = build.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        bail!("the fuzzing program does not build");
    }
    let messages = Message::parse_stream(&*output.stdout);
    let programs = messages.filter_map(|message| match message {
        Ok(Message::CompilerArtifact(artifact)) if artifact.target.name == "fuzz" => {
            artifact.executable
        }
        _ => None,
    });
    let program = programs.last().context("cargo built no program")?;
    Ok(program.into_std_path_buf())
}

/// A target while it is fuzzed.
struct Run<'a> {
    name: &'a str,
    folder: PathBuf,
    child: Child,
}

impl<'a> Run<'a> {
    fn start(program: &Path, name: &'a str, seconds: u64) -> anyhow::Result<Self> {
        let folder = target().join("fuzz").join(name);
        let (found, crashes) = (folder.join("corpus"), folder.join("failures"));
        // Failures of an earlier run would look like failures of this one.
        let _ = fs::remove_dir_all(&crashes);
        fs::create_dir_all(&found)?;
        fs::create_dir_all(&crashes)?;
        let log = fs::File::create(folder.join("log.txt"))?;
        let mut command = Command::new(program);
        command
            .current_dir(&folder)
            .env("FUZZ_TARGET", name)
            .env("RUST_LOG", "off")
            .args(BOUNDS)
            .arg(format!("-max_total_time={seconds}"))
            .arg("-artifact_prefix=failures/")
            .args([&found, &root().join(CORPUS).join(name)]);
        let child = command.stdout(Stdio::null()).stderr(log).spawn()?;
        Ok(Self {
            name,
            folder,
            child,
        })
    }

    /// Waits for the end, prints the number of inputs, and returns the failures.
    fn finish(mut self) -> anyhow::Result<Option<String>> {
        let status = self.child.wait()?;
        let log = fs::read(self.folder.join("log.txt"))?;
        let log = String::from_utf8_lossy(&log);
        let done = log.lines().rev().find(|line| line.starts_with("Done "));
        println!("{}: {}", self.name, done.unwrap_or("failed"));
        if status.success() {
            return Ok(None);
        }
        let mut failures = fs::read_dir(self.folder.join("failures"))?
            .filter_map(|entry| Some(entry.ok()?.path().display().to_string()));
        let input = failures
            .next()
            .unwrap_or_else(|| "no input was kept".to_owned());
        let about = log
            .lines()
            .find(|line| line.contains("panicked at") || line.contains("ERROR: libFuzzer"))
            .unwrap_or("it ended early");
        let log = self.folder.join("log.txt");
        Ok(Some(format!(
            "{}: {about}\n  input: {input}\n  log: {}",
            self.name,
            log.display()
        )))
    }
}
