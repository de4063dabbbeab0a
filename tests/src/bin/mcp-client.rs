//! Calls one tool of an MCP server that it starts: `mcp-client TOOL ARGUMENTS -- COMMAND…`
#![allow(clippy::print_stdout, reason = "a command talks to people")]

use std::process::{Command, ExitCode};

use anyhow::{Context, bail};
use e2e::Client;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mcp-client: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [tool, arguments, separator, program, rest @ ..] = &*words else {
        bail!("usage: mcp-client TOOL ARGUMENTS -- COMMAND…");
    };
    if separator != "--" {
        bail!("there must be a `--` before the command, not `{separator}`");
    }
    let arguments = serde_json::from_str(arguments).context("the arguments are not JSON")?;
    let mut command = Command::new(program);
    command.args(rest);
    let client = Client::start(command)?;
    let tools = client.tools()?;
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    println!("tools/list  {}", names.join(", "));
    let result = client.call(tool, arguments)?;
    println!("tools/call  {}", serde_json::to_string(&result)?);
    client.stop()
}
