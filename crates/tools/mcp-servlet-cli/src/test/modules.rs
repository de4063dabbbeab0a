//! XTP test modules, from the command line or from `xtp.toml`.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use mcp_servlet_runtime::{LoadOptions, Source};
use serde_json::{Value, json};

use crate::{
    failure::{Failure, Kind},
    format::Format,
    terminal,
    xtp::{
        harness::{Harness, Report},
        project::{self, MockInput},
    },
};

/// One test module with its inputs.
pub(super) struct Run {
    pub(super) name: String,
    pub(super) plugin: Source,
    pub(super) with: Source,
    pub(super) mock_host: Option<Source>,
    pub(super) mock_input: Option<Vec<u8>>,
}

/// The runs that `xtp.toml` lists, with their modules built.
pub(super) fn of_project(
    folder: &Path,
    built: &[(String, PathBuf)],
    tests: Vec<project::Test>,
) -> Result<Vec<Run>, Failure> {
    let [(_, plugin)] = built else {
        let message = "`xtp.toml` has tests for one plugin, found several";
        let help = "give the path of one crate";
        return Err(Failure::with_help(Kind::Usage, message, help));
    };
    let run = |test: project::Test| {
        if let Some(line) = &test.build {
            project::run_script(line, folder).map_err(|problem| {
                let message = format!("the test `{}` does not build: {problem}", test.name);
                Failure::new(Kind::Build, message)
            })?;
        }
        Ok(Run {
            name: test.name,
            plugin: Source::File(plugin.clone()),
            with: source(folder, &test.with),
            mock_host: test.mock_host.map(|text| source(folder, &text)),
            mock_input: input(folder, test.mock_input)?,
        })
    };
    tests.into_iter().map(run).collect()
}

/// A file of the project, or a URL.
fn source(folder: &Path, text: &str) -> Source {
    match Source::parse(text) {
        Source::File(path) => Source::File(folder.join(path)),
        other => other,
    }
}

fn input(folder: &Path, input: MockInput) -> Result<Option<Vec<u8>>, Failure> {
    match (input.data, input.file) {
        (Some(data), _) => Ok(Some(data.into_bytes())),
        (None, Some(file)) => read(&folder.join(file)).map(Some),
        (None, None) => Ok(None),
    }
}

/// Reads the input of a test.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| {
        let message = format!("cannot read `{}`: {error}", path.display());
        Failure::new(Kind::Usage, message)
    })
}

/// Runs all of them and prints the reports.
pub(super) fn run_all(
    runs: Vec<Run>,
    options: &LoadOptions,
    format: Format,
) -> Result<(), Failure> {
    let mut out = terminal::out();
    let mut reports = Vec::new();
    let mut success = true;
    for run in runs {
        let harness = Harness {
            plugin: run.plugin,
            with: run.with,
            mock_host: run.mock_host,
            mock_input: run.mock_input,
            options: options.clone(),
        };
        let report = harness.run()?;
        success &= report.is_success();
        match format {
            Format::Human => write_report(&mut out, &run.name, &report)?,
            Format::Json => reports.push(json!({ "name": run.name, "report": report })),
        }
    }
    if format == Format::Json {
        writeln!(terminal::json(), "{}", Value::from(reports))?;
    }
    if success {
        return Ok(());
    }
    Err(Failure::TestsFailed)
}

fn write_report(out: &mut impl Write, name: &str, report: &Report) -> io::Result<()> {
    writeln!(out, "{name}")?;
    for group in &report.groups {
        if let Some(name) = &group.name {
            writeln!(out, "  {name}")?;
        }
        for assertion in &group.assertions {
            if assertion.passed {
                writeln!(out, "    ok      {}", assertion.name)?;
            } else {
                writeln!(out, "    FAILED  {}: {}", assertion.name, assertion.reason)?;
            }
        }
    }
    if let Some(problem) = &report.stopped {
        writeln!(out, "  stopped: {problem}")?;
    }
    let passed = report.assertions().filter(|one| one.passed).count();
    writeln!(out, "  {passed} of {} passed", report.assertions().count())
}
