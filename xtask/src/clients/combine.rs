//! Runs the page `docs/combine.md` with the published servers that it names. Then a step asks the clients.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use super::Counts;
use super::client::{Client, Transport, clients};
use crate::npm::Packages;
use crate::python;
use crate::serve::{Server, build, servlet};
use crate::shell::{self, program, root, target};

/// The page.
const PAGE: &str = "docs/combine.md";

/// The clients of other projects that call its tool.
const OTHERS: [&str; 3] = ["Python SDK 1", "Python SDK 2", "Inspector"];

/// The client whose command line cannot answer a question.
const CANNOT_ANSWER: &str = "Inspector";

/// A tool whose second step asks.
const ASKS: &str = r#"[servlet.everything]
source = 'EVERYTHING'
tools = { except = ["*"] }

[bundle.travel.tool.book]
description = "Asks who travels."
result.content = [{ type = "text", text = "booked" }]
result.structuredContent = { before = "${{ steps.before.content[0].text }}", says = "${{ steps.ask.content[0].text }}" }
step.before = { handler = "everything:test_simple_text" }
step.ask = { handler = "everything:test_elicitation", inputs = { message = "Who travels?" }, after = ["before"] }
"#;

/// Follows the page: installs the servers, builds the servlet, and compares what the commands print with the page. Then calls the
/// tool over stdio and HTTP, and another one whose step asks.
pub(super) fn check_combining() -> anyhow::Result<()> {
    let everything = build(&["everything"])?;
    let page = fs::read_to_string(root().join(PAGE))?;
    let mut reader = Reader::new()?;
    for (language, block) in blocks(&page) {
        reader.follow(language, block).context(PAGE)?;
    }
    let (folder, result) = reader.result.take().context("the page has no result")?;
    reader.folder = folder;
    reader.check_calls(&result)?;
    let config = reader.home.join("asks.toml");
    let everything = everything[0].display().to_string();
    fs::write(&config, ASKS.replace("EVERYTHING", &everything))?;
    reader.check_questions(config)
}

/// A configuration that is served.
struct Served {
    /// The command that serves it over standard input and output.
    stdio: [OsString; 3],
    /// The URL of the server.
    http: [OsString; 1],
    _server: Server,
}

/// The languages and the texts of the blocks of a page.
fn blocks(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let fenced = page.split("\n```").skip(1).step_by(2);
    fenced.filter_map(|block| block.split_once('\n'))
}

/// Follows the page in a home directory of its own.
struct Reader {
    home: PathBuf,
    /// The current directory.
    folder: PathBuf,
    /// The directories of programs, before those of this machine.
    programs: Vec<PathBuf>,
    /// The structured content that the page shows, and the current directory there.
    result: Option<(PathBuf, Value)>,
}

impl Reader {
    fn new() -> anyhow::Result<Self> {
        let home = target().join("combine");
        for old in ["flights", "planner", "hotels.jsonl"] {
            let old = home.join(old);
            // Nothing is there the first time.
            let _ = fs::remove_dir_all(&old).or_else(|_| fs::remove_file(&old));
        }
        fs::create_dir_all(&home)?;
        let servlet = program("servlet");
        let programs = servlet.parent().context("a program is in a folder")?;
        Ok(Self {
            folder: home.clone(),
            home,
            programs: vec![programs.to_owned()],
            result: None,
        })
    }

    fn follow(&mut self, language: &str, block: &str) -> anyhow::Result<()> {
        match language {
            "console" => self.enter(block),
            "rust" => Ok(fs::write(self.folder.join("src/lib.rs"), block)?),
            "toml" => Ok(fs::write(self.folder.join("servlet.toml"), block)?),
            "json" if self.hotels().exists() => {
                self.result = Some((self.folder.clone(), serde_json::from_str(block)?));
                Ok(())
            }
            "json" => Ok(fs::write(self.hotels(), format!("{block}\n"))?),
            other => bail!("a block with `{other}`"),
        }
    }

    /// The notes about hotels.
    fn hotels(&self) -> PathBuf {
        self.home.join("hotels.jsonl")
    }

    /// Runs the commands of a block, and compares what they print with the lines below each.
    fn enter(&mut self, block: &str) -> anyhow::Result<()> {
        for command in block.split("$ ").skip(1) {
            let (command, expected) = command.split_once('\n').unwrap_or((command, ""));
            if let Some(package) = command.strip_prefix("pip install ") {
                let python = python::install("combine", &[package])?;
                self.programs.extend(python.parent().map(PathBuf::from));
            } else if let Some(package) = command.strip_prefix("npm install --global ") {
                let packages = Packages::install("combine", &[package])?;
                let programs = packages.folder().join("node_modules/.bin");
                self.programs.push(programs);
            } else if let Some(path) = command.strip_prefix("cargo add --path …/") {
                let path = root().join(path);
                self.run(&format!("cargo add --path '{}'", path.display()), "")?;
            } else if let Some(folder) = command.strip_prefix("cd ") {
                self.folder.push(folder);
            } else {
                self.run(command, expected.trim_end())?;
            }
        }
        Ok(())
    }

    /// Runs a command that prints this. Without text, it must only succeed.
    fn run(&self, command: &str, expected: &str) -> anyhow::Result<()> {
        let mut shell = self.prepare(Command::new("sh"))?;
        let output = shell
            .args(["-c", &format!("exec 2>&1\n{command}")])
            .output()?;
        let printed = String::from_utf8(output.stdout)?;
        // How many lines of progress there are depends on the time that the call takes.
        let lines: Vec<_> = printed
            .lines()
            .filter(|line| !line.starts_with("progress: "))
            .collect();
        let is_expected = if expected.is_empty() {
            output.status.success()
        } else {
            lines.join("\n") == expected
        };
        ensure!(is_expected, "`{command}` prints\n{printed}");
        Ok(())
    }

