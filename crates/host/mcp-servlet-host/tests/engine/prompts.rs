//! Prompts of several servlets in one server.

use mcp_servlet_call::{CallError, RequestMeta};
use mcp_servlet_host::{Entry, Host, Listed, LoadError, Loaded, Prefix};
use mcp_servlet_runtime::{LoadOptions, Source};
use serde_json::json;

use crate::support::{DESCRIPTION, Wat};

const RETURN: &str = "(call $output {}) (i32.const 0)";

/// A servlet whose prompts return the name of the servlet.
fn entry(name: &str, prompts: &[&str]) -> Entry {
    let prompts: Vec<_> = prompts.iter().map(|name| json!({ "name": name })).collect();
    let content = json!({ "type": "text", "text": name });
    let messages = json!({ "messages": [{ "role": "user", "content": content }] });
    let wat = Wat::new()
        .describe(&DESCRIPTION.replace(r#""t""#, &json!(name).to_string()))
        .answer("{}")
        .export(
            "list_prompts",
            &json!({ "prompts": prompts }).to_string(),
            RETURN,
        )
        .export("get_prompt", &messages.to_string(), RETURN);
    let source = Source::Bytes {
        name: name.into(),
        wasm: wat.wasm(),
    };
    Entry::of(source, LoadOptions::default())
}

fn load(entries: &[Entry]) -> Result<Host, LoadError> {
    Ok(Loaded::load(entries, None)?.host)
}

fn names(host: &Host) -> Vec<&str> {
    host.prompts().map(Listed::key).collect()
}

async fn text(host: &Host, prompt: &str) -> Result<String, CallError> {
    let request_meta = RequestMeta::default();
    let result = host.get_prompt_with(prompt, None, &request_meta).await?;
    let message = result.messages().next().expect("a message");
    Ok(message.content.text().expect("text").to_owned())
}

#[tokio::test]
async fn prompts_that_two_servlets_have_get_the_names_of_their_servlets() {
    let entries = [entry("a", &["ask", "only-a"]), entry("b", &["ask"])];
    let host = load(&entries).expect("a host");
    assert_eq!(names(&host), ["a_ask", "only-a", "b_ask"]);
    let listed: Vec<_> = host
        .prompts()
        .map(|prompt| &prompt.json()["name"])
        .collect();
    assert_eq!(listed, ["a_ask", "only-a", "b_ask"]);
    for (prompt, servlet) in [("a_ask", "a"), ("b_ask", "b"), ("only-a", "a")] {
        assert_eq!(text(&host, prompt).await.expect("messages"), servlet);
    }
    let error = text(&host, "ask").await.expect_err("whose?");
    assert_eq!(error.to_string(), "unknown prompt `ask`");
}

#[test]
fn entry_sets_the_prefix() {
    let mut entries = [entry("a", &["ask"]), entry("b", &["ask"])];
    entries[0].prefix = Prefix::Name(Some("x".into()));
    entries[1].prefix = Prefix::Never;
    assert_eq!(names(&load(&entries).expect("a host")), ["x_ask", "ask"]);
}

#[tokio::test]
async fn the_first_of_two_servlets_keeps_a_name() {
    let mut entries = [entry("a", &["ask"]), entry("b", &["ask"])];
    for entry in &mut entries {
        entry.prefix = Prefix::Never;
    }
    let host = load(&entries).expect("a host");
    assert_eq!(names(&host), ["ask"]);
    assert_eq!(text(&host, "ask").await.expect("messages"), "a");
    let problem = host.problems().last().expect("a warning");
    assert_eq!(
        problem.to_string(),
        "prompt `ask` of `b` is skipped: `a` already has the prompt `ask`"
    );
    assert!(problem.help().is_some_and(|help| help.contains("prefix")));
}
