//! Loads WebAssembly servlets, enforces their limits and calls their exports.
//!
//! [`Guest::load`] reads, checks and compiles a module. [`Guest::run`] runs one of its exports in
//! one of several instances. [`Module`] describes a module without running it. The crate
//! `mcp-servlet-host` builds on this one: it interprets what servlets return and serves several
//! servlets together.
//!
//! By default, servlets have no access to the network or to files, and their memory and time are
//! limited. See [`LoadOptions`]. The types of requests, limits, notifications and errors of calls are in the crate
//! [`mcp_servlet_call`].
//!
//! ```
//! use mcp_servlet_runtime::{Guest, LoadOptions, Source, block_on};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let wasm = wat::parse_str(r#"(module
//! #     (func (export "describe") (result i32) i32.const 0)
//! #     (func (export "call") (result i32) i32.const 0))"#)?;
//! let source = Source::Bytes { name: "empty".to_owned(), wasm }; // or `"greet.wasm"`, its path
//! let guest = Guest::load(source, &LoadOptions::default())?;
//! let output = block_on(guest.run(guest.job("call", b"{}".to_vec())))?; // or `.await`
//! assert!(output.is_empty());
//! # Ok(())
//! # }
//! ```

mod abi;
mod call;
mod contract;
mod engine;
mod error;
mod fault;
mod functions;
mod glob;
mod guest;
mod http_client;
mod inspect;
mod json;
mod needs;
mod options;
mod runtime;
mod source;
mod state;
mod text;

pub use abi::{Abi, CALL, DESCRIBE, FEATURE_EXPORTS, LIST_TOOLS};
pub use call::{
    Job,
    journal::{MAX_STATE, MAX_STATE_TEXT},
};
pub use contract::{Contract, with_section};
pub use engine::{HostFunction, Messages, Plugin};
pub use error::{FetchError, LoadError, RegistryError};
pub use glob::matches as glob_matches;
pub use guest::Guest;
pub use inspect::{EXTISM, Export, Import, LimitExceeded, Module, Section, USER, Unreadable};
pub use mcp_servlet_common::CheckArguments;
pub use mcp_servlet_http::{Proxy, SendError, TrustError};
pub use mcp_servlet_oci::VerifyingKey;
pub use mcp_servlet_types::ContentFeature;
pub use needs::{ConfigKey, Needs, config_variable, configured_host};
#[doc(hidden)]
pub use options::Quality;
pub use options::{
    AllowedPath, CheckResults, CompileCache, ErrorTexts, Grant, InstanceLimits, Instances,
    Isolation, LoadOptions, ParseGrantError, UnknownArguments,
};
pub use runtime::{block_on, processors, run_blocking, set_on_idle};
pub use source::{Fetched, Image, Source, signature_file};
