//! Prints every answer.

use std::fmt::Debug;

use mcp_servlet::{HttpErrorKind, HttpResponse, ToolsError, ToolsErrorKind};
use mcp_servlet::testing::Client;
use serde_json::json;
use trip::SERVLET;

fn show(answer: impl Debug) {
    println!("\nanswer: {answer:?}");
}

#[mcp_servlet::test]
fn lists(client: &Client) {
    show(client.describe());
    show(client.list_resources());
    show(client.list_resource_templates());
    show(client.list_prompts());
    show(client.request("list_prompts", ""));
    show(client.request("nothing", ""));
}

#[mcp_servlet::test]
fn tools(client: &Client) {
    let ada = client.with_config("user", "ada").with_client("ide", "1");
    show((client.call("who", json!({})), ada.call("who", json!({}))));
    show((client.call("refuse", json!({})), client.call("nothing", json!({}))));
    show((client.call("count", json!({})), client.call("count", json!({})), ada.call("count", json!({}))));
}

#[mcp_servlet::test]
fn network(client: &Client) {
    let page = HttpResponse::new(200, "sun \u{2600}").with_header("content-type", "text/plain");
    let client = client.with_recorded_http([
        ("POST https://weather.example/Rome?days=1", page),
        ("POST https://weather.example/Oslo?days=1", HttpResponse::new(503, "later")),
    ]);
    show(client.call("weather", json!({ "city": "Rome" })));
    show(client.call("weather", json!({ "city": "Oslo" })));
    show(client.requests());
    show(client.call("smuggle", json!({ "header": "Content-Length" })));
}

#[mcp_servlet::test]
fn broken_network(client: &Client) {
    for kind in HttpErrorKind::ALL {
        let client = client.with_recorded_http([("POST https://weather.example/Rome?days=1", kind)]);
        show(client.call("weather", json!({ "city": "Rome" })));
    }
}

#[mcp_servlet::test]
fn other_servers(client: &Client) {
    let client = client
        .with_resource("docs", "file:///rules.md", "Be polite.")
        .with_tool("weather:words", |_| Ok("sunny"));
    let warm = client.with_tool("weather:degrees", |_| Ok(21));
    show(warm.call("forecast", json!({ "city": "Rome" })));
    show(warm.calls());
    let busy = || ToolsError::new("try later").with_kind(ToolsErrorKind::Busy);
    let busy = client.with_tool("weather:degrees", move |_| Err::<(), _>(busy()));
    show(busy.call("forecast", json!({ "city": "Rome" })));
    let words = client.with_tool("weather:degrees", |_| Ok("warm"));
    show(words.call("forecast", json!({ "city": "Rome" })));
}

#[mcp_servlet::test]
fn questions(client: &Client) {
    let client = client
        .with_form("dates", json!({ "from": "2026-12-24", "nights": 2 }))
        .with_form("name", json!({ "name": "Ada" }))
        .with_sample("poem", "Roses are red")
        .with_roots("places", ["file:///a", "file:///b"])
        .with_meta("progressToken", 7);
    show(client.call("plan", json!({})));
    show((client.input_requests(), client.progress(), client.client_logs()));
    show(client.with_declined_form("dates").with_cancelled_form("name").call("plan", json!({})));
    show(client.with_capabilities(&[]).call("plan", json!({})));
    show(client.without_capabilities().call("plan", json!({})));
    show(client.get_prompt("ask", json!({ "city": "Rome" })));
}

#[mcp_servlet::test]
fn resources(client: &Client) {
    show((
        client.read_resource("trip://picture"),
        client.read_resource("trip://city/New%20York"),
        client.read_resource("trip://city/Atlantis"),
        client.complete_prompt("ask", "city", "p"),
        client.complete_resource("trip://city/{name}", "name", "ro"),
        client.complete_prompt("ask", "nothing", ""),
        client.get_prompt("nothing", json!({})),
    ));
}
