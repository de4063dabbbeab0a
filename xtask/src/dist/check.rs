//! `dist --check`: installs each package into an empty home directory, calls a tool, uninstalls it, and looks for files
//! that are left. Nothing is installed on this machine. Only uv and a validator are downloaded, into the target directory. A program
//! that is missing is an error.

mod image;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use tempfile::TempDir;

use super::{Packages, Program, Release, VERSION};
use crate::python;
use crate::shell::{output, quietly, run};

/// Folders of programs. Debian's package manager needs some of the last two.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// Starts packages of `PyPI` without installing them.
const UV: &str = "uv==0.13.9";

/// Has the official schemas of `CycloneDX`.
const CYCLONEDX: &str = "cyclonedx-python-lib[json-validation]==11.12.0";

pub(super) fn check_release(release: &Release) -> anyhow::Result<()> {
    ensure!(cfg!(unix), "the check needs Linux or macOS");
    let [program] = &*release.programs else {
        bail!("the check needs exactly one target: the one of this machine");
    };
    let packages = release.pack()?;
    ensure!(packages == release.pack()?, "two runs give different bytes");
    let folder = tempfile::tempdir()?;
    for (name, bytes) in &packages {
        fs::write(folder.path().join(name), bytes)?;
    }
    let check = Check {
        packages: &packages,
        folder: folder.path(),
        program,
    };
    check.sums()?;
    check.crates()?;
    check.archive()?;
    check.npm()?;
    check.wheel()?;
    check.uvx()?;
    check.deb()?;
    check.image()
}

struct Check<'a> {
    packages: &'a Packages,
    /// The folder with the packages.
    folder: &'a Path,
    program: &'a Program,
}

