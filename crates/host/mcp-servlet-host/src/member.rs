//! What a host can serve: servlets and remotes.

use std::sync::Arc;

use mcp_servlet_call::{CallError, JsonObject, RequestMeta, chain};
use mcp_servlet_schema::similar;

use crate::{
    CallToolResult, CompleteResult, GetPromptResult, Listed, LoadError, ReadResourceResult, Remote,
    RemoteLists, Servlet, Tool,
};

/// A servlet or a remote.
#[derive(Clone, Debug)]
pub enum Member {
    /// A servlet in this process.
    Servlet(Arc<Servlet>),
    /// Another MCP server.
    Remote(RemoteMember),
}

/// Lists that were read again. Hosts that share servlets share the new lists, so that each servlet is asked once.
#[derive(Debug, Default)]
pub struct Relisted {
    /// Servlets with their previous lists, and with their current ones.
    servlets: Vec<(Arc<Servlet>, Arc<Servlet>)>,
    keeps_servlets: bool,
}

impl Relisted {
    /// For the lists of remotes alone, which takes no time. Servlets keep theirs.
    pub fn of_remotes() -> Self {
        Self {
            keeps_servlets: true,
            ..Self::default()
        }
    }

    /// The servlet with its current lists, or with its previous ones if they cannot change or cannot be read.
    fn servlet(&mut self, old: &Arc<Servlet>) -> Arc<Servlet> {
        let mut asked = self.servlets.iter();
        if let Some((_, new)) = asked.find(|(known, _)| Arc::ptr_eq(known, old)) {
            return Arc::clone(new);
        }
        if self.keeps_servlets || !old.module().changes_lists() {
            return Arc::clone(old);
        }
        let new = old.relisted().map_or_else(
            |error| {
                let name = old.name();
                tracing::warn!("cannot update the lists of `{name}`: {}", chain(&error));
                Arc::clone(old)
            },
            Arc::new,
        );
        self.servlets.push((Arc::clone(old), Arc::clone(&new)));
        new
    }
}

/// A remote with its lists at one moment.
#[derive(Clone, Debug)]
pub struct RemoteMember {
    remote: Arc<dyn Remote>,
    lists: Arc<RemoteLists>,
}

impl From<Arc<Servlet>> for Member {
    fn from(servlet: Arc<Servlet>) -> Self {
        Self::Servlet(servlet)
    }
}

impl From<Arc<dyn Remote>> for Member {
    /// A remote with its current lists.
    fn from(remote: Arc<dyn Remote>) -> Self {
        let lists = Arc::clone(&remote.lists().borrow());
        Self::Remote(RemoteMember { remote, lists })
    }
}

impl RemoteMember {
    /// The remote.
    pub fn remote(&self) -> &Arc<dyn Remote> {
        &self.remote
    }

    /// The lists that the host serves.
    pub fn lists(&self) -> &RemoteLists {
        &self.lists
    }

    /// Whether its lists are known: it was reached, and does not hide them while it is down.
    pub(crate) fn has_lists(&self) -> bool {
        !self.lists.protocol.is_empty()
    }

    /// Whether its first lists may come soon: its first attempt to connect is not over, or has just succeeded.
    pub(crate) fn is_awaited(&self) -> bool {
        !self.has_lists() && (self.remote.is_connecting() || !self.is_current())
    }

    /// Whether the remote has no newer lists.
    fn is_current(&self) -> bool {
        Arc::ptr_eq(&self.lists, &self.remote.lists().borrow())
    }
}

/// The message about a name that does not exist, with one that does.
pub(crate) fn or_similar(problem: String, similar: Option<&str>) -> String {
    match similar {
        Some(name) => format!("{problem}; there is `{name}`"),
        None => problem,
    }
}

impl Member {
    /// The servlet, if it is one.
    pub fn as_servlet(&self) -> Option<&Arc<Servlet>> {
        match self {
            Self::Servlet(servlet) => Some(servlet),
            Self::Remote(_) => None,
        }
    }

    /// The remote, if it is one.
    pub fn as_remote(&self) -> Option<&RemoteMember> {
        match self {
            Self::Servlet(_) => None,
            Self::Remote(remote) => Some(remote),
        }
    }

