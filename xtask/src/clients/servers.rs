//! Compares what `servlet catalog` lists of published servers with what the servers wrote.

mod table;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::serve::servlet;
use crate::shell::{cargo, run, show, show_first_build, target};
pub(super) use table::{SERVERS, Server};

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

/// What the client listed, and what the server wrote.
struct Outcome {
    listed: Lists,
    written: Lists,
}

/// Lists every server over stdio and prints a table. Fails if a server cannot be installed or listed, or if the text of an entry
/// differs from what the server wrote.
pub(super) fn check() -> anyhow::Result<()> {
    run(show_first_build(&mut cargo(&["programs"])))?;
    let logs = target().join("servers");
    fs::create_dir_all(&logs)?;
    println!("\n{:<20} {:>6} {:>7} equal", "server", "listed", "written");
    let mut failed = 0;
    for server in &SERVERS {
        let outcome = compare(server, &logs);
        failed += usize::from(!outcome.as_ref().is_ok_and(Outcome::is_equal));
        println!("{}", row(server, &outcome));
    }
    if failed > 0 {
        bail!("{failed} servers failed");
    }
    Ok(())
}

fn row(server: &Server, outcome: &anyhow::Result<Outcome>) -> String {
    let end = match outcome {
        Ok(outcome) => outcome.row(),
        Err(error) => format!("failed: {error:#}"),
    };
    format!("{:<20} {end}", server.name)
}

fn compare(server: &Server, logs: &Path) -> anyhow::Result<Outcome> {
    let log = logs.join(format!("{}.jsonl", server.name));
    let listed = list(&server.install()?, &log)?;
    let written = fs::read_to_string(&log).with_context(|| log.display().to_string())?;
    Ok(Outcome {
        listed,
        written: Lists::of_log(&written),
    })
}

/// The lists that `servlet catalog` prints, while the output of the server also goes to the log.
fn list(server: &Command, log: &Path) -> anyhow::Result<Lists> {
    let mut command = servlet();
    command
        .args(["catalog", "--format", "raw", "--", "sh", "-c", RECORD])
        .arg(log)
        .arg(server.get_program())
        .args(server.get_args());
    let variables = server.get_envs();
    command.envs(variables.filter_map(|(name, value)| Some((name, value?))));
    let output = command.stdin(Stdio::null()).output()?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("`{}`: {}\n{errors}", show(&command), output.status);
    }
    serde_json::from_slice(&output.stdout).context("the output of `servlet catalog`")
}

impl Outcome {
    fn is_equal(&self) -> bool {
        let listed = self.listed.entries();
        !listed.is_empty() && listed == self.written.entries()
    }

    fn row(&self) -> String {
        let (listed, written) = (self.listed.entries(), self.written.entries());
        let is_equal = if self.is_equal() { "yes" } else { "NO" };
        format!("{:>6} {:>7} {is_equal}", listed.len(), written.len())
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
        let written = Lists::of_log(PAGES);
        Outcome { listed, written }.is_equal()
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
        let (listed, written) = (Lists::default(), Lists::default());
        assert!(!Outcome { listed, written }.is_equal());
    }
}
