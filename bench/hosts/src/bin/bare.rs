//! A client on rmcp alone: starts a server, lists everything that it offers, and prints the lists as JSON.

#![allow(clippy::print_stdout, reason = "a command talks to people")]

use std::env::args_os;

use anyhow::Context as _;
use rmcp::ServiceExt as _;
use rmcp::transport::TokioChildProcess;
use serde_json::json;
use tokio::process::Command;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut words = args_os().skip(1);
    let mut server = Command::new(words.next().context("the command of a server is missing")?);
    server.args(words);
    let client = ().serve(TokioChildProcess::new(server)?).await?;
    let info = client.peer_info().context("the server is not known")?;
    let capabilities = info.capabilities.clone();
    let mut lists = json!({});
    if capabilities.tools.is_some() {
        lists["tools"] = json!(client.list_all_tools().await?);
    }
    if capabilities.prompts.is_some() {
        lists["prompts"] = json!(client.list_all_prompts().await?);
    }
    if capabilities.resources.is_some() {
        lists["resources"] = json!(client.list_all_resources().await?);
        lists["resourceTemplates"] = json!(client.list_all_resource_templates().await?);
    }
    println!("{}", serde_json::to_string_pretty(&lists)?);
    client.cancel().await?;
    Ok(())
}
