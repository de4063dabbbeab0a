//! The ABIs of servlets: the exports by which a host calls a module.

mod request;

use std::fmt;

use mcp_servlet_call::{JsonObject, RequestMeta};
use serde::Serialize;
use serde_json::json;

use crate::inspect::Module;
use request::{WithMeta, context};

/// The export of [`Abi::Servlet`] that lists tools and describes the servlet.
pub const DESCRIBE: &str = "describe";
/// The export of [`Abi::Servlet`] that calls a tool.
pub const CALL: &str = "call";

/// The counterpart of [`DESCRIBE`] in [`Abi::HyperMcpV2`], where it is optional.
pub const LIST_TOOLS: &str = "list_tools";
/// The counterpart of [`CALL`] in [`Abi::HyperMcpV2`], where it is optional.
pub(crate) const CALL_TOOL: &str = "call_tool";

/// Exports with the same name in both ABIs. One of them is enough for [`Abi::HyperMcpV2`].
pub const FEATURE_EXPORTS: [&str; 6] = [
    "complete",
    "get_prompt",
    "list_prompts",
    "list_resource_templates",
    "list_resources",
    "read_resource",
];

/// An ABI between hosts and servlets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Abi {
    /// `describe` and `call`: the ABI of mcp.run, which every host supports.
    Servlet,
    /// `list_tools`, `call_tool` and more: the second ABI of hyper-mcp.
    HyperMcpV2,
}

impl Abi {
    /// The export that lists tools and describes the servlet.
    pub fn list_tools(self) -> &'static str {
        match self {
            Self::Servlet => DESCRIBE,
            Self::HyperMcpV2 => LIST_TOOLS,
        }
    }

    /// The export that calls a tool.
    pub fn call_tool(self) -> &'static str {
        match self {
            Self::Servlet => CALL,
            Self::HyperMcpV2 => CALL_TOOL,
        }
    }

    /// The input of an export that answers a request with these parameters.
    pub fn request(self, params: &JsonObject, request_meta: &RequestMeta) -> Vec<u8> {
        let request = match self {
            Self::Servlet => Request::Servlet {
                params: WithMeta(params, request_meta),
            },
            Self::HyperMcpV2 => Request::HyperMcpV2 {
                request: params,
                context: context(request_meta),
            },
        };
        serde_json::to_vec(&request).expect("maps of strings and values are JSON")
    }

    /// The input of an export that lists something.
    pub(crate) fn list_request(self) -> Vec<u8> {
        match self {
            Self::Servlet => Vec::new(),
            Self::HyperMcpV2 => json!({ "context": context(&RequestMeta::default()) })
                .to_string()
                .into_bytes(),
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Request<'a> {
    Servlet {
        params: WithMeta<'a>,
    },
    HyperMcpV2 {
        request: &'a JsonObject,
        context: JsonObject,
    },
}

impl fmt::Display for Abi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Servlet => "servlet",
            Self::HyperMcpV2 => "hyper-mcp-v2",
        })
    }
}

impl Module {
    /// The ABI of the module. The rules are those of hyper-mcp: a module with `describe` and `call`
    /// is always an [`Abi::Servlet`].
    ///
    /// `None` if the exports match neither ABI, for example if the module has only one of
    /// `describe` and `call`.
    pub fn abi(&self) -> Option<Abi> {
        let has = |name: &&str| self.can_call(name);
        match [DESCRIBE, CALL].iter().filter(|name| has(name)).count() {
            2 => Some(Abi::Servlet),
            _ if [LIST_TOOLS, CALL_TOOL].iter().any(has) => Some(Abi::HyperMcpV2),
            0 if FEATURE_EXPORTS.iter().any(has) => Some(Abi::HyperMcpV2),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn abi(exports: &[&str]) -> Option<Abi> {
        let export = |name: &&str| format!("(func (export {name:?}) (result i32) i32.const 0)");
        let text: String = exports.iter().map(export).collect();
        let wasm = wat::parse_str(format!("(module {text})")).expect("valid text");
        Module::read(&wasm).expect("a module").abi()
    }

    #[test]
    fn exports_decide_the_abi() {
        for (exports, expected) in [
            (&["describe", "call"][..], Some(Abi::Servlet)),
            (
                &["call", "describe", "list_tools", "call_tool"],
                Some(Abi::Servlet),
            ),
            (&["describe", "call", "read_resource"], Some(Abi::Servlet)),
            (&["list_tools"], Some(Abi::HyperMcpV2)),
            (&["call_tool", "describe"], Some(Abi::HyperMcpV2)),
            (&["get_prompt"], Some(Abi::HyperMcpV2)),
            (&["call", "list_resources"], None),
            (&["render"], None),
            (&[], None),
        ] {
            assert_eq!(abi(exports), expected, "{exports:?}");
        }
    }
}
