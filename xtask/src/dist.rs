//! `dist`: packs the `servlet` command for every way of installing it.
//!
//! The same binaries give the same bytes: files have the time of the commit, no owner, and a fixed order.

mod check;
mod deb;
mod image;
mod npm;
mod platform;
mod sbom;
mod wheel;

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use anyhow::{Context, ensure};
use clap::Args;
use mcp_servlet_common::hex;
use mcp_servlet_package::{File, gzip, tar, zip};
use sha2::{Digest as _, Sha256};

use crate::shell::{cargo, portable_flags, root, run, target};
use platform::Platform;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The license expression of all crates.
const LICENSE: &str = "MIT OR Apache-2.0";

/// What packages say about the command, in one line.
const SUMMARY: &str = "The servlet command: build, describe, call and serve MCP servlets";

/// Each shell, and the name of a file with completions for it.
const SHELLS: [(&str, &str); 5] = [
    ("bash", "servlet.bash"),
    ("zsh", "_servlet"),
    ("fish", "servlet.fish"),
    ("powershell", "_servlet.ps1"),
    ("elvish", "servlet.elv"),
];

#[derive(Args)]
pub(crate) struct Options {
    /// A target; by default, the one of this machine. May be repeated
    #[arg(long = "target", value_name = "TRIPLE")]
    targets: Vec<String>,
    /// A `servlet` to pack instead of building it, one for each target
    #[arg(long = "bin", value_name = "FILE")]
    binaries: Vec<PathBuf>,
    /// The folder to write to [default: packages in the target directory]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Write no packages: install each into an empty home directory, call a tool, and uninstall it
    #[arg(long, requires = "binaries", conflicts_with = "output")]
    check: bool,
}

/// The command, built for a platform.
struct Program {
    platform: &'static Platform,
    bytes: Rc<[u8]>,
}

/// What the packages of one run have in common.
struct Release {
    programs: Vec<Program>,
    /// Licenses and a README.
    texts: Vec<File>,
    /// `completions/` and `man/`.
    documents: Vec<File>,
    /// The time of all files, in seconds since 1970.
    time: u64,
    /// How well to compress, from 1 to 9.
    level: u32,
}

/// Packages by file name.
type Packages = BTreeMap<String, Vec<u8>>;

pub(crate) fn dist(options: &Options) -> anyhow::Result<()> {
    let platforms = match &*options.targets {
        [] => vec![Platform::of_this_machine()?],
        some => some
            .iter()
            .map(|triple| Platform::find(triple))
            .collect::<Result<_, _>>()?,
    };
    let binaries = match &*options.binaries {
        [] => platforms
            .iter()
            .map(|platform| build(platform))
            .collect::<Result<_, _>>()?,
        some => some.to_vec(),
    };
    ensure!(
        binaries.len() == platforms.len(),
        "each `--target` needs one `--bin`"
    );
    let level = if options.check { 1 } else { 9 };
    let release = Release::new(&platforms, &binaries, level)?;
    if options.check {
        return check::check(&release);
    }
    let output = options.output.clone();
    write(
        &release.pack()?,
        &output.unwrap_or_else(|| target().join("packages")),
    )
}

/// Builds the command in the profile of releases, without paths of this machine in it.
fn build(platform: &Platform) -> anyhow::Result<PathBuf> {
    let triple = platform.triple;
    let mut cargo = cargo(&["build", "--locked", "--profile", "dist", "--target", triple]);
    cargo.args(["--package", "mcp-servlet-cli", "--bin", "servlet"]);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", portable_flags());
    run(&mut cargo)?;
    let folder = target().join(triple).join("dist");
    Ok(folder.join(platform.program()))
}

