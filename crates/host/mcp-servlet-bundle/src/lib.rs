//! Virtual tools: calls of MCP tools with mapped arguments, results and errors.
//!
//! A virtual tool calls a handler: a tool of a servlet or remote. A virtual tool with steps calls several tools and reads resources
//! instead. It makes their arguments from its own, and can replace the result and the errors. The values are JSON with expressions
//! in the Common Expression Language, such as `"${{ request.arguments.city }}"`.
//!
//! [`VirtualTool::compile`] compiles the expressions, and [`VirtualTool::prove`] checks that the tool fits its handlers. A [`Run`]
//! says which calls of a tool with steps may begin. [`Proven::inputs`] and [`Proven::result`] run before and after the call of a
//! handler. This crate calls nothing itself. The work of the expressions of one call is
//! limited by a [`Budget`].
//!
//! ```
//! use mcp_servlet_bundle::{Budget, CheckArguments, Request, Session, Spec, VirtualTool};
//! # use serde_json::{Map, json};
//! # let handler = json!({
//! #     "name": "say",
//! #     "inputSchema": {
//! #         "type": "object",
//! #         "properties": { "text": { "type": "string" }, "loud": { "type": "boolean" } },
//! #         "required": ["text"]
//! #     }
//! # });
//! # let handler = handler.as_object().unwrap();
//! # let arguments = json!({ "text": "hi" });
//! # let none = Map::new();
//! # let request = Request {
//! #     name: "shout",
//! #     arguments: arguments.as_object(),
//! #     meta: &none,
//! #     session: &Session::default(),
//! # };
//! let inputs = json!({ "text": "${{ request.arguments.text }}", "loud": true });
//! let mut spec = Spec::default();
//! spec.name = "shout".to_owned();
//! spec.handler = Some("echo:say".to_owned());
//! spec.inputs = inputs.as_object().cloned();
//! let tool = VirtualTool::compile(&spec, &mut |text| Ok(text.to_owned())).unwrap();
//!
//! let tool = tool.prove(&[handler]).unwrap();
//! let checks = CheckArguments::Check;
//! let inputs = tool.inputs(0, None, &request, &none, checks, &mut Budget::default()).unwrap();
//! assert_eq!(inputs, json!({ "text": "hi", "loud": true }).as_object().cloned());
//! ```

mod call;
mod code;
mod constant;
mod expressions;
mod input_schema;
mod names;
mod problem;
mod prove;
mod proven;
mod request_text;
mod run;
mod spec;
mod step;
mod template;
mod thrown;
mod values;

pub use call::{Begin, Refused, Request, Session};
pub use mcp_servlet_common::{CheckArguments, FailureKind, JsonObject, RpcError};
pub use mcp_servlet_expression::{Budget, MAX_STEPS, MAX_TIME};
pub use problem::{Place, PlacePart, Problem};
pub use proven::Proven;
pub use request_text::{NoText, RequestText, Requested};
pub use run::{Call, MAX_RUNNING, Run, TooLarge};
pub use spec::{CatchSpec, ErrorSpec, Spec, StepSpec, VirtualTool};
pub use step::{Handler, Resource, Step, Target};
pub use template::Expand;
pub use thrown::Thrown;