    /// Its kind in messages: `servlet` or `remote`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Servlet(_) => "servlet",
            Self::Remote(_) => "remote",
        }
    }

    /// The name in logs, errors and prefixes.
    pub fn name(&self) -> &str {
        match self {
            Self::Servlet(servlet) => servlet.name(),
            Self::Remote(member) => member.remote.name(),
        }
    }

    /// The file or URL of a servlet, or its name; the URL or command of a remote.
    pub fn origin(&self) -> &str {
        match self {
            Self::Servlet(servlet) => servlet.origin(),
            Self::Remote(member) => member.remote.origin(),
        }
    }

    /// What names it in warnings: the file or URL of a servlet, and the name of a remote, because many remotes have the same command.
    pub(crate) fn place(&self) -> &str {
        match self {
            Self::Servlet(servlet) => servlet.origin(),
            Self::Remote(member) => member.remote.name(),
        }
    }

    /// The tools, in the order of the member.
    pub fn tools(&self) -> &[Tool] {
        match self {
            Self::Servlet(servlet) => servlet.tools(),
            Self::Remote(member) => &member.lists.tools,
        }
    }

    /// The tool with this name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools().iter().find(|tool| tool.name() == name)
    }

    /// The message about a tool that it does not have.
    pub fn without_tool(&self, tool: &str) -> String {
        let problem = format!("{} `{}` has no tool `{tool}`", self.kind(), self.name());
        or_similar(problem, similar(tool, self.tools().iter().map(Tool::name)))
    }

    /// The resources with fixed URIs.
    pub fn resources(&self) -> &[Listed] {
        match self {
            Self::Servlet(servlet) => servlet.resources(),
            Self::Remote(member) => &member.lists.resources,
        }
    }

    /// The resource templates.
    pub fn resource_templates(&self) -> &[Listed] {
        match self {
            Self::Servlet(servlet) => servlet.resource_templates(),
            Self::Remote(member) => &member.lists.resource_templates,
        }
    }

    /// The prompts.
    pub fn prompts(&self) -> &[Listed] {
        match self {
            Self::Servlet(servlet) => servlet.prompts(),
            Self::Remote(member) => &member.lists.prompts,
        }
    }

    /// The `serverInfo` of MCP (name and version), if the member provides it.
    pub fn server_info(&self) -> Option<&JsonObject> {
        match self {
            Self::Servlet(servlet) => servlet.server_info(),
            Self::Remote(member) => member.lists.server_info.as_ref(),
        }
    }

    /// Instructions for a model.
    pub fn instructions(&self) -> Option<&str> {
        match self {
            Self::Servlet(servlet) => servlet.instructions(),
            Self::Remote(member) => member.lists.instructions.as_deref(),
        }
    }

    /// Whether it has resources, even if it does not list them.
    pub fn reads_resources(&self) -> bool {
        match self {
            Self::Servlet(servlet) => servlet.reads_resources(),
            Self::Remote(member) => member.lists.has_resources,
        }
    }

    /// Whether it has prompts, or may have some later.
    pub fn may_have_prompts(&self) -> bool {
        match self {
            Self::Servlet(servlet) => {
                !servlet.prompts().is_empty() || servlet.module().changes_prompts()
            }
            Self::Remote(member) => member.lists.has_prompts,
        }
    }

    /// Whether it calls tools or reads resources of other members, and its options allow some.
    pub fn makes_calls(&self) -> bool {
        let servlet = self.as_servlet();
        servlet.is_some_and(|servlet| servlet.makes_calls())
    }

    /// Whether it suggests values for arguments.
    pub fn completes(&self) -> bool {
        match self {
            Self::Servlet(servlet) => servlet.completes(),
            Self::Remote(member) => member.lists.completes,
        }
    }

    /// Whether it sends log messages to clients.
    pub fn logs_to_client(&self) -> bool {
        match self {
            Self::Servlet(servlet) => servlet.module().logs_to_client(),
            Self::Remote(member) => member.lists.logs,
        }
    }

    /// Whether its lists can change.
    pub(crate) fn changes_lists(&self) -> bool {
        match self {
            Self::Servlet(servlet) => servlet.module().changes_lists(),
            Self::Remote(_) => true,
        }
    }

    /// Whether the lists of a remote are those that it has now. Servlets always count as current.
    pub(crate) fn is_current(&self) -> bool {
        self.as_remote().is_none_or(RemoteMember::is_current)
    }

    /// Reads the current lists, if they can change. If that fails, the previous ones stay.
    pub(crate) fn relist(&mut self, relisted: &mut Relisted) {
        match self {
            Self::Servlet(servlet) => *servlet = relisted.servlet(servlet),
            Self::Remote(member) => *self = Arc::clone(&member.remote).into(),
        }
    }

    /// An error for each tool that has options and is not listed.
    pub(crate) fn unknown_tools(&self) -> impl Iterator<Item = LoadError> {
        let servlet = self.as_servlet().into_iter();
        servlet.flat_map(|servlet| servlet.unknown_tools())
    }

    /// How many of these arguments a call of the tool would drop.
    pub(crate) fn count_dropped(&self, tool: &str, arguments: &JsonObject) -> usize {
        let servlet = self.as_servlet();
        servlet.map_or(0, |servlet| servlet.count_dropped(tool, arguments))
    }

    /// Calls a tool by the name that it has in the member, and without the host's prefix.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn call_with(
        &self,
        tool: &str,
        arguments: Option<&JsonObject>,
        request_meta: &RequestMeta,
    ) -> Result<CallToolResult, CallError> {
        match self {
            Self::Servlet(servlet) => servlet.call_with(tool, arguments, request_meta).await,
            Self::Remote(member) => {
                if let Some(guard) = &request_meta.guard
                    && let Err(denied) = guard.may_run(arguments)
                {
                    return Ok(CallToolResult::denied(denied));
                }
                member.remote.call(tool, arguments, request_meta).await
            }
        }
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn read_resource_with(
        &self,
        uri: &str,
        request_meta: &RequestMeta,
    ) -> Result<ReadResourceResult, CallError> {
        match self {
            Self::Servlet(servlet) => servlet.read_resource_with(uri, request_meta).await,
            Self::Remote(member) => member.remote.read_resource(uri, request_meta).await,
        }
    }

    /// Fills in a prompt, by the name that it has in the member.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn get_prompt_with(
        &self,
        prompt: &str,
        arguments: Option<&JsonObject>,
        request_meta: &RequestMeta,
    ) -> Result<GetPromptResult, CallError> {
        match self {
            Self::Servlet(servlet) => {
                servlet
                    .get_prompt_with(prompt, arguments, request_meta)
                    .await
            }
            Self::Remote(member) => {
                let remote = &member.remote;
                remote.get_prompt(prompt, arguments, request_meta).await
            }
        }
    }

    /// Suggests values for an argument: `params` are those of `completion/complete`.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn complete(&self, params: &JsonObject) -> Result<CompleteResult, CallError> {
        match self {
            Self::Servlet(servlet) => servlet.complete(params).await,
            Self::Remote(member) => member.remote.complete(params).await,
        }
    }
}
