//! The calls of tools: their arguments, which of them fail, and which tools are not called.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::shell::{root, target};

/// What stands for the address of the endpoint in arguments.
const ADDRESS: &str = "{address}";

/// What stands for a folder with a picture in arguments. The server `filesystem` may write there.
const FOLDER: &str = "{folder}";

/// A picture of the folder.
const PICTURE: &str = "examples/everything/src/assets/square.png";

/// How a tool is called.
enum Plan {
    /// With these arguments, which it accepts.
    Succeeds(&'static str),
    /// With these arguments. The result is an error for the model.
    Fails(&'static str),
    /// Not at all, for this reason.
    Skipped(&'static str),
}

use Plan::{Fails, Skipped, Succeeds};

/// The plans of tools, by server and name. All other tools are called without arguments, and succeed. Calls are repeated, and
/// change nothing but files in the folder.
const PLANS: [(&str, &str, Plan); 32] = [
    ("everything", "echo", Succeeds(r#"{"message":"hello"}"#)),
    ("everything", "get-sum", Succeeds(r#"{"a":19,"b":23}"#)),
    (
        "everything",
        "get-annotated-message",
        Succeeds(r#"{"messageType":"success"}"#),
    ),
    (
        "everything",
        "get-structured-content",
        Succeeds(r#"{"location":"New York"}"#),
    ),
    // By default, the next two fetch a page and take ten seconds.
    (
        "everything",
        "gzip-file-as-resource",
        Succeeds(r#"{"name":"hello.gz","data":"data:text/plain,hello"}"#),
    ),
    (
        "everything",
        "trigger-long-running-operation",
        Succeeds(r#"{"duration":1,"steps":2}"#),
    ),
    (
        "everything",
        "simulate-research-query",
        Skipped("it only runs as a task of MCP 2025-11-25"),
    ),
    (
        "filesystem",
        "write_file",
        Succeeds(r#"{"path":"{folder}/written.txt","content":"hello"}"#),
    ),
    (
        "filesystem",
        "edit_file",
        Succeeds(
            r#"{"path":"{folder}/written.txt","edits":[{"oldText":"hello","newText":"hello"}]}"#,
        ),
    ),
    (
        "filesystem",
        "create_directory",
        Succeeds(r#"{"path":"{folder}"}"#),
    ),
    (
        "filesystem",
        "read_media_file",
        Succeeds(r#"{"path":"{folder}/square.png"}"#),
    ),
    // Other paths start at `docs`.
    ("filesystem", "directory_tree", Succeeds(r#"{"path":"."}"#)),
    (
        "filesystem",
        "get_file_info",
        Succeeds(r#"{"path":"tools.md"}"#),
    ),
    ("filesystem", "list_directory", Succeeds(r#"{"path":"."}"#)),
    (
        "filesystem",
        "list_directory_with_sizes",
        Succeeds(r#"{"path":"."}"#),
    ),
    (
        "filesystem",
        "move_file",
        Fails(r#"{"source":"{folder}/none.txt","destination":"{folder}/moved.txt"}"#),
    ),
    (
        "filesystem",
        "read_file",
        Succeeds(r#"{"path":"tools.md"}"#),
    ),
    (
        "filesystem",
        "read_multiple_files",
        Succeeds(r#"{"paths":["tools.md"]}"#),
    ),
    (
        "filesystem",
        "read_text_file",
        Succeeds(r#"{"path":"tools.md"}"#),
    ),
    (
        "filesystem",
        "search_files",
        Succeeds(r#"{"path":".","pattern":"**/*.md"}"#),
    ),
    (
        "memory",
        "add_observations",
        Succeeds(r#"{"observations":[]}"#),
    ),
    ("memory", "create_entities", Succeeds(r#"{"entities":[]}"#)),
    (
        "memory",
        "create_relations",
        Succeeds(r#"{"relations":[]}"#),
    ),
    (
        "memory",
        "delete_entities",
        Succeeds(r#"{"entityNames":[]}"#),
    ),
    (
        "memory",
        "delete_observations",
        Succeeds(r#"{"deletions":[]}"#),
    ),
    (
        "memory",
        "delete_relations",
        Succeeds(r#"{"relations":[]}"#),
    ),
    ("memory", "open_nodes", Succeeds(r#"{"names":["ada"]}"#)),
    ("memory", "search_nodes", Succeeds(r#"{"query":"ada"}"#)),
    (
        "sequential-thinking",
        "sequentialthinking",
        Succeeds(
            r#"{"thought":"one","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":1}"#,
        ),
    ),
    (
        "time",
        "convert_time",
        Succeeds(r#"{"source_timezone":"UTC","time":"12:00","target_timezone":"Asia/Tokyo"}"#),
    ),
    (
        "time",
        "get_current_time",
        Succeeds(r#"{"timezone":"UTC"}"#),
    ),
    ("fetch", "fetch", Succeeds(r#"{"url":"{address}/health"}"#)),
];

/// What arguments can name.
pub(super) struct Places {
    address: String,
    folder: PathBuf,
}

impl Places {
    /// Makes the folder. The address is the one of the endpoint with this URL.
    pub(super) fn new(url: &str) -> anyhow::Result<Self> {
        let folder = folder()?;
        let address = url.trim_end_matches("/mcp").to_owned();
        Ok(Self { address, folder })
    }

    fn fill(&self, arguments: &str) -> String {
        let folder = self.folder.to_string_lossy();
        let arguments = arguments.replace(FOLDER, &folder);
        arguments.replace(ADDRESS, &self.address)
    }
}

/// A folder with a picture.
pub(super) fn folder() -> anyhow::Result<PathBuf> {
    let folder = target().join("clients");
    fs::create_dir_all(&folder)?;
    let picture = root().join(PICTURE);
    let name = picture.file_name().context("a file has a name")?;
    fs::copy(&picture, folder.join(name)).with_context(|| picture.display().to_string())?;
    Ok(folder)
}

/// A call of a tool.
#[derive(Debug, PartialEq)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: String,
    /// Whether the result is an error for the model.
    pub(super) fails: bool,
}

/// One call for each tool of a server, except those that are skipped. Fails if a tool with a plan does not exist, or if a tool
/// without a plan needs arguments.
pub(super) fn calls(server: &str, tools: &[Value], places: &Places) -> anyhow::Result<Vec<Call>> {
    let mut plans: BTreeMap<_, _> = plans(server).collect();
    let mut calls = Vec::new();
    for tool in tools {
        let name = tool["name"].as_str().context("a tool without a name")?;
        let (arguments, fails) = match plans.remove(name) {
            Some(Skipped(_)) => continue,
            Some(Succeeds(arguments)) => (*arguments, false),
            Some(Fails(arguments)) => (*arguments, true),
            None if needs_arguments(tool) => bail!("`{name}` needs arguments: give it a plan"),
            None => ("{}", false),
        };
        calls.push(Call {
            tool: name.to_owned(),
            arguments: places.fill(arguments),
            fails,
        });
    }
    match plans.keys().next() {
        Some(gone) => bail!("there is no tool `{gone}` any more: remove its plan"),
        None => Ok(calls),
    }
}

/// The tools of a server that are not called, and why.
pub(super) fn skipped(server: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    plans(server).filter_map(|(tool, plan)| match plan {
        Skipped(reason) => Some((tool, *reason)),
        _ => None,
    })
}

fn plans(server: &str) -> impl Iterator<Item = (&'static str, &'static Plan)> {
    let of_server = PLANS.iter().filter(move |(name, ..)| *name == server);
    of_server.map(|(_, tool, plan)| (*tool, plan))
}

fn needs_arguments(tool: &Value) -> bool {
    let required = tool["inputSchema"]["required"].as_array();
    required.is_some_and(|names| !names.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::MEMBERS;
    use super::*;

    fn places() -> Places {
        Places {
            address: "http://127.0.0.1:80".to_owned(),
            folder: "/target/clients".into(),
        }
    }

    #[test]
    fn each_server_has_a_call_that_must_succeed() {
        for server in MEMBERS {
            let mut plans = plans(server);
            assert!(
                plans.any(|(_, plan)| matches!(plan, Succeeds(_))),
                "{server}"
            );
        }
        for (server, tool, plan) in &PLANS {
            assert!(MEMBERS.contains(server), "{server}");
            if let Succeeds(arguments) | Fails(arguments) = plan {
                let arguments: Value =
                    serde_json::from_str(&places().fill(arguments)).expect("JSON");
                assert!(arguments.is_object(), "{tool}");
            }
        }
    }

    #[test]
    fn every_tool_is_called() {
        let fetch = json!({ "name": "fetch", "inputSchema": { "required": ["url"] } });
        let more = json!({ "name": "more", "inputSchema": { "type": "object" } });
        let called = calls("fetch", &[fetch, more], &places()).expect("calls");
        let call = |tool: &str, arguments: &str| Call {
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            fails: false,
        };
        let url = r#"{"url":"http://127.0.0.1:80/health"}"#;
        assert_eq!(called, [call("fetch", url), call("more", "{}")]);
    }

    #[test]
    fn a_tool_that_cannot_be_called_is_an_error() {
        let error = |tools: Value| {
            let tools = tools.as_array().expect("a list");
            calls("fetch", tools, &places())
                .expect_err("an error")
                .to_string()
        };
        assert_eq!(
            error(json!([])),
            "there is no tool `fetch` any more: remove its plan"
        );
        let more = json!({ "name": "more", "inputSchema": { "required": ["a"] } });
        assert_eq!(
            error(json!([{ "name": "fetch" }, more])),
            "`more` needs arguments: give it a plan"
        );
    }
}
