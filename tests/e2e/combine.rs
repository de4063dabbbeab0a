//! The servlets and the configurations of `docs/combine.md`. `./x clients combine` runs the page with the servers that it names;
//! here, scripts replace them.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use e2e::{root, servlet};
use serde_json::{Value, json};
use wire::Process;

use crate::projects::{command, run, start, stdout};

/// The page from a heading on.
fn page(heading: &str) -> String {
    let page = fs::read_to_string(root().join("docs/combine.md")).expect("a page");
    let start = page.find(&format!("\n## {heading}\n")).expect("a heading");
    page[start..].to_owned()
}

/// The first block of this language.
fn block<'p>(page: &'p str, language: &str) -> &'p str {
    let fence = format!("```{language}\n");
    let (_, rest) = page.split_once(&fence).expect("a block");
    rest.split_once("```").expect("its end").0
}

/// The commands of a part of the page that can run here, each with the lines that it prints.
fn commands(part: &str) -> Vec<&str> {
    let fences = part.split("\n```").skip(1).step_by(2);
    let consoles = fences.filter_map(|fence| fence.strip_prefix("console\n$ "));
    let commands = consoles.flat_map(|console| console.split("\n$ "));
    let is_of_the_project = |command: &&str| {
        let ours = command.strip_prefix("servlet ");
        ours.is_some_and(|ours| !ours.starts_with("new ")) || command.starts_with("sed ")
    };
    commands.filter(is_of_the_project).collect()
}

/// The directories of programs: first those of the page.
fn programs(folder: &Path) -> OsString {
    let programs = folder.join("programs");
    fs::create_dir(&programs).expect("a folder");
    for name in ["mcp-server-time", "mcp-server-memory"] {
        // A shell writes it: a file that this process has written may still be open for writing in a process that another test
        // is starting, and no such file can be run.
        let write = r#"printf '#!/bin/sh\nexec "%s" "%s"\n' "$1" "$2" > "$3" && chmod +x "$3""#;
        let script = root().join(format!("tests/e2e/combine/{name}.json"));
        let mut shell = Command::new("sh");
        shell
            .args(["-c", write, "sh"])
            .arg(puppet::program())
            .arg(script);
        run(shell.arg(programs.join(name)));
    }
    let servlet = servlet();
    let own = [
        programs,
        servlet.parent().expect("it is in a folder").to_owned(),
    ];
    let path = env::var_os("PATH").unwrap_or_default();
    let path = own.into_iter().chain(env::split_paths(&path));
    env::join_paths(path).expect("a path")
}

/// A project of the page, where its commands run.
struct Project {
    folder: PathBuf,
    /// The directories of programs.
    path: OsString,
}

impl Project {
    /// Starts a project with the first library and the first configuration from this heading on.
    fn new(folder: &Path, name: &str, heading: &str, path: &OsStr) -> Self {
        let project = Self {
            folder: start(folder, name, &[]),
            path: path.to_owned(),
        };
        let part = page(heading);
        for (file, language) in [("src/lib.rs", "rust"), ("servlet.toml", "toml")] {
            fs::write(project.folder.join(file), block(&part, language)).expect("a file");
        }
        fs::remove_file(project.folder.join("tests/servlet.rs")).expect("the test of the template");
        project
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = command(program, &self.folder);
        command.env("PATH", &self.path);
        command
    }

    /// The output of a command of the page.
    fn output(&self, line: &str) -> Output {
        let mut shell = self.command("sh");
        shell.args(["-c", line]).output().expect("a shell starts")
    }

    /// Runs a command of the page, and compares what it prints with the lines below it. Without such lines, it must only succeed.
    fn enter(&self, entry: &str) {
        let (line, expected) = entry.split_once('\n').unwrap_or((entry, ""));
        let output = self.output(line);
        let messages = String::from_utf8_lossy(&output.stderr);
        if !expected.is_empty() {
            // How many such lines there are depends on the time that the call takes.
            let messages = messages
                .lines()
                .filter(|line| !line.starts_with("progress: "));
            let printed = stdout(&output) + &messages.collect::<Vec<_>>().join("\n");
            return assert_eq!(printed.trim_end(), expected, "{line}");
        }
        assert!(output.status.success(), "{line}\n{messages}");
        // The page adds the crate before; here, the command says how.
        if let Some(add) = messages.strip_prefix("help: the client needs a crate: cargo ") {
            run(self.command("cargo").args(add.split_whitespace()));
        }
    }

    /// The structured content of a call of `trip`.
    fn trip(&self, target: &str) -> Value {
        let (before, after) = match target.strip_prefix("-- ") {
            Some(_) => ("", target),
            None => (target, ""),
        };
        let line = format!("servlet call {before} trip city=Tokyo --format json {after}");
        let output = self.output(&line);
        let messages = String::from_utf8_lossy(&output.stderr);
        let result: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{line}: {error}\n{messages}"));
        result["structuredContent"].clone()
    }
}

#[test]
fn the_page_is_true() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = programs(folder.path());
    let flights = Project::new(folder.path(), "flights", "Get the servers", &path);
    steps_are_true(&flights);
    let planner = Project::new(folder.path(), "planner", "Write it in Rust", &path);
    let part = page("Write it in Rust");
    let commands = commands(&part);
    assert_eq!(commands.len(), 9);
    for command in commands {
        planner.enter(command);
    }
    run(planner.command("cargo").args(["fmt", "--check"]));
    planner.enter(
        "servlet config check servlet.toml --load --connect\nservlet.toml: valid, 2 servlets, 2 remotes",
    );
}

/// The half of the page with steps.
fn steps_are_true(flights: &Project) {
    flights.enter("servlet build -o .");
    let found = flights.output("servlet call flights.wasm search_flights to=Lima");
    let found: Value = serde_json::from_slice(&found.stdout).expect("JSON");
    let expected = json!({
        "zone": "America/Lima",
        "flights": [{ "id": "LM2", "lands": "11:05", "price": 820 }],
    });
    assert_eq!(found, expected);
    flights.enter(
        "servlet config check servlet.toml --load --connect\nservlet.toml: valid, 1 servlet, 2 remotes, 1 virtual tool",
    );
    let calls = page("Call it");
    let end = calls.find("\n## Write it in Rust\n").expect("a heading");
    let commands = commands(&calls[..end]);
    assert_eq!(commands.len(), 4);
    for command in commands {
        flights.enter(command);
    }
    let expected: Value = serde_json::from_str(block(&calls, "json")).expect("JSON");
    let mut serve = flights.command(servlet());
    serve.args(["serve", "servlet.toml", "--stdio", "--http", "127.0.0.1:0"]);
    let wire = Process::start(serve);
    let http = wire.said_after("listening on ");
    for target in ["servlet.toml", "-- servlet serve servlet.toml", &http] {
        assert_eq!(flights.trip(target), expected, "{target}");
    }
}
