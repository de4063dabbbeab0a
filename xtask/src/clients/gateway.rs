//! Compares published servers behind one endpoint with the same servers alone.

mod calls;

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};

use self::calls::{Call, Places, calls, folder, skipped};
use super::servers::{SERVERS, Server};
use crate::serve::{Server as Endpoint, servlet};
use crate::shell::{cargo, root, run, show, show_first_build, target};

/// Four servers of npm and two of `PyPI`.
const MEMBERS: [&str; 6] = [
    "everything",
    "filesystem",
    "memory",
    "sequential-thinking",
    "time",
    "fetch",
];

/// The lists of a catalog, and the member that identifies an entry of each.
const LISTS: [(&str, &str); 4] = [
    ("tools", "name"),
    ("prompts", "name"),
    ("resources", "uri"),
    ("resourceTemplates", "uriTemplate"),
];

/// This server lists more tools to clients that can answer questions. The endpoint can, `servlet catalog` cannot.
const LISTS_MORE: &str = "everything";

/// This server may write to the folders in its arguments.
const WRITES: &str = "filesystem";

/// A member of the endpoint, and the command that starts it.
struct Member {
    name: &'static str,
    command: Command,
}

/// Lists and calls every member alone and through the endpoint, and prints a table. Fails if an entry or a result differs, or if a
/// call fails that must succeed.
pub(super) fn check() -> anyhow::Result<()> {
    run(show_first_build(&mut cargo(&["programs"])))?;
    let members = members()?;
    let endpoint = Endpoint::start_configured(&configuration(&members)?)?;
    let through = catalog(std::slice::from_ref(&endpoint.url))?;
    println!("\n{:<20} {:>6} {:>6} equal", "server", "listed", "called");
    let mut failed = 0;
    for member in &members {
        let outcome = member.compare(&endpoint.url, &through);
        failed += usize::from(outcome.is_err());
        let end = match outcome {
            Ok((listed, called)) => format!("{listed:>6} {called:>6} yes"),
            Err(error) => format!("failed: {error:#}"),
        };
        println!("{:<20} {end}", member.name);
        for (tool, reason) in skipped(member.name) {
            println!("{:<20} `{tool}` is not called: {reason}", "");
        }
    }
    if failed > 0 {
        bail!("{failed} servers differ");
    }
    Ok(())
}

fn entries<'a>(catalog: &'a Value, list: &str) -> &'a [Value] {
    catalog[list].as_array().map_or(&[], Vec::as_slice)
}

fn members() -> anyhow::Result<Vec<Member>> {
    let servers = SERVERS.iter().filter(|one| MEMBERS.contains(&one.name));
    let member = |server: &Server| {
        let mut command = server.install()?;
        if server.name == WRITES {
            command.arg(folder()?);
        }
        let name = server.name;
        Ok(Member { name, command })
    };
    servers.map(member).collect()
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
             tools.prefix = \"{name}\"\nenv = {{ PATH = '{path}' }}\n",
            name = member.name,
            command = member.words()?,
            folder = root().display(),
            path = member.path(),
        ));
    }
    let file = target().join("gateway.toml");
    fs::write(&file, sections.concat())?;
    Ok(file)
}

impl Member {
    /// The program and its arguments.
    fn words(&self) -> anyhow::Result<Vec<&str>> {
        let words = std::iter::once(self.command.get_program()).chain(self.command.get_args());
        let words = words.map(|word| word.to_str().context("a path that is not UTF-8"));
        words.collect()
    }

    /// The search path with which it runs.
    fn path(&self) -> String {
        let mut variables = self.command.get_envs();
        let path = variables.find_map(|(name, value)| value.filter(|_| name == "PATH"));
        let path = path.map(ToOwned::to_owned).or_else(|| env::var_os("PATH"));
        path.unwrap_or_default().to_string_lossy().into_owned()
    }

    /// All its variables when the endpoint starts it, for `env`.
    fn variables(&self) -> Vec<String> {
        let inherited = ["HOME", "LANG"].map(|name| (name, env::var(name).ok()));
        let inherited = inherited.into_iter();
        let inherited = inherited.filter_map(|(name, value)| Some(format!("{name}={}", value?)));
        inherited.chain([format!("PATH={}", self.path())]).collect()
    }

