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

use crate::shell::{cargo, output, portable_flags, quietly, root, run, target};
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

impl Program {
    /// Whether an ELF file names the loader of a libc.
    fn is_dynamic(&self) -> bool {
        needs_loader(&self.bytes).unwrap_or(false)
    }
}

/// Looks for the program header `PT_INTERP`. None for other files than those of ELF with 64 bits in little-endian order.
fn needs_loader(elf: &[u8]) -> Option<bool> {
    const INTERPRETER: u32 = 3;
    let half = |at: usize| Some(u16::from_le_bytes(*elf.get(at..)?.first_chunk()?).into());
    if !elf.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let start = usize::try_from(u64::from_le_bytes(*elf.get(32..)?.first_chunk()?)).ok()?;
    let (size, count): (usize, usize) = (half(54)?, half(56)?);
    let mut headers = elf.get(start..)?.chunks(size.max(1)).take(count);
    Some(headers.any(|header| header.starts_with(&INTERPRETER.to_le_bytes())))
}

/// What the packages of one run have in common.
struct Release {
    programs: Vec<Program>,
    /// Licenses and a README.
    texts: Vec<File>,
    /// `completions/` and `man/`.
    documents: Vec<File>,
    /// The servlet of README, which a new user can try at once.
    greet: File,
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
        return check::check_release(&release);
    }
    for (program, binary) in release.programs.iter().zip(&binaries) {
        ensure!(
            program.platform.linux.is_none() || !program.is_dynamic(),
            "`{}` needs a libc, but packages for Linux run with any: pack a static program, built with `--target {}`",
            binary.display(),
            program.platform.triple
        );
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
            greet: greet(runnable)?,
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
        packages.insert(self.greet.path.clone(), self.greet.bytes.to_vec());
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
        let files: Vec<_> = [&binary, &self.greet]
            .into_iter()
            .chain(&self.texts)
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
        let completions = output(Command::new(binary).args(["completions", shell]))?;
        files.push(File::text(&format!("completions/{name}"), &completions));
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

/// Builds the servlet of README.
fn greet(binary: &Path) -> anyhow::Result<File> {
    let folder = tempfile::tempdir()?;
    let mut build = Command::new(fs::canonicalize(binary)?);
    build.current_dir(root()).args(["build", "examples/greet"]);
    quietly(build.arg("-o").arg(folder.path()))?;
    let name = "greet.wasm";
    Ok(File::new(name, fs::read(folder.path().join(name))?))
}

/// `SOURCE_DATE_EPOCH`, or the time of the commit.
fn time() -> anyhow::Result<u64> {
    let text = if let Ok(text) = env::var("SOURCE_DATE_EPOCH") {
        text
    } else {
        let mut git = Command::new("git");
        output(git.current_dir(root()).args(["log", "-1", "--format=%ct"]))
            .context("`SOURCE_DATE_EPOCH` is not set")?
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::io::{Cursor, Read as _};

    use super::*;

    /// A release of a program of four bytes, with one license.
    fn release(triple: &str) -> Release {
        Release {
            programs: vec![Program {
                platform: Platform::find(triple).expect("a platform"),
                bytes: (*b"MZ\x90\0").into(),
            }],
            texts: vec![File::new("LICENSE-MIT", b"MIT".to_vec())],
            documents: Vec::new(),
            greet: File::new("greet.wasm", b"\0asm".to_vec()),
            time: 1,
            level: 1,
        }
    }

    #[test]
    fn the_archive_for_windows_is_a_zip_file() {
        let release = release("x86_64-pc-windows-msvc");
        let (name, bytes) = release.archive(&release.programs[0]).expect("an archive");
        let folder = format!("servlet-{VERSION}-x86_64-pc-windows-msvc");
        assert_eq!(name, format!("{folder}.zip"));
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).expect("a zip file");
        let mut file = archive
            .by_name(&format!("{folder}/servlet.exe"))
            .expect("the program");
        let mut program = Vec::new();
        file.read_to_end(&mut program).expect("its bytes");
        assert_eq!(program, b"MZ\x90\0");
    }

    #[test]
    fn the_list_of_components_names_each_crate_once() {
        let release = release("x86_64-unknown-linux-musl");
        let (_, list) = sbom::write(&release.programs).expect("a list");
        let list: serde_json::Value = serde_json::from_slice(&list).expect("JSON");
        assert_eq!(list["bomFormat"], "CycloneDX");
        assert_eq!(list["specVersion"], "1.5");
        let components = list["components"].as_array().expect("components");
        let urls = components
            .iter()
            .map(|one| one["purl"].as_str())
            .collect::<Option<BTreeSet<_>>>()
            .expect("each has a URL");
        assert_eq!(urls.len(), components.len());
        let has = |start: &str| urls.iter().any(|url| url.starts_with(start));
        assert!(has("pkg:cargo/wasmtime@") && has("pkg:cargo/mcp-servlet-cli@"));
        assert!(!has("pkg:cargo/xtask@"), "it is not in the command");
        let licenses = components
            .iter()
            .map(|one| &one["licenses"][0]["expression"]);
        for license in licenses {
            let text = license.as_str().expect("an expression");
            assert!(!text.contains('/') && !text.contains("  "), "{text}");
        }
    }

    #[test]
    fn a_program_that_needs_a_libc_is_recognized() {
        let this = fs::read(env::current_exe().expect("a path")).expect("a program");
        assert_eq!(
            needs_loader(&this).unwrap_or(false),
            cfg!(all(target_os = "linux", target_env = "gnu"))
        );
        assert_eq!(needs_loader(b"MZ"), None);
        assert_eq!(needs_loader(b"\x7fELF\x02\x01"), None);
    }
}
