//! Generates Rust types from XTP schemas.
//!
//! A schema is YAML or JSON in the language of XTP `v1-draft`; each entry of its
//! `components.schemas` becomes a struct or an enum that reads and writes the same JSON.
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
//! The phases, each with a module of its own, are: read the text into nodes with places, read
//! the nodes into a document, apply the overlay, check, lower to types in the order of the
//! schema, describe these as JSON Schema, have typify generate Rust, polish and print it. The
//! library reads and writes no files, and gives the same bytes for the same input.
//!
//! What XTP has and this generator does not yet (inline enums and objects, schemas that are
//! neither, buffers, version `v0`) is reported where it stands. So is everything else that
//! cannot be right; all problems come at once, as [`Diagnostics`].

mod check;
mod diagnostic;
mod document;
mod format;
mod ir;
mod json_schema;
mod keywords;
mod lower;
mod names;
mod node;
mod options;
mod overlay;
mod read;
mod rules;
mod schema;
mod span;
mod spell;
mod types;
mod typify;

pub use crate::diagnostic::{Code, Diagnostic, Diagnostics};
pub use crate::options::{Dates, Options};
pub use crate::rules::{Mode, Severity};
pub use crate::schema::{Input, Schema, generate};
pub use crate::span::{Origin, Span};
