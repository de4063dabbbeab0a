//! What an MCP server offers, in one normal form.
//!
//! [`Lists`] has the lists of one server: its tools, resources, resource templates and prompts, entry by
//! entry as JSON text. A [`Catalog`] is made of it: a list of [`Item`]s of one shape, and
//! [`Diagnostic`]s for everything that is wrong. A wrong entry hides no other.
//!
//! ```
//! use mcp_catalog::{Catalog, Lists};
//!
//! # let text = r#"{
//! #     "protocol": "2025-11-25",
//! #     "server": { "info": { "name": "weather", "version": "1.0.0" }, "capabilities": { "tools": {} } },
//! #     "tools": [{
//! #         "name": "forecast",
//! #         "description": "The weather of tomorrow.",
//! #         "inputSchema": { "type": "object", "properties": { "city": { "type": "string" } } }
//! #     }]
//! # }"#;
//! let lists: Lists = serde_json::from_str(text)?;
//! let mut catalog = Catalog::from(&lists);
//! catalog.check_schemas();
//!
//! assert_eq!(catalog.items[0].name, "forecast");
//! assert!(catalog.diagnostics.is_empty());
//! println!("{}", serde_json::to_string_pretty(&catalog)?);
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! [`Catalog::to_openapi`] makes an OpenAPI document of a catalog, and [`Catalog::to_lists`] the lists again.
//!
//! The crate reads and writes no files, opens no connections and runs nothing. Schemas are checked
//! offline and within limits. A catalog as JSON can be read back; `docs/catalog.md` describes the
//! format, and `docs/catalog.schema.json` is its JSON Schema.
//!
//! # Features
//!
//! - `validate` (default): [`Catalog::check_schemas`] and [`Schema::validator`]. Without it, the crate
//!   does not depend on a JSON Schema validator.

#[cfg(feature = "validate")]
mod check;
mod normal;
mod openapi;

mod entries;
mod entry;
mod names;
mod prompt;
mod ui;

mod catalog;
mod diagnostic;
mod lists;

mod canonical;
mod duplicates;
mod finding;
mod hidden;
mod rounded;
mod shallow;
mod template;

pub use canonical::canonical_json;
pub use catalog::{
    Catalog, Detail, Item, Meta, Prompt, Resource, ResourceTemplate, Schema, Server, Tool, Ui,
};
pub use diagnostic::{Diagnostic, ItemKey, ItemKind, Severity, code};
pub use duplicates::repeated_member;
pub use hidden::{hidden_characters, hidden_indices};
pub use lists::{ListProblem, Lists, ServerText};
pub use mcp_servlet_common::JsonObject;
pub use openapi::OpenApi;

#[cfg(doctest)]
#[doc = include_str!("../../../../docs/catalog.md")]
struct Documents;
