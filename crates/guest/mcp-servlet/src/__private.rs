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

pub use crate::answer::error::{Conversion, converted, converted_by};
pub use crate::answer::tool_result::ToolResult;
pub use crate::arguments::from_text::{from_str, from_text};
pub use crate::arguments::{
    Argument, Arguments, Failure, Field, Parameters, Whole, argument, argument_or_context,
    default_of, schemars_argument, schemars_whole, whole, whole_of,
};
pub use crate::const_text::text;
pub use crate::describe::completion::{Completed, CompletionDef, Target};
pub use crate::describe::exported::{Exported, Item, Kind, Runs, entries, kind};
pub use crate::describe::needs::{
    Needs, check_call, check_config, check_config_host, check_host, check_path, check_read,
};
pub use crate::describe::presentation::{Meta, PageUi, StaticIcon, ToolUi};
pub use crate::describe::presentation::{Presentation, Ui, check_icons, check_meta, check_tool_ui};
pub use crate::describe::prompt::PromptDef;
pub use crate::describe::render::Description;
pub use crate::describe::render::lists::List;
pub use crate::describe::resource::template::{Operator, Part};
pub use crate::describe::resource::{ResourceDef, ResourceEntry, Template};
pub use crate::describe::tool::{ToolDef, ToolHints};
pub use crate::describe::unique::{unique_completion, unique_prompt, unique_resource, unique_tool};
pub use crate::dispatch::features::{Features, Lists};
pub use crate::host::context::Context;
pub use crate::host::context::config::config_node;
pub use crate::returns::completion::{CompletionReturns, completion_returns};
pub use crate::returns::parts::{TextPage, Texts, texts};
pub use crate::returns::placeholder;
pub use crate::returns::prompt::{PromptResult, PromptReturns, prompt_returns};
pub use crate::returns::resource::{ResourceResult, ResourceReturns, resource_returns};
pub use crate::returns::resource_list::{ListResources, listed};
pub use crate::returns::tool::{ToolReturns, returns};
pub use crate::schema::optional::{NotOptional, Optional};
pub use crate::schema::scalar::Scalar;
pub use crate::schema::{Limits, Node, Property, Schema, hides_default};

#[cfg(target_family = "wasm")]
pub use crate::answer::error::set_conversion;
#[cfg(target_family = "wasm")]
pub use crate::dispatch::exports::{
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
