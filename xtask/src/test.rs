//! The checks and tests that every change must pass.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use cargo_metadata::MetadataCommand;

use crate::shell::{cargo, root, run, show_first_build, target};
use crate::{codegen, lint, python, tidy};

/// The tests that build servlets. Cargo does one build at a time, mostly on one processor, so the other tests run meanwhile.
const BUILDING: [&str; 3] = ["cli", "e2e", "servers"];

/// Fetches dependencies. Some tests run cargo offline, so that changes of a registry do not matter,
/// and they may run before a test that fetches.
const FETCH: [&str; 7] = [
    "fetch",
    "--locked",
    "--quiet",
    "--target",
    "host-tuple",
    "--target",
    "wasm32-unknown-unknown",
];

/// A client of registries, whose tests also need programs that only Debian has.
const ORAS: &str = "oras==0.2.43";

/// Checks and tests everything, as CI does.
pub(crate) fn test() -> anyhow::Result<()> {
    step("formatting");
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    step("house rules");
    tidy::check_repository()?;
    step("generated code");
    codegen::run(true)?;
    step("tests");
    run(&mut cargo(&FETCH))?;
    install_oras()?;
    run(show_first_build(&mut cargo(&[
        "test",
        "--workspace",
        "--tests",
        "--no-run",
    ])))?;
    let building = BUILDING.map(Aside::start);
    // Those take the longest, so what follows has a lower priority.
    #[cfg(unix)]
    rustix::process::nice(5)?;
    let others = run_others();
    step("lints and documentation");
    let lints = lint::lint();
    step("tests that build servlets");
    let deadline = Instant::now() + TIME_AFTER_OTHERS;
    let building = building.into_iter().map(|test| test?.finish(deadline));
    building.fold(others.and(lints), anyhow::Result::and)?;
    println!("\nall is well");
    Ok(())
}

fn run_others() -> anyhow::Result<()> {
    let mut others = tests();
    others.args(["--lib", "--bins"]);
    others.args(test_targets()?.iter().flat_map(|name| ["--test", name]));
    let others = run(&mut others);
    others.and(run(tests().arg("--doc")))
}

/// How long a test that builds servlets may still run after all others. One that hangs would hide what failed.
const TIME_AFTER_OTHERS: Duration = Duration::from_mins(20);

/// A test that runs aside. Its output is shown at its end.
struct Aside {
    process: Child,
    log: PathBuf,
}

impl Aside {
    fn start(test: &str) -> anyhow::Result<Self> {
        let log = target().join(test).with_extension("log");
        let file = File::create(&log)?;
        let mut command = tests();
        command.args(["--test", test]).stdout(file.try_clone()?);
        let process = command.stderr(file).spawn()?;
        Ok(Self { process, log })
    }

    /// Waits for the end, until `deadline`.
    fn finish(mut self, deadline: Instant) -> anyhow::Result<()> {
        let mut status = self.process.try_wait()?;
        while status.is_none() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(200));
            status = self.process.try_wait()?;
        }
        io::copy(&mut File::open(&self.log)?, &mut io::stdout())?;
        let log = self.log.display();
        let Some(status) = status else {
            self.process.kill()?;
            bail!("a test of {log} did not end");
        };
        ensure!(status.success(), "a test of {log} failed");
        Ok(())
    }
}

fn tests() -> Command {
    let mut tests = cargo(&["test", "--workspace", "--quiet", "--no-fail-fast"]);
    tests.env("RUST_BACKTRACE", "0");
    tests
}

/// The names of all integration tests that build no servlets.
fn test_targets() -> anyhow::Result<Vec<String>> {
    let metadata = MetadataCommand::new()
        .no_deps()
        .current_dir(root())
        .exec()?;
    let packages = metadata.packages.into_iter();
    let targets = packages.flat_map(|package| package.targets);
    let tests = targets.filter(|target| target.is_test() && target.test);
    let names: BTreeSet<_> = tests.map(|target| target.name).collect();
    Ok(names
        .into_iter()
        .filter(|name| !BUILDING.contains(&name.as_str()))
        .collect())
}

fn install_oras() -> anyhow::Result<()> {
    if cfg!(target_os = "linux") {
        python::install("oras", &[ORAS])?;
    }
    Ok(())
}

/// Accepts the output of the tests as the expected one.
pub(crate) fn bless() -> anyhow::Result<()> {
    install_oras()?;
    let accept = [
        ("INSTA_UPDATE", "always"),
        ("TRYBUILD", "overwrite"),
        ("TRYCMD", "overwrite"),
        ("UPDATE_GOLDENS", "1"),
    ];
    run(cargo(&["test", "--workspace", "--quiet", "--no-fail-fast"]).envs(accept))?;
    run(std::process::Command::new("git").args(["diff", "--stat"]))
}

fn step(name: &str) {
    println!("\n--- {name}");
}