impl Check<'_> {
    fn sums(&self) -> anyhow::Result<()> {
        let mut sums = Command::new("sha256sum");
        sums.args(["--check", "--strict", "--quiet", "SHA256SUMS"]);
        run(sums.current_dir(self.folder))
    }

    /// Validates the list of crates.
    fn crates(&self) -> anyhow::Result<()> {
        let mut python = Command::new(python::install("cyclonedx", &[CYCLONEDX])?);
        python.args(["-c", include_str!("check/crates.py")]);
        quietly(python.arg(self.package(".cdx.json")?))?;
        println!("works: list of crates");
        Ok(())
    }

    fn archive(&self) -> anyhow::Result<()> {
        let (home, file) = (Home::new(self.folder)?, self.package(".tar.gz")?);
        run(home.command("tar").arg("xzf").arg(file))?;
        let folder = format!("servlet-{VERSION}-{}", self.program.platform.triple);
        let folder = home.path(&folder);
        home.call(&folder.join("servlet"))?;
        for part in [
            "greet.wasm",
            "LICENSE-MIT",
            "completions/servlet.bash",
            "man/servlet.1",
        ] {
            ensure!(folder.join(part).is_file(), "the archive has no {part}");
        }
        fs::remove_dir_all(folder)?;
        home.done("tar.gz")
    }

    fn npm(&self) -> anyhow::Result<()> {
        let home = Home::new(self.folder)?;
        let npm = |command: &str| {
            let mut npm = home.command("npm");
            npm.args([
                command,
                "--global",
                "--offline",
                "--loglevel=error",
                "--prefix",
            ]);
            npm.arg(home.path("npm"));
            npm
        };
        let platform = self.program.platform.npm();
        let launcher = self.folder.join(format!("mcp-servlet-{VERSION}.tgz"));
        let file = platform.trim_start_matches('@').replace('/', "-");
        let file = self.folder.join(format!("{file}-{VERSION}.tgz"));
        let command = [launcher, file];
        quietly(npm("install").args(&command))?;
        for name in ["servlet", "mcp-servlet"] {
            home.call(&home.path("npm/bin").join(name))?;
        }
        let servlet = home.path("npm/bin/servlet");
        let packed = home.pack(&servlet, &["--npm", "@ada/hello"])?;
        quietly(npm("install").args(&command).arg(&packed))?;
        home.call_server(&servlet, &home.path("npm/bin/hello"))?;
        fs::remove_file(packed)?;
        quietly(npm("uninstall").args(["@ada/hello", "mcp-servlet", &platform]))?;
        home.done("npm")
    }

    fn wheel(&self) -> anyhow::Result<()> {
        let home = Home::new(self.folder)?;
        quietly(home.command(system_python()?).args(["-m", "venv", "venv"]))?;
        let before = home.files()?;
        let pip = |command: &str| {
            let mut pip = home.command(home.path("venv/bin/python"));
            pip.args(["-m", "pip", "--disable-pip-version-check", command]);
            pip
        };
        let install = ["--quiet", "--no-index", "--no-compile"];
        quietly(pip("install").args(install).arg(self.package(".whl")?))?;
        for name in ["servlet", "mcp-servlet"] {
            home.call(&home.path("venv/bin").join(name))?;
        }
        let servlet = home.path("venv/bin/servlet");
        let packed = home.pack(&servlet, &["--wheel", "ada-hello"])?;
        quietly(pip("install").args(install).arg(&packed))?;
        fs::remove_file(packed)?;
        let (script, link) = (home.path("venv/bin/ada-hello"), home.path("link"));
        home.call_server(&servlet, &script)?;
        // pipx and uv link the script from a folder that does not have the command.
        #[cfg(unix)]
        std::os::unix::fs::symlink(&script, &link)?;
        home.call_server(&servlet, &link)?;
        fs::remove_file(link)?;
        let uninstall = ["--quiet", "--yes", "ada-hello", "mcp-servlet"];
        quietly(pip("uninstall").args(uninstall))?;
        ensure!(home.files()? == before, "`pip uninstall` leaves files");
        fs::remove_dir_all(home.path("venv"))?;
        home.done("wheel")
    }

    /// Starts the wheel with uv, which installs it in its cache alone.
    fn uvx(&self) -> anyhow::Result<()> {
        let (home, python) = (Home::new(self.folder)?, python::install("uv", &[UV])?);
        for name in ["servlet", "mcp-servlet"] {
            let mut uv = home.command(python.with_file_name("uv"));
            uv.args(["tool", "run", "--quiet", "--offline", "--no-config"])
                .env("UV_TOOL_DIR", home.cache.path().join("tools"))
                .arg("--python")
                .arg(system_python()?)
                .arg("--from")
                .arg(self.package(".whl")?)
                .args([name, "call"])
                .arg(&home.greet)
                .args(["greet", "name=x"]);
            greets(&mut uv)?;
        }
        home.done("uvx")
    }

    fn deb(&self) -> anyhow::Result<()> {
        if self.program.platform.linux.is_none() {
            return Ok(());
        }
        #[cfg(unix)]
        ensure!(
            rustix::process::geteuid().is_root(),
            "dpkg and chroot need the rights of root"
        );
        let home = Home::new(self.folder)?;
        let system = home.path("system");
        for folder in ["info", "updates", "triggers"] {
            fs::create_dir_all(system.join("var/lib/dpkg").join(folder))?;
        }
        fs::write(system.join("var/lib/dpkg/status"), "")?;
        let mut dpkg = home.command("dpkg");
        dpkg.arg("--root").arg(&system).arg("--log=/dev/null");
        quietly(dpkg.arg("--install").arg(self.package(".deb")?))?;
        home.call(&system.join("usr/bin/servlet"))?;
        for file in [
            "lib/systemd/system/servlet.service",
            "share/man/man1/servlet.1.gz",
        ] {
            ensure!(
                system.join("usr").join(file).is_file(),
                "the package has no {file}"
            );
        }
        let mut dpkg = home.command("dpkg");
        dpkg.arg("--root").arg(&system).arg("--log=/dev/null");
        quietly(dpkg.args(["--purge", "mcp-servlet"]))?;
        fs::remove_dir_all(system.join("var/lib/dpkg"))?;
        self.lint_deb()?;
        home.done("deb")
    }

    /// Checks the package with lintian.
    fn lint_deb(&self) -> anyhow::Result<()> {
        let accepted = [
            // The YAML parser is written in Rust, and only has messages of libyaml.
            "embedded-library",
            // The project has no mail address.
            "malformed-contact",
            // Releases are stripped, unlike what this check packs.
            "unstripped-binary-or-object",
        ];
        let mut lintian = Command::new("lintian");
        lintian.args(["--fail-on", "error", "--suppress-tags", &accepted.join(",")]);
        quietly(lintian.arg(self.package(".deb")?))
    }

    /// The package whose name ends like this.
    fn package(&self, end: &str) -> anyhow::Result<PathBuf> {
        let found = self.packages.keys().find(|name| name.ends_with(end));
        let name = found.with_context(|| format!("there is no package {end}"))?;
        Ok(self.folder.join(name))
    }
}