    /// Compares the entries and the results of the tools. Returns how many of each there are.
    fn compare(&self, url: &str, through: &Value) -> anyhow::Result<(usize, usize)> {
        let mut alone = ["--", "env", "--ignore-environment"]
            .map(str::to_owned)
            .to_vec();
        alone.extend(self.variables());
        alone.extend(self.words()?.into_iter().map(str::to_owned));
        let own = catalog(&alone)?;
        let mut listed = 0;
        for (list, key) in LISTS {
            // The endpoint lists them in the same order.
            let mut rest = entries(through, list).iter();
            for entry in entries(&own, list) {
                let expected = self.renamed(list, entry);
                let found = rest.find(|found| found[key] == expected[key]);
                let found = found.with_context(|| {
                    format!("{list} without {}, or in another order", expected[key])
                })?;
                if *found != expected {
                    bail!("{list}: {expected} is {found}");
                }
                listed += 1;
            }
            // Only names have the prefix that tells whose entry it is.
            let is_mine = |found: &&Value| {
                let name = found[key].as_str().unwrap_or_default();
                name.starts_with(&self.prefixed(""))
            };
            let mine = entries(through, list).iter().filter(is_mine).count();
            let expected = entries(&own, list).len();
            if key == "name" && mine != expected && self.name != LISTS_MORE {
                bail!("{list}: {mine} entries instead of {expected}");
            }
        }
        if listed == 0 {
            bail!("it lists nothing");
        }
        Ok((listed, self.call_all(&own, url, &alone)?))
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

    /// Calls every tool, except those that are skipped. Returns how many there are.
    fn call_all(&self, own: &Value, url: &str, alone: &[String]) -> anyhow::Result<usize> {
        let calls = calls(self.name, entries(own, "tools"), &Places::new(url)?)?;
        for Call {
            tool,
            arguments,
            fails,
        } in &calls
        {
            let direct = || call(&[std::slice::from_ref(tool), alone].concat(), arguments);
            // If a result differs before and after, such as a time, only the form is compared.
            let first = direct()?;
            let relayed = call(&[url.to_owned(), self.prefixed(tool)], arguments)?;
            let second = direct()?;
            if first != relayed && (first == second || form(&first) != form(&relayed)) {
                bail!("`{tool}` results in {first}, and through the endpoint in {relayed}");
            }
            if (relayed["isError"] == true) != *fails {
                let expected = if *fails { "an error" } else { "no error" };
                bail!("`{tool}` results in {relayed}; expected {expected}");
            }
        }
        Ok(calls.len())
    }
}

/// The catalog of a server that these arguments of `servlet catalog` name.
fn catalog(target: &[String]) -> anyhow::Result<Value> {
    let mut command = servlet();
    command.args(["catalog", "--format", "raw"]).args(target);
    let output = output(&mut command)?;
    serde_json::from_slice(&output).context("the output of `servlet catalog`")
}

/// The result of a call, which can have `isError`, without what servers add to each result.
fn call(target: &[String], arguments: &str) -> anyhow::Result<Value> {
    let mut command = servlet();
    command.args(["call", "--format", "json", "--json", arguments]);
    let output = command.args(target).stdin(Stdio::null()).output()?;
    let result = serde_json::from_slice(&output.stdout).with_context(|| {
        let errors = String::from_utf8_lossy(&output.stderr);
        format!("`{}`: {}\n{errors}", show(&command), output.status)
    })?;
    Ok(without_additions(result))
}

fn output(command: &mut Command) -> anyhow::Result<Vec<u8>> {
    let output = command.stdin(Stdio::null()).output()?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("`{}`: {}\n{errors}", show(command), output.status);
    }
    Ok(output.stdout)
}

/// A result without what each has since the revision 2026-07-28, which not every member speaks.
fn without_additions(mut result: Value) -> Value {
    if let Some(result) = result.as_object_mut() {
        result.remove("resultType");
        let meta = result.get_mut("_meta").and_then(Value::as_object_mut);
        if let Some(meta) = meta {
            meta.remove("io.modelcontextprotocol/serverInfo");
            if meta.is_empty() {
                result.remove("_meta");
            }
        }
    }
    result
}

/// A result without its texts and numbers.
fn form(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(form).collect(),
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, value)| (name.clone(), form(value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        Value::String(_) => json!("text"),
        Value::Number(_) => json!("number"),
        other => other.clone(),
    }
}
