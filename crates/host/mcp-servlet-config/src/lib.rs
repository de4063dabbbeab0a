//! `servlet.toml`: the servlets and remotes that a server offers, its endpoints, and their limits.
//!
//! [`Config::read`] reads and checks a file. The crate `mcp-servlet-server` serves it.
//!
//! ```
//! use mcp_servlet_config::Config;
//! use mcp_servlet_server::Plan;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("servlet.toml");
//! # std::fs::write(&path, "[endpoint.pipe]\nkind = \"stdio\"\n")?;
//! let mut plan = Plan::from_config(Config::read(&path)?);
//! plan.operations = Some("127.0.0.1:9000".to_owned());
//! # Ok(())
//! # }
//! ```

mod auth;
mod bundle;
mod cache;
mod config;
mod endpoint;
mod file;
mod findings;
mod grants;
mod hooks;
mod hosts;
mod load;
mod lock;
mod members;
mod named;
mod names;
mod problem;
mod quotas;
mod read;
mod reader;
mod records;
mod registries;
mod remote;
mod rules;
mod secrets;
mod service;
mod shape;
mod state;
mod store;
mod table;
mod tools;
mod units;
mod wording;

pub use config::Config;
pub use findings::{Finding, FindingKind, Findings, Served};
pub use hosts::parse_host;
pub use lock::{Lock, LockedItem, LockedKind, LockedMember, NotCurrent, Permissions, Rights};
pub use problem::{ConfigError, Located, Position, Problem};
pub use rules::{ExplainedReject, ExplainedRule, ExplainedStep, Explanation, ServedEndpoint};
pub use units::parse_memory;

use reader::{IN_DIRECTORY, Mode, Reader};
