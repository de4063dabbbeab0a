//! The greeting as a native tool.

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

#[derive(Clone)]
pub(crate) struct Greeter;

#[tool_router]
impl Greeter {
    /// A very simple tool to provide a greeting.
    #[tool]
    fn greet(Parameters(Greet { name }): Parameters<Greet>) -> String {
        format!("Hello, {name}!")
    }
}

#[tool_handler]
impl ServerHandler for Greeter {}
