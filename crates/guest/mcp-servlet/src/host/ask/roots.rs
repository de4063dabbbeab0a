//! The roots of the client.

use mcp_servlet_json::from_str;
use mcp_servlet_types::InputRequestKind;

use super::{InputRequest, begin};
use crate::json::{Children, member};

/// A request for the client's roots; see [`roots`].
#[derive(Debug, Clone)]
pub struct Roots {
    key: String,
}

/// The directories or other locations that the client works in.
pub fn roots(key: impl Into<String>) -> Roots {
    Roots { key: key.into() }
}

/// A directory or another location that the client works in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Its URI, usually `file://…`.
    pub uri: String,
    /// Its name for people.
    pub name: Option<String>,
}

impl InputRequest for Roots {
    type Response = Vec<Root>;

    const KIND: InputRequestKind = InputRequestKind::Roots;

    fn key(&self) -> &str {
        &self.key
    }

    fn request(&self) -> String {
        let mut json = begin::<Self>();
        json.push('}');
        json
    }

    #[cfg(all(mcp_servlet_abi = "hyper-mcp-v2", target_family = "wasm"))]
    fn put(&self, _: &str) -> String {
        crate::host::abi::list_roots()
    }

    fn read(&self, response: &str) -> Option<Vec<Root>> {
        let list = member(response, "roots");
        if !list.starts_with('[') {
            return None;
        }
        let roots = Children::new(list).map(|(_, root)| {
            Some(Root {
                uri: from_str(member(root, "uri")).ok()?,
                name: from_str(member(root, "name")).ok(),
            })
        });
        roots.collect()
    }
}
