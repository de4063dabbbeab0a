//! Writes `start-order.txt`: the functions that a start of `servlet serve` needs, which the linker puts next to each other.

use std::process::Command;

use anyhow::ensure;

use super::hosts;
use crate::shell::{cargo, root, run};

/// The file that `build.rs` of the command reads.
const ORDER: &str = "crates/tools/mcp-servlet-cli/start-order.txt";

pub(super) fn write() -> anyhow::Result<()> {
    ensure!(
        cfg!(all(target_os = "linux", target_arch = "x86_64")),
        "`order` needs x86-64 Linux, where it traces the command"
    );
    eprintln!("x: the first build of an optimised host takes minutes");
    let folder = hosts::folder();
    // `strip` in the profile would change the hashes in the names.
    run(cargo(&[
        "rustc",
        "--quiet",
        "--locked",
        "--profile",
        "dist",
        "--package",
        "mcp-servlet-cli",
        "--bin",
        "servlet",
    ])
    .arg("--target-dir")
    .arg(&folder)
    .args(["--", "-C", "strip=none"]))?;
    let mut driver = Command::new(hosts::driver()?);
    driver.arg("order");
    driver.arg("--servlet").arg(folder.join("dist/servlet"));
    driver.arg("--wasm").arg(hosts::wasm("spin")?);
    run(driver.arg("--output").arg(root().join(ORDER)))
}
