//! Loads MCP servlets, calls their tools and combines several servlets into one list.
//!
//! [`Servlet::load`] loads a module and reads its description. [`Servlet::call`] checks arguments
//! against the schema of a tool and calls it. Calls are asynchronous; programs without an asynchronous runtime make them with
//! [`block_on`](runtime::block_on). A [`Host`] combines several servlets into one list of
//! tools, resources and prompts. The crate `mcp-servlet-server` serves a host over MCP.
//!
//! The types of requests, limits and errors are in [`call`], and the options of a servlet are in [`runtime`].
//!
//! JSON passes through unchanged: clients also get fields that this crate does not know. Only
//! integers beyond 64 bits are rounded.
//!
//! ```
//! use mcp_servlet_host::{
//!     Servlet,
//!     runtime::{LoadOptions, block_on},
//! };
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let wasm = wat::parse_file("tests/greet.wat")?;
//! # let folder = tempfile::tempdir()?;
//! # std::env::set_current_dir(&folder)?;
//! # std::fs::write("greet.wasm", wasm)?;
//! let greet = Servlet::load("greet.wasm", &LoadOptions::default())?;
//! let result = block_on(greet.call("greet", json!({ "name": "Ada" }).as_object()))?; // or `.await`
//! assert_eq!(result.text(), "Hello, Ada!");
//! # Ok(())
//! # }
//! ```

mod circle;
mod compat;
mod content;
mod contract;
mod described;
mod description;
mod error;
mod feature_kind;
mod features;
mod host;
mod load;
mod lock;
mod member;
mod remote;
mod result;
mod search;
mod servlet;
mod shape;
mod tool;
mod unmet_needs;

pub use mcp_servlet_bundle as bundle;
pub use mcp_servlet_call as call;
pub use mcp_servlet_runtime as runtime;

pub use circle::{PossibleCall, circle_of_calls};
pub use content::{Content, PromptMessage, ResourceContents, ResourceData};
pub use error::{LoadError, unknown_prompt, unknown_tool};
pub use feature_kind::{FeatureKind, FeatureList};
pub use features::Listed;
pub use host::{
    ApprovedNames, Filter, Host, INPUT_ROUNDS, Introduction, MAX_NAME, Mount, Offer, PlacedTool,
    Prefix, Recorder, VirtualStep, VirtualToolError, name_problem, single_name_problem,
};
pub use load::{Entry, FailedLoad, Loaded, OnFailure};
pub use lock::{LockedLists, OnChange, ServletLock};
pub use member::{Member, Relisted, RemoteMember};
pub use remote::{Answer, HiddenEntry, Remote, RemoteLists, ResourceWatch};
pub use result::{CallToolResult, CompleteResult, GetPromptResult, ReadResourceResult};
pub use search::{CALL_READ_ONLY_TOOL, CALL_TOOL, FIND_TOOLS, NAMES_OF_SEARCH, Search, SearchCall};
pub use servlet::Servlet;
pub use shape::{InvalidShapePath, Shape, ShapePath, ShapeProblem};
pub use tool::Tool;
pub use unmet_needs::{UnmetNeeds, is_placeholder, type_in_words};

/// For the tests of this workspace; not part of the API.
#[doc(hidden)]
pub mod __private {
    /// Parses the output of `describe` in the way in which a servlet is loaded.
    ///
    /// # Errors
    /// [`crate::LoadError::Description`].
    pub fn check_description(output: Vec<u8>) -> Result<(), crate::LoadError> {
        crate::description::Description::parse("servlet", "describe", output).map(drop)
    }
}
