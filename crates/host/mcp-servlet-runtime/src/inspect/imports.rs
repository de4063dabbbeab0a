//! The functions that hosts provide and servlets import.

use super::{Import, Module};

/// The module name of Extism's functions in the imports of servlets.
pub const EXTISM: &str = "extism:host/env";
/// The module name of hyper-mcp's functions in the imports of servlets.
pub const USER: &str = "extism:host/user";
pub(crate) const WASI: &str = "wasi_snapshot_preview1";

pub(crate) const ELICITATION_COMPLETE: &str = "notify_url_elicitation_completed";
pub(crate) const MESSAGE: &str = "notify_logging_message";
pub(crate) const PROGRESS: &str = "notify_progress";
pub(crate) const PROMPTS_CHANGED: &str = "notify_prompt_list_changed";
pub(crate) const RESOURCE_UPDATED: &str = "notify_resource_updated";
pub(crate) const RESOURCES_CHANGED: &str = "notify_resource_list_changed";
pub(crate) const TOOLS_CHANGED: &str = "notify_tool_list_changed";

pub(crate) const CALL_TOOL: &str = "call_tool";

pub(crate) const CREATE_ELICITATION: &str = "create_elicitation";
pub(crate) const CREATE_MESSAGE: &str = "create_message";
pub(crate) const LIST_ROOTS: &str = "list_roots";

/// The functions that this host provides under [`USER`].
pub(crate) const USER_FUNCTIONS: [&str; 11] = [
    CALL_TOOL,
    CREATE_ELICITATION,
    CREATE_MESSAGE,
    ELICITATION_COMPLETE,
    LIST_ROOTS,
    MESSAGE,
    PROGRESS,
    PROMPTS_CHANGED,
    RESOURCE_UPDATED,
    RESOURCES_CHANGED,
    TOOLS_CHANGED,
];

/// The functions that Extism 1.41 provides under `extism:host/env`.
const EXTISM_FUNCTIONS: [&str; 26] = [
    "alloc",
    "config_get",
    "error_set",
    "free",
    "get_log_level",
    "http_headers",
    "http_request",
    "http_status_code",
    "input_length",
    "input_load_u64",
    "input_load_u8",
    "input_offset",
    "length",
    "length_unsafe",
    "load_u64",
    "load_u8",
    "log_debug",
    "log_error",
    "log_info",
    "log_trace",
    "log_warn",
    "output_set",
    "store_u64",
    "store_u8",
    "var_get",
    "var_set",
];

impl Module {
    /// Whether the module can notify clients that one of its lists has changed.
    pub fn changes_lists(&self) -> bool {
        let lists = [TOOLS_CHANGED, PROMPTS_CHANGED, RESOURCES_CHANGED];
        lists.iter().any(|name| self.imports(USER, name))
    }

    /// Whether the module can notify clients that its list of prompts has changed.
    pub fn changes_prompts(&self) -> bool {
        self.imports(USER, PROMPTS_CHANGED)
    }

    /// Whether the module can report the progress of a call.
    pub fn reports_progress(&self) -> bool {
        self.imports(USER, PROGRESS)
    }

    /// Whether the module can call tools and read resources of other servlets and of remotes.
    pub fn calls_tools(&self) -> bool {
        self.imports(USER, CALL_TOOL)
    }

    /// Whether the module can send log messages to the client.
    pub fn logs_to_client(&self) -> bool {
        self.imports(USER, MESSAGE)
    }

    /// Whether the module can report that its lists or resources have changed, so that it has to
    /// keep state.
    pub(crate) fn changes(&self) -> bool {
        self.changes_lists() || self.imports(USER, RESOURCE_UPDATED)
    }
}

impl Import {
    /// Whether this host provides it.
    pub fn is_known(&self) -> bool {
        match self.module.as_str() {
            USER => USER_FUNCTIONS.contains(&&*self.name),
            _ => self.is_common(),
        }
    }

    /// Whether every host provides it: the functions of Extism's kernel and of WASI.
    pub fn is_common(&self) -> bool {
        match self.module.as_str() {
            EXTISM => EXTISM_FUNCTIONS.binary_search(&self.name.as_str()).is_ok(),
            // The linker knows which of these functions exist.
            WASI => true,
            _ => false,
        }
    }

    /// Whether it is a function of hyper-mcp that returns a secret of the operator.
    pub fn is_secret(&self) -> bool {
        let secrets = ["get_access_token", "get_keyring_secret"];
        self.module == USER && secrets.contains(&&*self.name)
    }

    /// Whether the import comes from wasm-bindgen, that is, from code built for browsers.
    pub fn is_wasm_bindgen(&self) -> bool {
        self.module.starts_with("__wbindgen_") || self.name.starts_with("__wbindgen_")
    }
}

impl std::fmt::Display for Import {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}::{}", self.module, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_its_table_of_functions_sorted() {
        assert!(EXTISM_FUNCTIONS.is_sorted());
    }
}