    /// The command in the current directory, with the programs and the home directory.
    fn prepare(&self, mut command: Command) -> anyhow::Result<Command> {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = self.programs.iter().cloned().chain(env::split_paths(&path));
        let own = env::home_dir().context("a home directory")?;
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            let folder = env::var_os(name).unwrap_or_else(|| own.join(folder).into());
            command.env(name, folder);
        }
        command
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", self.home.join("target"))
            .env("HOME", &self.home)
            .env("PATH", env::join_paths(folders)?)
            .stdin(Stdio::null());
        Ok(command)
    }

    /// Calls the tool with our client and with those of other projects, and prints a table.
    fn check_calls(&self, result: &Value) -> anyhow::Result<()> {
        let served = self.serve(self.folder.join("servlet.toml"))?;
        println!("\n{:<22} {:<10} over", "client", "protocol");
        let command = [&["--".into()], &served.stdio[..]].concat();
        for (over, target) in [
            (Transport::Stdio, &command[..]),
            (Transport::Http, &served.http),
        ] {
            self.call_with_and_without_hotels(target, result)?;
            println!("{:<22} {:<10} {}", "servlet call", "auto", over.name());
        }
        let calls = json!({ "trip": { "city": "Tokyo" } });
        self.call_with_others(&served, &calls, |client, outcome| {
            let counts = outcome?;
            ensure!(counts.listed == 1, "{}", client.name);
            let found = counts.structured.get("trip");
            ensure!(found == Some(result), "{}: {found:?}", client.name);
            Ok(())
        })
    }

    /// Lets the clients answer a question of a step.
    fn check_questions(&self, config: PathBuf) -> anyhow::Result<()> {
        println!("\n{:<22} {:<10} over, a step asks", "client", "protocol");
        let expected = json!({
            "before": "This is a simple text.",
            "says": "accepted: {\"username\":\"Ada\",\"email\":\"Ada\"}",
        });
        let served = self.serve(config)?;
        self.call_with_others(&served, &json!({}), |client, outcome| {
            if client.name == CANNOT_ANSWER {
                let error = outcome.err().context("the Inspector has no answer")?;
                let error = format!("{error:#}");
                ensure!(error.contains("the capability `elicitation`"), error);
                return Ok(());
            }
            let found = outcome?.structured.remove("book");
            ensure!(
                found.as_ref() == Some(&expected),
                "{}: {found:?}",
                client.name
            );
            Ok(())
        })
    }

    /// Serves a configuration over HTTP, and says how it is served over stdio.
    fn serve(&self, config: PathBuf) -> anyhow::Result<Served> {
        let mut serve = self.prepare(servlet())?;
        serve.arg("serve").arg(&config);
        let server = Server::spawn(serve.args(["--http", "127.0.0.1:0"]))?;
        Ok(Served {
            stdio: [program("servlet").into(), "serve".into(), config.into()],
            http: [OsString::from(&server.url)],
            _server: server,
        })
    }

    /// Calls the tools with the clients of other projects, and prints their rows.
    fn call_with_others(
        &self,
        served: &Served,
        calls: &Value,
        check: impl Fn(&Client, anyhow::Result<Counts>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let file = self.home.join("calls.json");
        fs::write(&file, calls.to_string())?;
        let is_one = |client: &&Client| OTHERS.contains(&&*client.name);
        for client in clients()?.iter().filter(is_one) {
            let (program, arguments) = client.install(&client.script)?;
            for (mode, over) in client.combinations() {
                let target = match over {
                    Transport::Stdio => &served.stdio[..],
                    Transport::Http => &served.http,
                    Transport::Sse => continue,
                };
                let mut command = self.prepare(Command::new(&program))?;
                command.args(&arguments).arg(mode).arg(&file).args(target);
                check(client, super::output(&mut command))?;
                println!("{:<22} {mode:<10} {}", client.name, over.name());
            }
        }
        Ok(())
    }

    /// Calls the tool, and calls it again while the server of the notes fails: the page says that the call goes on without hotels.
    fn call_with_and_without_hotels(
        &self,
        target: &[OsString],
        result: &Value,
    ) -> anyhow::Result<()> {
        self.call(target, result)?;
        let notes = fs::read(self.hotels())?;
        fs::write(self.hotels(), "no JSON\n")?;
        let mut without = result.clone();
        let members = without.as_object_mut().context("an object")?;
        members.remove("hotels");
        self.call(target, &without)?;
        Ok(fs::write(self.hotels(), notes)?)
    }

    /// Calls the tool of a server, and compares its structured content.
    fn call(&self, target: &[OsString], expected: &Value) -> anyhow::Result<()> {
        let (before, after) = match target {
            [url] => (std::slice::from_ref(url), &[][..]),
            command => (&[][..], command),
        };
        let mut call = self.prepare(servlet())?;
        call.arg("call")
            .args(before)
            .args(["trip", "city=Tokyo", "--format", "json"])
            .args(after);
        let result: Value = serde_json::from_str(&shell::output(&mut call)?)?;
        ensure!(result["structuredContent"] == *expected, "{result}");
        Ok(())
    }
}
