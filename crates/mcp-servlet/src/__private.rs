//! What expansions of the macros call. Not part of the API: it changes without notice.

pub use mcp_servlet_types;
pub use serde;

pub use crate::arguments::{Argument, Arguments, Field, Whole, argument, whole, whole_of};
pub use crate::context::Context;
pub use crate::error::Failure;
pub use crate::presentation::Presentation;
pub use crate::result::{Returns, ToolResult, returns};
pub use crate::schema::render::Description;
pub use crate::schema::{Node, Property, Schema};
pub use crate::tool::{Entry, Hints, Parameters, Tool, ToolDef, stand_in};

#[cfg(target_family = "wasm")]
pub use crate::exports::{call, describe};

/// What generated plugins call.
#[cfg(feature = "xtp")]
pub mod xtp {
    #[cfg(target_family = "wasm")]
    pub use crate::xtp::call::serve;
    pub use crate::xtp::host::*;
}
