//! Lints and documents the crates of the workspace.

use crate::shell::{cargo, run};

/// The ABIs that a servlet can be built for, as `MCP_SERVLET_ABI` names them.
pub(crate) const ABIS: [&str; 3] = ["servlet", "servlet-strict", "hyper-mcp-v2"];

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

/// The lints of generated code for wasm, as the CI workflow of a new project runs them.
const GOLDENS: [&str; 9] = [
    "clippy",
    "--package",
    "xtp-goldens",
    "--target",
    "wasm32-unknown-unknown",
    "--quiet",
    "--",
    "--deny",
    "warnings",
];

/// Fails for any warning of rustc, Clippy or rustdoc.
pub(crate) fn lint() -> anyhow::Result<()> {
    let clippy = ["clippy", "--workspace", "--all-targets", "--quiet"];
    run(cargo(&clippy).args(["--keep-going", "--", "--deny", "warnings"]))?;
    // `--all-targets` leaves out the tests that `cargo test` does not run.
    let machines = ["clippy", "--workspace", "--test", "machines", "--quiet"];
    run(cargo(&machines).args(["--", "--deny", "warnings"]))?;
    for abi in ABIS {
        run(cargo(&GUEST).env("MCP_SERVLET_ABI", abi))?;
    }
    run(&mut cargo(&GOLDENS))?;
    let doc = ["doc", "--workspace", "--no-deps", "--quiet"];
    run(cargo(&doc).env("RUSTDOCFLAGS", "--deny warnings"))
}
