//! Compares what `servlet catalog` lists of published servers with what the servers wrote, and compiles typed clients of them.

mod documents;
mod server;
mod sse;
mod typed;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::value::RawValue;

use self::documents::Checker;
use crate::serve::servlet;
use crate::shell::{cargo, output, run, show_first_build, target};
use server::Server;
pub(super) use server::servers;

/// Runs a server and writes its output to a file, too.
const RECORD: &str = r#""$@" | tee "$0""#;

/// The lists of `servlet catalog --format raw`, or one page of them in a result of a server.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Lists {
    tools: Vec<Box<RawValue>>,
    resources: Vec<Box<RawValue>>,
    resource_templates: Vec<Box<RawValue>>,
    prompts: Vec<Box<RawValue>>,
}

/// A message of a server.
#[derive(Deserialize)]
struct Message {
    result: Option<Lists>,
}

/// How a server was listed.
struct Outcome {
    listed: usize,
    /// How many entries the server wrote, or has over stdio.
    expected: usize,
    is_equal: bool,
    /// How many paths its OpenAPI document has.
    paths: Option<usize>,
}

/// Lists every server over stdio, and one over HTTP+SSE, and prints a table. Fails if a server cannot be installed or listed, if
/// the text of an entry differs from what the server wrote, or if its catalog or OpenAPI document is not valid. Then compiles
/// typed clients of all.
pub(super) fn check_servers() -> anyhow::Result<()> {
    run(show_first_build(&mut cargo(&["programs"])))?;
    let logs = target().join("servers");
    fs::create_dir_all(&logs)?;
    let checker = Checker::install(&logs)?;
    println!(
        "\n{:<20} {:>6} {:>8} equal {:>7}",
        "server", "listed", "expected", "openapi"
    );
    let mut failed = 0;
    let mut print = |name: &str, outcome: anyhow::Result<Outcome>| {
        failed += usize::from(!outcome.as_ref().is_ok_and(|outcome| outcome.is_equal));
        println!("{}", row(name, &outcome));
    };
    let servers = servers()?;
    for server in &servers {
        print(&server.name, compare(server, &logs, &checker));
    }
    print("everything, SSE", sse::compare(&servers));
    if failed > 0 {
        bail!("{failed} servers failed");
    }
    typed::check_typed_clients(&logs, &servers)
}

fn row(name: &str, outcome: &anyhow::Result<Outcome>) -> String {
    let end = match outcome {
        Ok(outcome) => outcome.row(),
        Err(error) => format!("failed: {error:#}"),
    };
    format!("{name:<20} {end}")
}

fn compare(server: &Server, logs: &Path, checker: &Checker<'_>) -> anyhow::Result<Outcome> {
    let log = logs.join(format!("{}.jsonl", server.name));
    let command = server.install()?;
    let listed = list(&command, &log)?;
    let written = fs::read_to_string(&log).with_context(|| log.display().to_string())?;
    let paths = checker.check(&server.name, &command)?;
    Ok(Outcome {
        paths: Some(paths),
        ..Outcome::of(&listed, &Lists::of_log(&written))
    })
}

/// The lists that `servlet catalog` prints, while the output of the server also goes to the log.
fn list(server: &[String], log: &Path) -> anyhow::Result<Lists> {
    let mut recorded = ["sh", "-c", RECORD].map(str::to_owned).to_vec();
    recorded.push(log.display().to_string());
    recorded.extend_from_slice(server);
    let lists = output(&mut listing("raw", &recorded))?;
    serde_json::from_str(&lists).context("the output of `servlet catalog`")
}

/// The command that lists a server over stdio.
fn listing(format: &str, server: &[String]) -> Command {
    let mut command = servlet();
    command.args(["catalog", "--format", format, "--"]);
    command.args(server);
    command
}

/// The catalog of a server.
fn catalog_file(folder: &Path, server: &str) -> PathBuf {
    folder.join(format!("{server}.catalog.json"))
}

impl Outcome {
    fn of(listed: &Lists, written: &Lists) -> Self {
        let (listed, written) = (listed.entries(), written.entries());
        Self {
            listed: listed.len(),
            expected: written.len(),
            is_equal: !listed.is_empty() && listed == written,
            paths: None,
        }
    }

    fn row(&self) -> String {
        let is_equal = if self.is_equal { "yes" } else { "NO" };
        let paths = self.paths.map(|paths| paths.to_string());
        format!(
            "{:>6} {:>8} {is_equal:<5} {:>7}",
            self.listed,
            self.expected,
            paths.as_deref().unwrap_or("-")
        )
    }
}

impl Lists {
    /// The entries of all pages in the messages of a server, in its order.
    fn of_log(log: &str) -> Self {
        let mut all = Self::default();
        let messages = log
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        for page in messages.filter_map(|message: Message| message.result) {
            all.tools.extend(page.tools);
            all.resources.extend(page.resources);
            all.resource_templates.extend(page.resource_templates);
            all.prompts.extend(page.prompts);
        }
        all
    }

    /// Every entry as the server wrote it, with the name of its list.
    fn entries(&self) -> Vec<(&str, &str)> {
        let lists = [
            ("tools", &self.tools),
            ("resources", &self.resources),
            ("resource templates", &self.resource_templates),
            ("prompts", &self.prompts),
        ];
        lists
            .iter()
            .flat_map(|(name, list)| list.iter().map(move |entry| (*name, entry.get())))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Lists, Outcome};

    const PAGES: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"tools":{}}}}
a line that is no JSON
{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"}],"nextCursor":"2"}}
{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"b"}]}}
{"jsonrpc":"2.0","id":4,"result":{"prompts":[{"name":"p","x":1}]}}"#;

    fn is_equal(listed: &str) -> bool {
        let listed = serde_json::from_str(listed).expect("lists");
        Outcome::of(&listed, &Lists::of_log(PAGES)).is_equal
    }

    #[test]
    fn every_member_of_every_entry_counts() {
        let prompts = r#""prompts":[{"name":"p","x":1}]"#;
        let listed = |tools: &str| format!(r#"{{"tools":[{tools}],{prompts}}}"#);
        assert!(is_equal(&listed(r#"{"name":"a"},{"name":"b"}"#)));
        assert!(!is_equal(&listed(r#"{"name":"b"},{"name":"a"}"#)));
        assert!(!is_equal(&listed(r#"{"name":"a"}"#)));
        assert!(!is_equal(&listed(r#"{"name":"a"},{"name":"b","x":1}"#)));
    }

    #[test]
    fn a_server_without_entries_shows_nothing() {
        assert!(!Outcome::of(&Lists::default(), &Lists::default()).is_equal);
    }
}