impl Release {
    fn new(
        platforms: &[&'static Platform],
        binaries: &[PathBuf],
        level: u32,
    ) -> anyhow::Result<Self> {
        let pairs = || platforms.iter().zip(binaries);
        let runnable = pairs().find(|(platform, _)| platform.is_of_this_machine());
        let (_, runnable) = runnable
            .context("this machine runs the command to write completions and manual pages, so one target must be its own")?;
        let programs = pairs().map(|(platform, binary)| {
            let bytes = fs::read(binary).with_context(|| binary.display().to_string())?;
            Ok(Program {
                platform,
                bytes: bytes.into(),
            })
        });
        Ok(Self {
            programs: programs.collect::<anyhow::Result<_>>()?,
            texts: texts()?,
            documents: documents(runnable)?,
            time: time()?,
            level,
        })
    }

    fn licenses(&self) -> impl Iterator<Item = &File> {
        let texts = self.texts.iter();
        texts.filter(|text| text.path.starts_with("LICENSE"))
    }

    fn pack(&self) -> anyhow::Result<Packages> {
        let mut packages = Packages::new();
        for program in &self.programs {
            packages.extend([
                self.archive(program)?,
                npm::platform(self, program)?,
                wheel::pack(self, program)?,
            ]);
            packages.extend(deb::pack(self, program)?);
        }
        packages.extend([npm::launcher(self)?, sbom::write(&self.programs)?]);
        packages.extend(image::pack(self)?);
        let sums = packages
            .iter()
            .fold(String::new(), |mut sums, (name, bytes)| {
                let _ = writeln!(sums, "{}  {name}", sha256(bytes));
                sums
            });
        packages.insert("SHA256SUMS".to_owned(), sums.into_bytes());
        Ok(packages)
    }

    /// All files in one folder: a zip file for Windows, and else a compressed tar file.
    fn archive(&self, program: &Program) -> anyhow::Result<(String, Vec<u8>)> {
        let platform = program.platform;
        let name = format!("servlet-{VERSION}-{}", platform.triple);
        let binary = File::program(platform.program(), program.bytes.clone());
        let files = [&binary].into_iter().chain(&self.texts);
        let files: Vec<_> = files
            .chain(&self.documents)
            .map(|file| file.inside(&name))
            .collect();
        if platform.is_windows() {
            let bytes = zip(&files, self.level)?;
            return Ok((format!("{name}.zip"), bytes));
        }
        Ok((format!("{name}.tar.gz"), self.tar_gz(&files)?))
    }

    fn tar_gz(&self, files: &[File]) -> anyhow::Result<Vec<u8>> {
        Ok(gzip(&tar(files, self.time)?, self.level)?)
    }
}

/// The licenses, and the README of the command.
fn texts() -> anyhow::Result<Vec<File>> {
    let read = |name: &str, path: &str| {
        let bytes = fs::read(root().join(path)).with_context(|| path.to_owned())?;
        Ok(File::new(name, bytes))
    };
    ["LICENSE-APACHE", "LICENSE-MIT"]
        .into_iter()
        .map(|name| read(name, name))
        .chain([read("README.md", "crates/tools/mcp-servlet-cli/README.md")])
        .collect()
}

/// The completions and the manual pages that the command writes.
fn documents(binary: &Path) -> anyhow::Result<Vec<File>> {
    let mut files = Vec::new();
    for (shell, name) in SHELLS {
        let mut completions = Command::new(binary);
        let output = completions.args(["completions", shell]).output()?;
        ensure!(
            output.status.success(),
            "`servlet completions {shell}` failed"
        );
        files.push(File::new(&format!("completions/{name}"), output.stdout));
    }
    let folder = tempfile::tempdir()?;
    run(Command::new(binary).arg("man").arg(folder.path()))?;
    for entry in fs::read_dir(folder.path())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        files.push(File::new(&format!("man/{name}"), fs::read(&path)?));
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// `SOURCE_DATE_EPOCH`, or the time of the commit.
fn time() -> anyhow::Result<u64> {
    let text = if let Ok(text) = env::var("SOURCE_DATE_EPOCH") {
        text
    } else {
        let mut git = Command::new("git");
        let log = ["log", "-1", "--format=%ct"];
        let output = git.current_dir(root()).args(log).output()?;
        String::from_utf8(output.stdout)?
    };
    text.trim()
        .parse()
        .context("expected a number in `SOURCE_DATE_EPOCH`, or a git repository")
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn write(packages: &Packages, folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, bytes) in packages {
        fs::write(folder.join(name), bytes)?;
        println!("{:>11}  {}", bytes.len(), folder.join(name).display());
    }
    Ok(())
}
