//! The wire types of an MCP servlet, shared by guest and host.
//!
//! They are generated from `schema.yaml`, which describes the servlet interface. They read and write the JSON of a
//! servlet's exports:
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
//! Every optional field is an `Option`. It reads null as absent, and `None` is not written. Unknown fields are ignored.
//! Values that MCP does not specify (arguments, schemas, `_meta`) are [`RawJson`]: text that is parsed only on demand.
//!
//! Later versions add fields. Write `..Default::default()`, or start from `new`, so that your code still compiles then:
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
mod content_feature;
mod http;
mod input_request;
mod prompt;
mod result;
mod tools;
#[rustfmt::skip]
mod generated;

pub use content::base64;
pub use content_feature::ContentFeature;
pub use generated::*;
pub use http::{HTTP_ALL, HTTP_ERRORS, HttpErrorKind, refused_request};
pub use input_request::InputRequestKind;
pub use mcp_servlet_json::RawJson;
pub use tools::ToolsErrorKind;

/// The custom section of modules whose results have only forms of the first interfaces of servlets.
pub const STRICT: &str = "mcp-servlet.strict";

/// The key in `_meta` of the output of `list_resources` for the number of resources with fixed URIs, which come first.
/// Functions of the servlet list the others. Without the key, all URIs are fixed.
pub const FIXED_RESOURCES: &str = "mcp-servlet/fixedResources";

/// The configuration key whose value tells a servlet that only the host sets the four keys below. Other hosts have no value for it:
/// there, a client could have written them.
pub const KEEPS_META: &str = "mcp-servlet.keeps-meta";

/// The key in `_meta` of a request for the id of the client's session.
pub const SESSION_KEY: &str = "mcp-servlet/session";
/// The key for the headers of the HTTP request that the host forwards.
pub const HEADERS_KEY: &str = "mcp-servlet/headers";
/// The key for the caller.
pub const CALLER_KEY: &str = "mcp-servlet/caller";
/// The key for the certificate of the client.
pub const CERTIFICATE_KEY: &str = "mcp-servlet/certificate";

/// The custom section of modules that use `mcp-servlet`.
pub const SDK: &str = "mcp-servlet.sdk";
