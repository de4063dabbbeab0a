//! `servlet test`: runs the tests of a project with its wasm in a host, and XTP test modules.

mod modules;
mod testbed;

use std::{
    io,
    path::{Path, PathBuf},
    time::Instant,
};

use clap::Args;
use mcp_servlet_host::LoadError;
use mcp_servlet_runtime::{LoadOptions, Module, Source};

use crate::{
    build::{self, Abi, Project, cargo},
    config::count,
    failure::{Failure, Kind, both},
    format::Format,
    limits::Limits,
    steps::Elapsed,
    terminal::note,
    xtp::project::Manifest,
};
use testbed::{ADDRESS, Candidate, Testbed};

#[derive(Args, Debug)]
pub(crate) struct Test {
    /// A crate or a workspace; with --with, the plugin's `.wasm` file
    #[arg(default_value = ".")]
    path: PathBuf,

    /// Run this XTP test module with the plugin
    #[arg(long, value_name = "MODULE")]
    with: Option<String>,

    /// A module whose exports replace the functions that the plugin imports from its host
    #[arg(long, value_name = "MODULE", requires = "with")]
    mock_host: Option<String>,

    /// The input of the test module
    #[arg(
        long,
        value_name = "TEXT",
        requires = "with",
        conflicts_with = "mock_input_file"
    )]
    mock_input_data: Option<String>,

    /// A file with the input of the test module
    #[arg(long, value_name = "FILE", requires = "with")]
    mock_input_file: Option<PathBuf>,

    /// `json` prints the reports of test modules as a list
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Arguments for `cargo test`
    #[arg(last = true, value_name = "ARGUMENT", conflicts_with = "with")]
    cargo: Vec<String>,

    #[command(flatten)]
    limits: Limits,
}

impl Test {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.limits.refuse_policy()?;
        let Some(with) = &self.with else {
            return self.run_project();
        };
        let run = modules::Run {
            name: Source::parse(with).to_string(),
            plugin: match self.path.to_str() {
                Some(text) => Source::parse(text),
                None => Source::File(self.path.clone()),
            },
            with: Source::parse(with),
            mock_host: self.mock_host.as_deref().map(Source::parse),
            mock_input: self.mock_input()?,
        };
        modules::run_all(vec![run], &self.limits.options()?, self.format)
    }

    fn mock_input(&self) -> Result<Option<Vec<u8>>, Failure> {
        match (&self.mock_input_data, &self.mock_input_file) {
            (Some(data), _) => Ok(Some(data.clone().into_bytes())),
            (None, Some(file)) => modules::read(file).map(Some),
            (None, None) => Ok(None),
        }
    }

    fn run_project(&self) -> Result<(), Failure> {
        if self.path.is_file() && !self.path.ends_with("Cargo.toml") {
            let message = format!("expected a crate, found the file `{}`", self.path.display());
            let help = "name the test module to run with `--with`";
            return Err(Failure::with_help(Kind::Usage, message, help));
        }
        let start = Instant::now();
        let result = self.test_project();
        note(format_args!("tested in {}", Elapsed::since(start)));
        result
    }

    fn test_project(&self) -> Result<(), Failure> {
        let folder = build::folder(&self.path);
        let built = Project::read(folder)?.build(Abi::default(), false, None)?;
        let options = self.limits.options()?;
        let native = self.run_cargo(folder, &built, &options);
        both(native, self.run_modules(folder, &built, &options))
    }

    /// Runs the test modules of `xtp.toml`.
    fn run_modules(
        &self,
        folder: &Path,
        built: &[(String, PathBuf)],
        options: &LoadOptions,
    ) -> Result<(), Failure> {
        let tests = Manifest::read(folder)?.tests;
        let runs = if tests.is_empty() {
            Vec::new()
        } else {
            modules::of_project(folder, built, tests)?
        };
        modules::run_all(runs, options, self.format)
    }

    /// Runs `cargo test`, with the wasm for tests that want it.
    fn run_cargo(
        &self,
        folder: &Path,
        built: &[(String, PathBuf)],
        options: &LoadOptions,
    ) -> Result<(), Failure> {
        let candidates = candidates(built, options)?;
        let names: Vec<_> = candidates.iter().map(|one| one.name.clone()).collect();
        let testbed = Testbed::start(candidates, options.clone()).map_err(|error| {
            Failure::new(Kind::Usage, format!("cannot open a local port: {error}"))
        })?;
        let mut command = cargo::command(folder);
        command.arg("test").env(ADDRESS, testbed.address());
        for (package, _) in built {
            command.args(["--package", package]);
        }
        let has_target = |option: &String| option == "--target" || option.starts_with("--target=");
        if !self.cargo.iter().any(has_target) {
            command.args(cargo::native_options(folder)?);
        }
        command.args(&self.cargo);
        if self.format == Format::Json {
            // Standard output is for the list.
            command.stdout(io::stderr());
        }
        let status = command
            .status()
            .map_err(|error| cargo::cannot_run("cargo", &error))?;
        if !names.is_empty() {
            note(format_args!(
                "{} tested the wasm of {}",
                count(testbed.clients(), "client"),
                names.join(", ")
            ));
        }
        if status.success() {
            return Ok(());
        }
        Err(Failure::TestsFailed)
    }
}

/// The servlets among the built modules. XTP plugins with other exports cannot be served.
fn candidates(
    built: &[(String, PathBuf)],
    options: &LoadOptions,
) -> Result<Vec<Candidate>, LoadError> {
    let servlets = built.iter().filter(|(_, path)| is_servlet(path));
    servlets
        .map(|(_, path)| Candidate::load(path, options))
        .collect()
}

fn is_servlet(path: &Path) -> bool {
    let wasm = std::fs::read(path).ok();
    let module = wasm.and_then(|wasm| Module::read(&wasm).ok());
    module.is_some_and(|module| module.abi().is_some())
}
