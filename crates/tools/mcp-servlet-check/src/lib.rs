//! Checks how hosts treat a servlet: whether they load it, what they drop, and which rules of
//! clients it breaks.
//!
//! One table, `feature.rs`, contains what each host does with each feature. [`table`] prints it.
//!
//! ```
//! use mcp_servlet_check::{Target, check};
//! use mcp_servlet_runtime::{LoadOptions, Source};
//!
//! let wasm = b"\0asm\x01\0\0\0".to_vec();
//! let empty = Source::Bytes { name: "empty".to_owned(), wasm };
//! let report = check(empty, &LoadOptions::default(), &Target::ALL, &[])?;
//! assert!(report.loads_in.is_empty(), "it exports nothing");
//! # Ok::<(), mcp_servlet_host::LoadError>(())
//! ```

mod collision;
mod description;
mod dropped;
mod feature;
mod finding;
mod findings;
mod lists;
mod load;
mod name;
mod needs;
mod provider;
mod registry;
mod report;
mod resource;
mod schema;
mod size;
mod target;

pub use collision::check_all;
pub use feature::table;
pub use finding::{Finding, Level, Location};
pub use provider::rules_table;
pub use registry::{check_parts_of_server_json, check_server_json};
pub use report::{Report, check, check_server, report_of_server_json};
pub use target::Target;
