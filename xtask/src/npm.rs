//! Installs programs from npm under the target directory, and the Node that they need.

use std::borrow::Borrow;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::shell::{path_with_first, run, target};

/// The version of Node; the programs do not run on older ones.
const NODE: &str = "node@24.21.0";

/// Packages of npm in a folder of their own.
pub(crate) struct Packages {
    folder: PathBuf,
}

impl Packages {
    /// Installs exactly these packages and Node, unless they are there already.
    pub(crate) fn install<P>(name: &str, packages: &[P]) -> anyhow::Result<Self>
    where
        P: AsRef<OsStr> + Borrow<str>,
    {
        let folder = target().join("npm").join(name);
        let wanted = format!("{NODE}\n{}\n", packages.join("\n"));
        let marker = folder.join("installed");
        if fs::read_to_string(&marker).is_ok_and(|installed| installed == wanted) {
            return Ok(Self { folder });
        }
        eprintln!("x: installing {} from npm", packages.join(", "));
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        fs::write(folder.join("package.json"), "{\"private\":true}\n")?;
        let mut npm = Command::new("npm");
        npm.current_dir(&folder)
            .args([
                "install",
                "--no-audit",
                "--no-fund",
                "--loglevel=error",
                NODE,
            ])
            .args(packages);
        run(&mut npm).context("npm comes with Node; any version will do")?;
        fs::write(marker, wanted)?;
        Ok(Self { folder })
    }

    /// Copies the scripts of a folder next to the packages and returns the path of one of them.
    pub(crate) fn adopt(&self, scripts: &Path, script: &str) -> anyhow::Result<PathBuf> {
        for entry in fs::read_dir(scripts)? {
            let path = entry?.path();
            if let (Some(name), Some("mjs")) = (
                path.file_name(),
                path.extension().and_then(|extension| extension.to_str()),
            ) {
                fs::copy(&path, self.folder.join(name))?;
            }
        }
        Ok(self.folder.join(script))
    }

    /// The folder of the packages.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Node.
    pub(crate) fn node(&self) -> PathBuf {
        self.folder.join("node_modules/.bin/node")
    }

    /// A program of the packages.
    pub(crate) fn program(&self, name: &str) -> anyhow::Result<Command> {
        let programs = self.folder.join("node_modules/.bin");
        let mut command = Command::new(programs.join(name));
        command.env("PATH", path_with_first(&programs)?);
        Ok(command)
    }
}
