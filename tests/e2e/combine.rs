//! The servlets and the configurations of `docs/combine.md`. `./x clients combine` runs the page with the servers that it names;
//! here, scripts replace those of the second half.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use e2e::{puppet, root, servlet};
use serde_json::{Value, json};

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

/// The project `flights`, and the configuration with steps.
fn write_flights(folder: &Path) {
    let project = start(folder, "flights", &[]);
    let library = page("Get the servers");
    fs::write(project.join("src/lib.rs"), block(&library, "rust")).expect("a library");
    let config = page("Combine them");
    fs::write(project.join("servlet.toml"), block(&config, "toml")).expect("a configuration");
    let printed = |arguments: &str| {
        let mut command = command(servlet(), &project);
        stdout(&run(command.args(arguments.split(' '))))
    };
    printed("build -o .");
    let found = printed("call flights.wasm search_flights to=Lima");
    let found: Value = serde_json::from_str(&found).expect("JSON");
    let expected = json!({
        "zone": "America/Lima",
        "flights": [{ "id": "LM2", "lands": "11:05", "price": 820 }],
    });
    assert_eq!(found, expected);
    assert_eq!(
        printed("config check servlet.toml --load"),
        "servlet.toml: valid, 1 servlet, 2 remotes, 1 virtual tool\n"
    );
}

/// The project `planner`.
struct Planner {
    project: PathBuf,
    /// The directories of programs.
    path: OsString,
}

impl Planner {
    fn new(folder: &Path) -> Self {
        let programs = folder.join("programs");
        fs::create_dir(&programs).expect("a folder");
        for name in ["mcp-server-time", "mcp-server-memory"] {
            // A shell writes it: a file that this process has written may still be open for writing in a process that another test
            // is starting, and no such file can be run.
            let write = r#"printf '#!/bin/sh\nexec "%s" "%s"\n' "$1" "$2" > "$3" && chmod +x "$3""#;
            let script = root().join(format!("tests/e2e/combine/{name}.json"));
            let mut shell = Command::new("sh");
            shell.args(["-c", write, "sh"]).arg(puppet()).arg(script);
            run(shell.arg(programs.join(name)));
        }
        let path = env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(programs).chain(env::split_paths(&path));
        let project = start(folder, "planner", &[]);
        fs::remove_file(project.join("tests/servlet.rs")).expect("the test of the template");
        Self {
            project,
            path: env::join_paths(path).expect("a path"),
        }
    }

    /// The output of a command of the page.
    fn output(&self, arguments: &str) -> Output {
        let mut command = command(servlet(), &self.project);
        command
            .env("PATH", &self.path)
            .args(arguments.split_whitespace());
        command.output().expect("the command starts")
    }

    /// Runs a command of the page, and compares what it prints with the lines below it. Without such lines, it must only succeed.
    fn enter(&self, entry: &str) {
        let (line, expected) = entry.split_once('\n').unwrap_or((entry, ""));
        let output = self.output(line.split(" #").next().unwrap_or_default());
        let messages = String::from_utf8_lossy(&output.stderr);
        if !expected.is_empty() {
            let printed = stdout(&output) + &messages;
            return assert_eq!(printed.trim_end(), expected, "{line}");
        }
        assert!(output.status.success(), "{line}\n{messages}");
        // The page adds the crate before; here, the command says how.
        if let Some(add) = messages.strip_prefix("help: the client needs a crate: cargo ") {
            let mut cargo = command("cargo", &self.project);
            run(cargo.args(add.split_whitespace()));
        }
    }
}

#[test]
fn the_page_is_true() {
    let folder = tempfile::tempdir().expect("a folder");
    write_flights(folder.path());
    let planner = Planner::new(folder.path());
    let second = page("Write it in Rust");
    let library = planner.project.join("src/lib.rs");
    fs::write(library, block(&second, "rust")).expect("a library");
    let config = planner.project.join("servlet.toml");
    fs::write(config, block(&second, "toml")).expect("a configuration");
    let fences = second.split("\n```").skip(1).step_by(2);
    let consoles = fences.filter_map(|fence| fence.strip_prefix("console\n$ "));
    let commands = consoles.flat_map(|console| console.split("\n$ "));
    let commands = commands.filter_map(|command| command.strip_prefix("servlet "));
    let commands: Vec<_> = commands
        .filter(|command| !command.starts_with("new "))
        .collect();
    assert_eq!(commands.len(), 9);
    for command in commands {
        planner.enter(command);
    }
    let mut fmt = command("cargo", &planner.project);
    run(fmt.args(["fmt", "--check"]));
    let checked = planner.output("config check servlet.toml --load --connect");
    assert_eq!(
        stdout(&checked),
        "servlet.toml: valid, 2 servlets, 2 remotes\n"
    );
}
