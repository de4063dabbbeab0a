//! The checks and tests that every change must pass.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::process::Command;

use anyhow::ensure;
use cargo_metadata::MetadataCommand;

use crate::shell::{cargo, root, run, show_first_build, target};
use crate::{codegen, lint, tidy};

/// The ABIs that a servlet can be built for, as `MCP_SERVLET_ABI` names them.
pub(crate) const ABIS: [&str; 2] = ["servlet", "hyper-mcp-v2"];

/// Servlets as wasm, through the real host. It takes longer than all other tests together.
const LONGEST: &str = "e2e";

/// The lints of the code that only a wasm build compiles, including all the unsafe code.
const GUEST: [&str; 11] = [
    "clippy",
    "--package",
    "mcp-servlet",
    "--features",
    "global-allocator,http,log,xtp",
    "--target",
    "wasm32-unknown-unknown",
    "--quiet",
    "--",
    "--deny",
    "warnings",
];

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

/// Checks and tests everything, as CI does.
pub(crate) fn test() -> anyhow::Result<()> {
    step("formatting");
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    step("house rules");
    tidy::check()?;
    step("generated code");
    codegen::run(true)?;
    step("tests");
    run(&mut cargo(&FETCH))?;
    run(show_first_build(&mut cargo(&[
        "test",
        "--workspace",
        "--no-run",
    ])))?;
    run_tests()?;
    step("lints and documentation");
    lint::lint()?;
    for abi in ABIS {
        run(cargo(&GUEST).env("MCP_SERVLET_ABI", abi))?;
    }
    println!("\nall is well");
    Ok(())
}

/// Runs the longest test next to all others: both wait for servers, and for builds that use one processor.
fn run_tests() -> anyhow::Result<()> {
    let path = target().join("longest-test.log");
    let log = File::create(&path)?;
    let mut longest = tests();
    longest.args(["--test", LONGEST]).stdout(log.try_clone()?);
    let mut longest = longest.stderr(log).spawn()?;
    let mut others = tests();
    others.args(["--lib", "--bins"]);
    others.args(test_targets()?.iter().flat_map(|name| ["--test", name]));
    let others = run(&mut others);
    let examples = run(tests().arg("--doc"));
    let status = longest.wait()?;
    io::copy(&mut File::open(path)?, &mut io::stdout())?;
    others.and(examples)?;
    ensure!(status.success(), "the test `{LONGEST}` failed");
    Ok(())
}

fn tests() -> Command {
    let mut tests = cargo(&["test", "--workspace", "--quiet", "--no-fail-fast"]);
    tests.env("RUST_BACKTRACE", "0");
    tests
}

/// The names of all integration tests but the longest one.
fn test_targets() -> anyhow::Result<Vec<String>> {
    let metadata = MetadataCommand::new()
        .no_deps()
        .current_dir(root())
        .exec()?;
    let packages = metadata.packages.into_iter();
    let targets = packages.flat_map(|package| package.targets);
    let tests = targets.filter(|target| target.is_test() && target.test);
    let names: BTreeSet<_> = tests.map(|target| target.name).collect();
    Ok(names.into_iter().filter(|name| name != LONGEST).collect())
}

/// Accepts the output of the tests as the expected one.
pub(crate) fn bless() -> anyhow::Result<()> {
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
