//! Other MCP servers, as a host sees them.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use mcp_servlet_call::{CallError, JsonObject, RequestMeta};
use mcp_servlet_common::normalized_uri;
use tokio::sync::{broadcast, watch};

use crate::{
    CallToolResult, CompleteResult, FeatureKind, GetPromptResult, Listed, ReadResourceResult, Tool,
    host::literal, lock::entries,
};

/// The answer of a remote, once it arrives.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, CallError>> + Send + 'a>>;

/// Another MCP server whose tools, resources and prompts a host serves.
///
/// A remote that cannot be reached still has lists, and its requests fail with
/// [`CallErrorKind::Remote`]. The futures need a tokio runtime with timers. Dropping one cancels its
/// request.
///
/// [`CallErrorKind::Remote`]: mcp_servlet_call::CallErrorKind::Remote
pub trait Remote: fmt::Debug + Send + Sync {
    /// The name in logs, errors and prefixes.
    fn name(&self) -> &str;

    /// The URL or the command, without secrets.
    fn origin(&self) -> &str;

    /// Why it is not served now: `connecting`, or the [name](mcp_servlet_call::RemoteFailure::name) of a failure. None if it is
    /// served, also if its connection was closed because nothing used it.
    fn outage(&self) -> Option<&'static str>;

    /// Whether the first attempt to connect is not over, so that the lists are not known yet.
    fn is_connecting(&self) -> bool {
        false
    }

    /// Waits until the first attempt to connect is over, for its time limit at most.
    fn first_attempt(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::ready(()))
    }

    /// The current lists. The receiver sees each change.
    fn lists(&self) -> watch::Receiver<Arc<RemoteLists>>;

    /// Calls a tool, once. The result may ask for input, as a servlet's result does.
    fn call<'a>(
        &'a self,
        tool: &'a str,
        arguments: Option<&'a JsonObject>,
        request_meta: &'a RequestMeta,
    ) -> Answer<'a, CallToolResult>;

    /// Reads a resource. The kind of the error is [`UnknownResource`] if there is no such resource.
    ///
    /// [`UnknownResource`]: mcp_servlet_call::CallErrorKind::UnknownResource
    fn read_resource<'a>(
        &'a self,
        uri: &'a str,
        request_meta: &'a RequestMeta,
    ) -> Answer<'a, ReadResourceResult>;

    /// Fills in a prompt.
    fn get_prompt<'a>(
        &'a self,
        prompt: &'a str,
        arguments: Option<&'a JsonObject>,
        request_meta: &'a RequestMeta,
    ) -> Answer<'a, GetPromptResult>;

    /// Suggests values for an argument: `params` are those of `completion/complete`.
    fn complete<'a>(&'a self, params: &'a JsonObject) -> Answer<'a, CompleteResult>;

    /// Asks the remote to report changes of a resource, until the result is dropped.
    fn watch_resource(&self, uri: &str) -> ResourceWatch;

    /// The URIs of resources that have changed, as the remote reports them from now on. After a time in which changes may
    /// have been missed, it reports each resource that is watched.
    fn updated_resources(&self) -> broadcast::Receiver<String>;
}

/// A subscription to the changes of a resource, which ends when this is dropped.
pub struct ResourceWatch {
    _end: Box<dyn Send + Sync>,
}

impl ResourceWatch {
    /// A subscription that lasts as long as `end`.
    pub fn new(end: impl Send + Sync + 'static) -> Self {
        Self {
            _end: Box::new(end),
        }
    }
}

impl fmt::Debug for ResourceWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResourceWatch")
    }
}

/// What a remote offers at one moment. Start with `RemoteLists::default()` and set fields.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a capability that a server has or has not"
)]
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RemoteLists {
    /// The tools, in the order of the server.
    pub tools: Vec<Tool>,
    /// The resources with fixed URIs.
    pub resources: Vec<Listed>,
    /// The resource templates.
    pub resource_templates: Vec<Listed>,
    /// The prompts.
    pub prompts: Vec<Listed>,
    /// The protocol version, such as `2025-11-25`.
    pub protocol: String,
    /// The `serverInfo` of MCP (name and version).
    pub server_info: Option<JsonObject>,
    /// Instructions for a model.
    pub instructions: Option<String>,
    /// Entries that it lists, and that are left out of these lists because the operator has not approved them.
    pub hidden: Vec<HiddenEntry>,
    /// The kinds whose list is missing or ends too early, because it could not be read yet.
    pub partial: Vec<FeatureKind>,
    /// Whether it has resources, even if it lists none.
    pub has_resources: bool,
    /// Whether it has prompts, even if it lists none.
    pub has_prompts: bool,
    /// Whether it suggests values for arguments.
    pub completes: bool,
    /// Whether it sends log messages.
    pub logs: bool,
}

/// An entry that the operator has not approved.
#[derive(Clone, Debug, PartialEq)]
pub struct HiddenEntry {
    /// Its kind.
    pub kind: FeatureKind,
    /// Its name or URI.
    pub key: String,
    /// The entry, as the remote wrote it.
    pub entry: JsonObject,
    /// How it differs from what was approved.
    pub reason: String,
}

impl RemoteLists {
    /// Everything that it lists, with its kind, and its name or URI.
    pub fn entries(&self) -> impl Iterator<Item = (FeatureKind, &str, &JsonObject)> {
        let listed = [&*self.resources, &self.resource_templates, &self.prompts];
        entries(&self.tools, listed)
    }

    /// Whether only a hidden resource, or a hidden resource template, has this URI.
    pub fn hides(&self, uri: &str) -> bool {
        let uri = normalized_uri(uri);
        let has_it = |kind: FeatureKind, key: &str| match kind {
            FeatureKind::Resource => normalized_uri(key) == uri,
            FeatureKind::ResourceTemplate => {
                let start = normalized_uri(literal(key));
                !start.is_empty() && uri.starts_with(&start)
            }
            FeatureKind::Tool | FeatureKind::Prompt => false,
        };
        let mut hidden = self.hidden.iter();
        hidden.any(|one| has_it(one.kind, &one.key))
            && !self.entries().any(|(kind, key, _)| has_it(kind, key))
    }
}
