//! The checks and tests that every change must pass.

use crate::shell::{cargo, run, show_first_build};
use crate::{codegen, lint, tidy};

/// The ABIs that a servlet can be built for, as `MCP_SERVLET_ABI` names them.
pub(crate) const ABIS: [&str; 2] = ["servlet", "hyper-mcp-v2"];

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
    run(cargo(&["test", "--workspace", "--quiet", "--no-fail-fast"]).env("RUST_BACKTRACE", "0"))?;
    step("lints and documentation");
    lint::lint()?;
    for abi in ABIS {
        run(cargo(&GUEST).env("MCP_SERVLET_ABI", abi))?;
    }
    println!("\nall is well");
    Ok(())
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
