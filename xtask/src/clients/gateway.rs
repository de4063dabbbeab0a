//! Compares published servers behind one endpoint with the same servers alone.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use super::servers::servers;
use crate::serve::{Server, servlet};
use crate::shell::{cargo, root, run, show, show_first_build, target};

/// The lists of a catalog.
const LISTS: [&str; 4] = ["tools", "prompts", "resources", "resourceTemplates"];

/// A member of the endpoint: the command that starts it, and a call.
struct Member {
    name: String,
    command: Vec<String>,
    tool: String,
    arguments: String,
}

/// Lists every member alone and through the endpoint, calls one of its tools both ways, and prints a table. Fails if an entry or
/// a result differs.
pub(super) fn check_gateway() -> anyhow::Result<()> {
    run(show_first_build(&mut cargo(&["programs"])))?;
    let members = members()?;
    let endpoint = Server::start_configured(&configuration(&members)?)?;
    let through = catalog(std::slice::from_ref(&endpoint.url))?;
    println!("\n{:<20} {:>6} equal", "server", "listed");
    let mut failed = 0;
    for member in &members {
        let outcome = member.compare(&endpoint.url, &through);
        failed += usize::from(outcome.is_err());
        let end = match outcome {
            Ok(listed) => format!("{listed:>6} yes"),
            Err(error) => format!("failed: {error:#}"),
        };
        println!("{:<20} {end}", member.name);
    }
    ensure!(failed == 0, "{failed} servers differ");
    Ok(())
}

/// The servers with a call whose result is the same every time.
fn members() -> anyhow::Result<Vec<Member>> {
    let mut members = Vec::new();
    for server in servers()? {
        if let Some((tool, arguments)) = &server.call {
            members.push(Member {
                command: server.install()?,
                name: server.name.clone(),
                tool: tool.clone(),
                arguments: arguments.clone(),
            });
        }
    }
    Ok(members)
}

/// A configuration with one endpoint over HTTP, whose members are these servers.
fn configuration(members: &[Member]) -> anyhow::Result<PathBuf> {
    let mut sections = vec![
        "[listener.local]\naddress = \"127.0.0.1:0\"\n".to_owned(),
        "[endpoint.all]\nkind = \"http\"\nlistener = \"local\"\n".to_owned(),
    ];
    for member in members {
        sections.push(format!(
            "[remote.{name}]\ncommand = {command:?}\nfolder = '{folder}'\nrequired = true\nconnect = \"60s\"\n\
             tools.prefix = \"{name}\"\n",
            name = member.name,
            command = member.command,
            folder = root().display(),
        ));
    }
    let file = target().join("gateway.toml");
    fs::write(&file, sections.concat())?;
    Ok(file)
}

impl Member {
    /// Compares the entries and the result of the call. Returns how many entries there are.
    fn compare(&self, url: &str, through: &Value) -> anyhow::Result<usize> {
        let alone = [&["--".to_owned()][..], &self.command].concat();
        let listed = self.compare_lists(&catalog(&alone)?, through)?;
        let direct = [&[self.tool.clone()][..], &alone].concat();
        let result = call(&direct, &self.arguments)?;
        let relayed = call(
            &[url.to_owned(), self.prefixed(&self.tool)],
            &self.arguments,
        )?;
        if result != relayed {
            bail!(
                "`{}` results in {result}, and through the endpoint in {relayed}",
                self.tool
            );
        }
        Ok(listed)
    }

    fn compare_lists(&self, own: &Value, through: &Value) -> anyhow::Result<usize> {
        let mut listed = 0;
        for list in LISTS {
            // The endpoint lists them in the same order.
            let mut rest = entries(through, list).iter();
            for entry in entries(own, list) {
                let expected = self.renamed(list, entry);
                let is_there = rest.any(|found| *found == expected);
                ensure!(is_there, "{list} without {expected}, or in another order");
                listed += 1;
            }
        }
        ensure!(listed > 0, "it lists nothing");
        Ok(listed)
    }

    /// An entry as the endpoint should list it.
    fn renamed(&self, list: &str, entry: &Value) -> Value {
        let mut entry = entry.clone();
        if ["tools", "prompts"].contains(&list)
            && let Some(name) = entry["name"].as_str()
        {
            entry["name"] = self.prefixed(name).into();
        }
        entry
    }

    fn prefixed(&self, name: &str) -> String {
        format!("{}_{name}", self.name)
    }
}

fn entries<'a>(catalog: &'a Value, list: &str) -> &'a [Value] {
    catalog[list].as_array().map_or(&[], Vec::as_slice)
}

/// The catalog of a server that these arguments of `servlet catalog` name.
fn catalog(target: &[String]) -> anyhow::Result<Value> {
    output(servlet().args(["catalog", "--format", "raw"]).args(target))
}

/// The content of the result of a call. Its other members depend on the protocol version.
fn call(target: &[String], arguments: &str) -> anyhow::Result<Value> {
    let mut command = servlet();
    command.args(["call", "--format", "json", "--json", arguments]);
    Ok(output(command.args(target))?["content"].take())
}

/// The JSON that a command prints.
fn output(command: &mut Command) -> anyhow::Result<Value> {
    let output = command.stdin(Stdio::null()).output()?;
    serde_json::from_slice(&output.stdout).with_context(|| {
        let errors = String::from_utf8_lossy(&output.stderr);
        format!("`{}`: {}\n{errors}", show(command), output.status)
    })
}
