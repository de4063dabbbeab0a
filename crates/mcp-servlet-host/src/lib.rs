//! Loads MCP servlets, calls their tools and composes several into one list.
//!
//! [`Servlet::load`] loads a module and reads what it describes; [`Servlet::call`] calls one of its tools, with arguments
//! checked by the tool's schema. A [`Host`] puts several servlets behind one list of tools, resources and prompts.
//! `mcp-servlet-server` speaks MCP for it.
//!
//! JSON passes through as JSON. A field that this crate does not know reaches the client as the servlet wrote it;
//! integers beyond 64 bits are the one thing that is rounded.
//!
//! ```no_run
//! use mcp_servlet_host::{Servlet, runtime::LoadOptions};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let greet = Servlet::load("greet.wasm", &LoadOptions::default())?;
//! let result = greet.call("greet", json!({ "name": "Ada" }).as_object())?;
//! println!("{:?}", result.content());
//! # Ok(())
//! # }
//! ```

mod compat;
mod description;
mod error;
mod feature_kind;
mod features;
mod host;
mod load;
mod result;
mod servlet;
pub mod testbed;
mod tool;
mod unmet_needs;

pub use mcp_servlet_runtime as runtime;

pub use error::LoadError;
pub use feature_kind::FeatureKind;
pub use features::Listed;
pub use host::{Filter, Host, Introduction, MAX_NAME, Mount, Prefix, name_problem};
pub use load::{Entry, Loaded, OnFailure};
pub use result::CallToolResult;
pub use servlet::Servlet;
pub use tool::Tool;
pub use unmet_needs::{UnmetNeeds, type_in_words};

/// For the tests of this workspace; not part of the API.
#[doc(hidden)]
pub mod __private {
    /// Reads the output of `describe`, as loading a servlet does.
    ///
    /// # Errors
    /// [`crate::LoadError::Description`].
    pub fn check_description(output: Vec<u8>) -> Result<(), crate::LoadError> {
        crate::description::Description::parse("servlet", "describe", output).map(drop)
    }
}
