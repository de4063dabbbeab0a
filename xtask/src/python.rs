//! Installs packages from `PyPI` under the target directory.

use std::borrow::Borrow;
use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::shell::{run, target};

/// A Python in a virtual environment with exactly these requirements.
pub(crate) fn install<R>(name: &str, requirements: &[R]) -> anyhow::Result<PathBuf>
where
    R: AsRef<OsStr> + Borrow<str>,
{
    let folder = target().join("python").join(name);
    let python = folder.join("bin/python");
    let wanted = requirements.join("\n");
    let marker = folder.join("installed");
    if fs::read_to_string(&marker).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    eprintln!("x: installing {} from PyPI", requirements.join(", "));
    run(Command::new("python3")
        .args(["-m", "venv", "--clear"])
        .arg(&folder))?;
    let mut pip = Command::new(&python);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    run(pip.args(requirements))?;
    fs::write(marker, wanted)?;
    Ok(python)
}
