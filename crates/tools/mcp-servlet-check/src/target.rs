//! The known hosts, and the imports that each of them provides.

use mcp_servlet_runtime::{Import, USER};
use serde::Serialize;

/// A host that loads servlets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Target {
    /// mcp.run, with the ABI that it published.
    #[serde(rename = "mcp.run")]
    McpRun,
    /// hyper-mcp. It detects its first or second ABI from the exports of a module.
    #[serde(rename = "hyper-mcp")]
    HyperMcp,
    /// The host of this project.
    #[serde(rename = "mcp-servlet")]
    McpServlet,
}

/// Host functions of hyper-mcp, in both of its ABIs.
const HYPER_MCP_FUNCTIONS: [&str; 12] = [
    "create_elicitation",
    "create_message",
    "get_access_token",
    "get_keyring_secret",
    "list_roots",
    "notify_logging_message",
    "notify_progress",
    "notify_prompt_list_changed",
    "notify_resource_list_changed",
    "notify_resource_updated",
    "notify_tool_list_changed",
    "notify_url_elicitation_completed",
];

impl Target {
    /// All hosts.
    pub const ALL: [Self; 3] = [Self::McpRun, Self::HyperMcp, Self::McpServlet];

    /// The name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::McpRun => "mcp.run",
            Self::HyperMcp => "hyper-mcp",
            Self::McpServlet => "mcp-servlet",
        }
    }

    /// Whether the host provides an import. For WASI, the runtime decides which functions exist.
    pub(super) fn provides(self, import: &Import) -> bool {
        match self {
            Self::McpServlet => import.is_known(),
            Self::HyperMcp if import.module == USER => {
                HYPER_MCP_FUNCTIONS.contains(&import.name.as_str())
            }
            Self::McpRun | Self::HyperMcp => import.is_common(),
        }
    }
}

#[cfg(test)]
mod tests {
    use mcp_servlet_runtime::EXTISM;

    use super::*;

    fn provided(module: &str, name: &str) -> [bool; 3] {
        let import = Import {
            module: module.to_owned(),
            name: name.to_owned(),
        };
        Target::ALL.map(|target| target.provides(&import))
    }

    #[test]
    fn hosts_provide_the_functions_that_they_have() {
        assert_eq!(provided(EXTISM, "var_get"), [true; 3]);
        assert_eq!(provided(EXTISM, "brew_coffee"), [false; 3]);
        assert_eq!(provided("wasi_snapshot_preview1", "random_get"), [true; 3]);
        assert_eq!(provided(USER, "notify_progress"), [false, true, true]);
        assert_eq!(provided(USER, "get_keyring_secret"), [false, true, false]);
        assert_eq!(provided("__wbindgen_placeholder__", "x"), [false; 3]);
    }
}