/// The Python behind the search path of this user, which may have one that only works with their home directory.
fn system_python() -> anyhow::Result<String> {
    let mut python = Command::new("python3");
    python.args(["-c", "import sys; print(sys.executable)"]);
    Ok(output(&mut python)?.trim_end().to_owned())
}

/// An empty home directory, and a folder for caches that belongs to nothing that is installed.
struct Home {
    folder: TempDir,
    cache: TempDir,
    /// The servlet of README.
    greet: PathBuf,
}

impl Home {
    fn new(packages: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            folder: tempfile::tempdir()?,
            cache: tempfile::tempdir()?,
            greet: packages.join("greet.wasm"),
        })
    }

    fn path(&self, inner: &str) -> PathBuf {
        self.folder.path().join(inner)
    }

    /// A command without the environment of this user.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        let cache = self.cache.path();
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", PATH)
            .env("HOME", self.folder.path())
            .env("XDG_CACHE_HOME", cache)
            .env("npm_config_cache", cache);
        command
    }

    /// Adds the servlet of README to a client, as a new user does, and calls its tool as that client would. Then removes it.
    fn call(&self, servlet: &Path) -> anyhow::Result<()> {
        let client = |arguments: &[&str]| {
            let mut command = self.command(servlet);
            command.current_dir(self.folder.path()).args(arguments);
            command
        };
        quietly(client(&["install", "cursor"]).arg(&self.greet))?;
        greets(&mut client(&["call", "cursor:greet", "greet", "name=x"]))?;
        quietly(&mut client(&["uninstall", "cursor", "greet"]))?;
        // The folder of the client.
        fs::remove_dir_all(self.path(".cursor"))?;
        Ok(())
    }

    /// Packs the servlet of README. Returns the path of the package.
    fn pack(&self, servlet: &Path, options: &[&str]) -> anyhow::Result<PathBuf> {
        let folder = self.path("packed");
        fs::create_dir_all(&folder)?;
        let mut pack = self.command(servlet);
        pack.arg("pack").args(options).arg("-o").arg(&folder);
        quietly(pack.arg(&self.greet))?;
        let entry = fs::read_dir(&folder)?.next().context("no package")??;
        Ok(entry.path())
    }

    /// Calls a tool of a server that a package has installed.
    fn call_server(&self, servlet: &Path, server: &Path) -> anyhow::Result<()> {
        let mut call = self.command(servlet);
        greets(call.args(["call", "greet", "name=x", "--"]).arg(server))
    }

    fn files(&self) -> anyhow::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                // A server that a client starts has no other variables, and keeps compiled modules there.
                if entry.file_name() == ".cache" {
                    continue;
                }
                if entry.file_type()?.is_dir() {
                    folders.push(entry.path());
                } else {
                    files.push(entry.path());
                }
            }
        }
        files.sort();
        Ok(files)
    }

    /// Fails if a file is left.
    fn done(self, what: &str) -> anyhow::Result<()> {
        let left = self.files()?;
        ensure!(left.is_empty(), "{what}: files are left: {left:?}");
        println!("works: {what}");
        Ok(())
    }
}

/// Runs a command that calls the tool.
fn greets(call: &mut Command) -> anyhow::Result<()> {
    let printed = output(call)?;
    ensure!(printed == "Hello, x!\n", "{call:?}: {printed}");
    Ok(())
}
