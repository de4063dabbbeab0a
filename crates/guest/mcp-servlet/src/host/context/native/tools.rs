//! Tools and resources of other servers in native tests.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use mcp_servlet_json::{RawJson, from_str};

use super::Host;
use crate::json::member;

/// What a test prepared, and the calls of the servlet.
#[derive(Clone, Default)]
pub(crate) struct PreparedTools {
    /// By name: `MEMBER:TOOL`.
    pub(crate) tools: BTreeMap<String, ToolAnswer>,
    /// The answers of resources, as JSON, by `MEMBER:URI`.
    pub(crate) resources: BTreeMap<String, String>,
    /// Names and arguments.
    pub(crate) calls: Vec<(String, RawJson)>,
}

impl PreparedTools {
    pub(crate) fn is_prepared(&self) -> bool {
        !(self.tools.is_empty() && self.resources.is_empty())
    }
}

/// Answers the arguments of a call like a host, in JSON.
pub(crate) type ToolAnswer = Rc<RefCell<dyn FnMut(RawJson) -> String>>;

impl Host {
    /// Answers a request in JSON, as `call_tool` does in the wasm.
    ///
    /// # Panics
    ///
    /// If the test has prepared no such tool or resource.
    pub(crate) fn call_tool(&self, request: &str) -> String {
        let params = member(request, "params");
        let text = |name| from_str::<String>(member(params, name)).unwrap_or_default();
        if member(request, "method") == "\"resources/read\"" {
            let name = format!("{}:{}", text("member"), text("uri"));
            let answer = self.state().tools.resources.get(&name).cloned();
            return answer.unwrap_or_else(|| {
                panic!("the test has no resource `{name}`: see `Client::with_resource`")
            });
        }
        let name = text("name");
        let arguments =
            RawJson::parse(member(params, "arguments")).unwrap_or_else(|_| RawJson::object());
        let Some(answer) = self.state().tools.tools.get(&name).cloned() else {
            panic!("the test has no tool `{name}`: see `Client::with_tool`");
        };
        let call = (name, arguments.clone());
        self.state_mut().tools.calls.push(call);
        let mut answer = answer.borrow_mut();
        answer(arguments)
    }
}
