//! Loads MCP servlets, calls them and serves them to MCP clients.
//!
//! A servlet is a WebAssembly module that exports `describe` and `call`, or what hyper-mcp
//! calls; see [`Abi`]. [`Servlet::load`] checks the module,
//! compiles it and reads what it describes; [`Servlet::call`] runs one tool. A [`Host`] puts several servlets
//! behind one list of tools, and [`serve`] speaks MCP for it.
//!
//! Nothing is open by default: no network, no files, bounded memory and time. See [`LoadOptions`].
//!
//! JSON passes through as JSON. A field that this crate does not know reaches the client as the servlet wrote it;
//! integers beyond 64 bits are the one thing that is rounded.

mod abi;
mod arguments;
mod ask;
mod bounds;
pub mod bundle;
pub mod check;
mod compat;
pub mod config;
mod description;
mod engine;
mod error;
mod extras;
mod fault;
mod glob;
pub mod harness;
mod host;
mod http;
mod inspect;
mod limits;
mod load;
mod log;
mod needs;
mod notify;
mod options;
mod provider;
mod result;
mod schema;
pub mod serve;
mod servlet;
mod source;
pub mod space;
mod surface;
pub mod testbed;
mod tool;
mod wasi;
pub mod watch;

pub use abi::Abi;
pub use arguments::{
    ArgumentError, Expected, SchemaField, parse_arguments, schema_fields, schema_in_words,
    schema_type,
};
pub use bounds::LimitExceeded;
pub use engine::CompileCache;
pub use error::{CallError, LoadError};
pub use extras::Extras;
pub use fault::Fault;
pub use host::{Filter, Host, Introduction, Mount, Prefix};
pub use http::{HttpFailure, HttpRequest, HttpResponse, Proxy};
pub use inspect::{Export, Import, Module, Section, Unreadable};
pub use limits::ToolOptions;
pub use load::{Entry, Loaded, OnFailure};
pub use needs::{ConfigKey, Needs, UnmetNeeds};
pub use notify::{Listener, Notification};
pub use options::{AllowedPath, ErrorTexts, InstanceLimits, Instances, Isolation, LoadOptions};
pub use provider::{Provider, lowering_table};
pub use result::CallToolResult;
pub use schema::{CheckArguments, CheckResults, UnknownArguments};
pub use servlet::Servlet;
pub use source::{FetchError, Source, public_url};
pub use surface::Listed;
pub use tool::Tool;

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

/// A JSON object, in the order in which it was written.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;
