//! Loads WebAssembly servlets, enforces their limits and calls their exports.
//!
//! [`Guest::load`] reads, checks and compiles a module. [`Guest::run`] runs one of its exports in
//! one of several instances. [`Module`] describes a module without running it. The crate
//! `mcp-servlet-host` builds on this one: it interprets what servlets return and serves several
//! servlets together.
//!
//! By default, servlets have no access to the network or to files, and their memory and time are
//! limited. See [`LoadOptions`].
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
mod callees;
mod contract;
mod engine;
mod error;
mod fault;
mod functions;
mod glob;
mod guest;
mod help;
mod http_client;
mod inspect;
mod json;
mod listener;
mod needs;
mod nursery;
mod options;
mod request_meta;
mod runtime;
mod source;
mod state;
mod text;

pub use abi::{Abi, CALL, DESCRIBE, FEATURE_EXPORTS, LIST_TOOLS};
pub use call::{
    INPUT_REQUIRED, Job, asks_client,
    journal::{MAX_STATE, MAX_STATE_TEXT},
};
pub use callees::{Answering, Callee, CalleeError, Callees};
pub use contract::{Contract, with_section};
pub use engine::{HostFunction, Messages, Plugin};
pub use error::{
    CallError, CallErrorKind, FetchError, LoadError, RegistryError, RemoteFailure, Site,
};
pub use glob::matches as glob_matches;
pub use guest::Guest;
pub use help::file_help;
pub use inspect::{EXTISM, Export, Import, LimitExceeded, Module, Section, USER, Unreadable};
pub use listener::{Change, Listener, Notification, Sending, Usage};
pub use mcp_servlet_common::{CheckArguments, JsonObject, RpcError, quoted};
pub use mcp_servlet_http::{HttpFailure, HttpRequest, HttpResponse, Proxy, SendError, TrustError};
pub use mcp_servlet_oci::VerifyingKey;
pub use mcp_servlet_types::ContentFeature;
pub use needs::{ConfigKey, Needs, config_variable, configured_host};
pub use nursery::Nursery;
#[doc(hidden)]
pub use options::Quality;
pub use options::{
    AllowedPath, CheckResults, CompileCache, ErrorTexts, Grant, InstanceLimits, Instances,
    Isolation, Limit, Limits, LoadOptions, ParseGrantError, ParseLimitError, UnknownArguments,
};
pub use request_meta::{
    CallGuard, CallMaker, CallObserver, CallTarget, ClientSession, Denied, InnerCall, InnerOutcome,
    InputTimeout, ObservedCall, RequestCaller, RequestMeta,
};
pub use runtime::{block_on, processors, run_blocking, set_on_idle};
pub use source::{Fetched, Image, Source, signature_file};
pub use text::chain;
