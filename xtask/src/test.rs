//! Everything that must hold before a change lands.

use crate::shell::{cargo, run, show_first_build};
use crate::{codegen, tidy};

/// Names targets, an example among them: with dev-dependencies, features are those that clippy just had.
const DOC: [&str; 8] = [
    "doc",
    "--workspace",
    "--no-deps",
    "--quiet",
    "--lib",
    "--bins",
    "--example",
    "text",
];

/// The lints of what only a wasm build compiles, all the unsafe code among it, in both interfaces.
const GUEST: [[&str; 11]; 2] = [guest("http,log,xtp"), guest("http,log,xtp,hyper-mcp-v2")];

const fn guest(features: &'static str) -> [&'static str; 11] {
    [
        "clippy",
        "--package",
        "mcp-servlet",
        "--features",
        features,
        "--target",
        "wasm32-unknown-unknown",
        "--quiet",
        "--",
        "--deny",
        "warnings",
    ]
}

/// Some tests run cargo offline, as what a registry has meanwhile must not decide; they may come before any that fetches.
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
    step("lints");
    run(&mut cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "--deny",
        "warnings",
    ]))?;
    for guest in &GUEST {
        run(&mut cargo(guest))?;
    }
    step("documentation");
    run(cargo(&DOC).env("RUSTDOCFLAGS", "--deny warnings"))?;
    println!("\nall is well");
    Ok(())
}

/// Accepts what the tests got as what they expect.
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
