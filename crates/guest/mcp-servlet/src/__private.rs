//! The items that the macros' expansions use. Not part of the API: they change without notice.

pub use mcp_servlet_macros::__export as export;
// One macro under several names: rustc repeats the name in an error about a function without the attribute.
pub use mcp_servlet_macros::{
    __marker as each_function_needs_completion_attribute,
    __marker as each_function_needs_prompt_attribute,
    __marker as each_function_needs_resource_attribute,
    __marker as each_function_needs_tool_attribute,
};
pub use mcp_servlet_types;
pub use mcp_servlet_types::Completion;
pub use serde;

pub use crate::arguments::{
    Argument, Arguments, Failure, Field, Parameters, Whole, argument, argument_or_context,
    default_of, schemars_argument, schemars_whole, whole, whole_of,
};
pub use crate::completion::{
    Completed, CompletionDef, CompletionReturns, Target, completion_returns,
};
pub use crate::const_text::text;
pub use crate::context::Context;
pub use crate::error::{Conversion, converted, converted_by};
pub use crate::exported::{Exported, Item, Kind, Runs, entries, kind};
pub use crate::features::{Features, Lists};
pub use crate::from_text::{from_str, from_text};
pub use crate::needs::{
    Needs, check_call, check_config, check_config_host, check_host, check_path, check_read,
    config_node,
};
pub use crate::parts::{Excerpt, Texts, texts};
pub use crate::presentation::{Meta, PageUi, StaticIcon, ToolUi};
pub use crate::presentation::{Presentation, Ui, check_icons, check_meta, check_tool_ui};
pub use crate::prompt::{PromptDef, PromptResult, PromptReturns, prompt_returns};
pub use crate::render::Description;
pub use crate::render::lists::List;
pub use crate::resource::template::{Operator, Part};
pub use crate::resource::{
    ListResources, ResourceDef, ResourceEntry, ResourceResult, ResourceReturns, Template, listed,
    resource_returns,
};
pub use crate::result::{ToolReturns, returns};
pub use crate::returns::placeholder;
pub use crate::schema::optional::{NotOptional, Optional};
pub use crate::schema::scalar::Scalar;
pub use crate::schema::{Limits, Node, Property, Schema, hides_default};
pub use crate::tool::{Hints, ToolDef};
pub use crate::tool_result::ToolResult;
pub use crate::unique::{unique_completion, unique_prompt, unique_resource, unique_tool};

#[cfg(target_family = "wasm")]
pub use crate::error::set_conversion;
#[cfg(target_family = "wasm")]
pub use crate::exports::{
    call, complete, describe, get_prompt, list_prompts, list_resource_templates, list_resources,
    read_resource,
};
#[cfg(not(target_family = "wasm"))]
pub use crate::testing::run as test;

/// The items that generated plugins use.
#[cfg(feature = "xtp")]
pub mod xtp {
    #[cfg(target_family = "wasm")]
    pub use crate::xtp::call::serve;
    pub use crate::xtp::host::*;
}
