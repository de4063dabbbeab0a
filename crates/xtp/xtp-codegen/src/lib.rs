//! Generates Rust from XTP schemas: types, plugins, and the functions of their hosts.
//!
//! A schema is YAML or JSON in XTP's format, `v1-draft` or `v0`. Each entry of its `components.schemas` becomes a
//! type that reads and writes the same JSON.
//!
//! ```
//! use xtp_codegen::{Input, Options, generate};
//!
//! let schema = "
//! version: v1-draft
//! exports: {}
//! components:
//!   schemas:
//!     Person:
//!       description: Someone.
//!       required: [name]
//!       properties:
//!         name: {type: string}
//!         mayBe: {type: string, nullable: true}
//! ";
//! let rust = generate(&Input::new("people.yaml", schema), &Options::new())?;
//! assert!(rust.contains("pub struct Person {"));
//! assert!(rust.contains("    pub may_be: Option<String>,"));
//! # Ok::<(), xtp_codegen::Diagnostics>(())
//! ```
//!
//! Each phase is a module: read the source into nodes with positions; read the nodes into a
//! document; check; lower to types and functions with Rust names; describe the
//! types as JSON Schema; let typify find their Rust types; replace typify's names; make items;
//! print. Only `Build` and `ClientBuild`, which are for build scripts, read and write files. The same input gives
//! the same bytes.
//!
//! With the feature `client`, the module `client` generates typed clients of MCP servers.
//!
//! [`Schema::to_rust`] returns types alone. [`Schema::to_plugin`] returns a plugin: the types, a trait of its
//! exports, and functions of its imports.
//!
//! The rules that XTP publishes differ from those of the official generators' library; [`Mode`]
//! chooses between them. All problems are reported together, as [`Diagnostics`]: errors from
//! [`Schema::parse`], warnings from [`Schema::warnings`].

mod build;
mod check;
#[cfg(feature = "client")]
pub mod client;
mod diagnostic;
mod document;
mod format;
mod glue;
mod ir;
mod json_schema;
mod keywords;
mod lower;
mod names;
mod node;
mod options;
mod read;
mod rules;
mod rust_types;
mod schema;
mod servlets;
mod span;
mod suggest;
mod types;
mod typify;
mod unions;

pub use crate::build::{Build, BuildError};
pub use crate::diagnostic::{Code, Diagnostic, Diagnostics};
pub use crate::node::to_json;
pub use crate::options::{Dates, Options};
pub use crate::rules::{Mode, Severity};
pub use crate::schema::{Input, Schema, generate};
pub use crate::servlets::is_servlet_schema;
pub use crate::span::{Origin, Span};
