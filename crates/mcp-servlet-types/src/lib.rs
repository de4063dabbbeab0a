//! The wire types of an MCP servlet, shared by guest and host.
//!
//! They are generated from `schema.yaml`, the one description of the servlet interface, and
//! read and write the JSON that goes in and out of a servlet's exports:
//!
//! | export | input | output |
//! |---|---|---|
//! | `describe` | none | [`ServletDescription`] |
//! | `call` | [`CallToolRequest`] | [`CallToolResult`] |
//! | `list_resources` | none | [`ListResourcesResult`] |
//! | `list_resource_templates` | none | [`ListResourceTemplatesResult`] |
//! | `read_resource` | [`ReadResourceRequest`] | [`ReadResourceResult`] |
//! | `list_prompts` | none | [`ListPromptsResult`] |
//! | `get_prompt` | [`GetPromptRequest`] | [`GetPromptResult`] |
//! | `complete` | [`CompleteRequest`] | [`CompleteResult`] |
//!
//! Every field that may be absent is an `Option`, reads null as absent, and is left out when it
//! is `None`. Fields that a type does not know are ignored. What MCP leaves open (arguments,
//! schemas, `_meta`) is [`RawJson`]: text that is only looked into by whoever wants to.
//!
//! Later versions add fields. Write `..Default::default()`, or start from `new`, so that they
//! break nothing:
//!
//! ```
//! use mcp_servlet_types::{CallToolResult, Content, ContentType};
//!
//! let result = CallToolResult::new(vec![Content {
//!     text: Some("Hello".to_owned()),
//!     ..Content::new(ContentType::Text)
//! }]);
//! assert_eq!(result.is_error, None);
//! ```

mod content;
mod http;
mod prompt;
#[rustfmt::skip]
mod generated;

pub use content::base64;
pub use generated::*;
pub use http::{HTTP_ERRORS, HttpErrorKind, refused_request};
pub use mcp_servlet_json::RawJson;
