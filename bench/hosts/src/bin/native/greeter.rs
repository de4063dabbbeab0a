//! The greeting as a native tool, and a tool that takes a known time.

use std::time::Duration;

use rmcp::ServerHandler;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::{tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// the name of the person to greet
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Wait {
    /// how long, in microseconds
    microseconds: u64,
}

#[derive(Clone)]
pub(crate) struct Greeter;

#[tool_router]
impl Greeter {
    /// A very simple tool to provide a greeting.
    #[tool]
    fn greet(Parameters(Greet { name }): Parameters<Greet>) -> String {
        format!("Hello, {name}!")
    }

    /// Answers after a while.
    #[tool(annotations(read_only_hint = true))]
    async fn wait(&self, Parameters(Wait { microseconds }): Parameters<Wait>) -> String {
        tokio::time::sleep(Duration::from_micros(microseconds)).await;
        "done".to_owned()
    }
}

#[tool_handler]
impl ServerHandler for Greeter {}
