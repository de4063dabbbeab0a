//! Validates JSON against the schemas of MCP tools, and explains in words what is wrong.
//!
//! [`Schemas`] checks the arguments and results of a tool, and [`Validator`] any value. [`parse_arguments`] reads
//! arguments as a person types them, `key=value`, according to the tool's schema. [`lower`] rewrites a schema into one
//! that a model [`Provider`] accepts.
//!
//! ```
//! use mcp_servlet_schema::Schemas;
//! use serde_json::json;
//!
//! let tool = json!({ "inputSchema": { "properties": { "city": { "type": "string" } } } });
//! let schemas = Schemas::of(tool.as_object().unwrap()).unwrap();
//! let problem = schemas.arguments(false, json!({ "city": 7 }).as_object()).unwrap_err();
//! assert!(problem.starts_with("invalid arguments: `/city` must match"), "{problem}");
//! ```

mod arguments;
mod keywords;
mod problem;
mod provider;
mod text;
mod validate;

pub use arguments::{
    ArgumentError, Choice, Expected, SchemaField, as_typed, parse_arguments, parse_value,
    schema_fields, schema_in_words, schema_type,
};
pub use keywords::{LIST, MAP, SCHEMA};
pub use mcp_servlet_common::{JsonObject, escape_pointer};
pub use problem::Problem;
pub use provider::{
    BOUNDS, GEMINI_KEYWORDS, MAX_DESCRIPTION, MAX_SAFE_INTEGER, Provider, Undo, lower,
    lowering_table,
};
pub use text::{did_you_mean, expected, kind, similar};
pub use validate::{
    Schemas, Validator, example, is_well_formed, matches, referenced, refers_to_itself, unchecked,
};
