//! Several members, servlets and remotes, with one list of tools and one list of prompts.

mod callees;
mod index;
mod names;
mod offer;
mod order;
mod overlap;
mod route;
mod uri;
mod virtual_tools;

use std::{borrow::Cow, sync::Arc};

use mcp_servlet_bundle::{Step, Target};
use mcp_servlet_call::{CallError, Callees, JsonObject, RequestMeta};
use mcp_servlet_runtime::CheckArguments;
use mcp_servlet_schema::Provider;

use crate::{
    CallToolResult, FeatureKind, Listed, LoadError, Member, Relisted, Remote, RemoteMember, Search,
    Servlet, Tool,
    error::unknown_tool,
    search::{NAMES_OF_SEARCH, Searched},
};
use callees::MembersAsCallees;
pub use callees::Recorder;
use index::{Chosen, Collision, Former, Index, Named, Served};
pub use names::{ApprovedNames, Filter, MAX_NAME, Prefix, name_problem, single_name_problem};
use names::{known, name_prompts, name_tools};
pub use offer::Offer;
use order::{Place, order};
use overlap::shared_uris;
pub(crate) use uri::literal;
pub use virtual_tools::{INPUT_ROUNDS, PlacedTool, VirtualToolError};
use virtual_tools::{Reserved, VirtualTools};

/// A servlet or remote, and how its tools and prompts are listed.
#[derive(Clone, Debug)]
pub struct Mount {
    /// The servlet or remote.
    pub member: Member,
    /// The prefix for the names of its tools and prompts.
    pub prefix: Prefix,
    /// Which of its tools are listed.
    pub filter: Filter,
}

impl From<Servlet> for Mount {
    /// All tools and prompts keep their own names.
    fn from(servlet: Servlet) -> Self {
        Self {
            member: Member::Servlet(Arc::new(servlet)),
            prefix: Prefix::Never,
            filter: Filter::default(),
        }
    }
}

/// How a server introduces itself. Values that are not set come from its members.
///
/// Start with `Introduction::default()` and set fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Introduction {
    /// The server's name.
    pub name: Option<String>,
    /// The server's version.
    pub version: Option<String>,
    /// Instructions for a model.
    pub instructions: Option<String>,
}

/// A call that a virtual tool makes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct VirtualStep<'h> {
    /// The step.
    pub step: &'h Step,
    /// The servlet or remote.
    pub member: &'h Member,
    /// The tool, as the member describes it. `None` if the step reads a resource.
    pub tool: Option<&'h Tool>,
    /// The name under which the host lists this tool, if it does.
    pub listed: Option<&'h str>,
}

/// A warning, with the number of the member that it is about.
type Warning = (usize, LoadError);

/// What a host has in addition to its members.
#[derive(Default)]
struct Added {
    virtual_tools: Arc<[PlacedTool]>,
    /// Members that only virtual tools and servlets call.
    handlers: Vec<Member>,
    search: Option<Search>,
    recorder: Option<Arc<dyn Recorder>>,
    approved: Arc<ApprovedNames>,
}

/// Loaded servlets and remotes, with an index of their tools and prompts.
#[derive(Debug)]
pub struct Host {
    /// The members that are servlets.
    servlets: Vec<Arc<Servlet>>,
    /// What the host was composed of: all members.
    mounts: Vec<Mount>,
    tools: Index<Tool>,
    virtual_tools: VirtualTools,
    /// The tools in the order in which clients see them.
    order: Vec<Place>,
    prompts: Index<Listed>,
    problems: Vec<Warning>,
    introduction: Introduction,
    schemas_for: Option<Provider>,
    pub(crate) searched: Option<Searched>,
    /// What servlets call. `None` if no servlet may call anything.
    callees: Option<Arc<dyn Callees>>,
    recorder: Option<Arc<dyn Recorder>>,
    approved: Arc<ApprovedNames>,
}

impl Host {
    /// Serves several servlets together, in this order. All tools and prompts keep their own names.
    pub fn new(servlets: Vec<Servlet>) -> Self {
        Self::compose(servlets.into_iter().map(Mount::from).collect())
    }

    /// Serves several members together, in this order.
    ///
    /// No member prevents another one from being served. A tool or prompt is left out if clients
    /// would not accept its name, or if another one already has the name. A resource is left out if
    /// an earlier member lists its URI. [`Host::problems`] has a warning for each.
    pub fn compose(mounts: Vec<Mount>) -> Self {
        Self::compose_after(
            mounts,
            Added::default(),
            &Former::default(),
            &Former::default(),
        )
    }

    /// The same members together with virtual tools, in the order of their places. These, and servlets whose options allow it, can
    /// also call `handlers` that the host does not serve. Virtual tools have exactly their names: tools of members with [`Prefix::Auto`] get a prefix if
    /// they have the same name, and others are left out, with a warning in [`problems`](Self::problems) and an error in
    /// [`virtual_tool_errors`](Self::virtual_tool_errors).
    ///
    /// A virtual tool that does not fit its handler is left out, with a warning in [`problems`](Self::problems) and an error
    /// in [`virtual_tool_errors`](Self::virtual_tool_errors). One whose handler is missing, or is a remote that was not
    /// reached yet, is left out with a warning.
    #[must_use]
    pub fn with_virtual_tools(self, virtual_tools: Vec<PlacedTool>, handlers: Vec<Member>) -> Self {
        if virtual_tools.is_empty() && handlers.is_empty() {
            return self;
        }
        let added = Added {
            virtual_tools: virtual_tools.into(),
            handlers,
            ..self.added()
        };
        self.recomposed(added)
    }

    /// The same members and virtual tools, which clients find by a [search](Search) instead of a list.
    ///
    /// Tools of members that have the name of a tool of the search get a prefix with [`Prefix::Auto`]. Others are left out, with a
    /// [`LoadError::SearchName`] in [`problems`](Self::problems). Virtual tools must have other names.
    #[must_use]
    pub fn with_search(self, search: Option<Search>) -> Self {
        if search.as_ref() == self.search() {
            return self;
        }
        let added = Added {
            search,
            ..self.added()
        };
        self.recomposed(added)
    }

    /// The same members with the names that the operator has approved. Other entries get names as usual.
    #[must_use]
    pub fn with_names(self, approved: Arc<ApprovedNames>) -> Self {
        let added = Added {
            approved,
            ..self.added()
        };
        self.recomposed(added)
    }

    /// The same members and tools. The recorder learns what the calls that servlets make return.
    #[must_use]
    pub fn with_recorder(self, recorder: Arc<dyn Recorder>) -> Self {
        let added = Added {
            recorder: Some(recorder),
            ..self.added()
        };
        self.recomposed(added)
    }

    fn added(&self) -> Added {
        Added {
            virtual_tools: self.virtual_tools.all(),
            handlers: self.handlers().to_vec(),
            search: self.search().cloned(),
            recorder: self.recorder.clone(),
            approved: Arc::clone(&self.approved),
        }
    }

    /// The same members with other additions.
    fn recomposed(self, added: Added) -> Self {
        Self::compose_after(self.mounts, added, &Former::default(), &Former::default())
            .introduced(self.introduction)
            .with_schemas_for(self.schemas_for)
    }

    /// Like [`compose`](Self::compose), but tools and prompts that already have names for clients
    /// keep them.
    fn compose_after(
        mounts: Vec<Mount>,
        added: Added,
        tools: &Former<'_>,
        prompts: &Former<'_>,
    ) -> Self {
        let Added {
            virtual_tools,
            handlers,
            search,
            recorder,
            approved,
        } = added;
        let known_tools = known(&mounts, FeatureKind::Tool, tools);
        let known_prompts = known(&mounts, FeatureKind::Prompt, prompts);
        let reserved = Reserved::of(&virtual_tools);
        let of_search = search.iter().flat_map(|_| NAMES_OF_SEARCH);
        let names = reserved.names().chain(of_search);
        let (mut tools, mut problems) = name_tools(&mounts, tools, &approved, names);
        if search.is_some() {
            problems.extend(hide_names_of_search(&mut tools, &mounts));
        }
        let hidden = reserved.hide(&mut tools, &mounts);
        problems.extend(hidden.problems);
        let (tools, collisions) = Index::of(tools, known_tools);
        problems.extend(
            collisions
                .iter()
                .map(|one| taken(&mounts, FeatureKind::Tool, one)),
        );
        let (prompts, collisions) =
            Index::of(name_prompts(&mounts, prompts, &approved), known_prompts);
        problems.extend(
            collisions
                .iter()
                .map(|one| taken(&mounts, FeatureKind::Prompt, one)),
        );
        problems.extend(shared_uris(&mounts));
        let virtual_tools = VirtualTools::prove(virtual_tools, handlers, &mounts, &hidden.owners);
        let members = mounts.iter().map(|mount| &mount.member);
        let callees = members.chain(virtual_tools.handlers());
        let callees = MembersAsCallees::of(callees, recorder.clone());
        let servlets = mounts.iter().filter_map(|mount| mount.member.as_servlet());
        Self {
            order: order(&tools, &virtual_tools),
            virtual_tools,
            servlets: servlets.cloned().collect(),
            mounts,
            tools,
            prompts,
            problems,
            introduction: Introduction::default(),
            schemas_for: None,
            searched: search.map(|search| Searched::new(search, None)),
            callees: callees.map(|callees| Arc::new(callees) as _),
            recorder,
            approved,
        }
    }

    /// Whether the lists of a member can change.
    pub fn changes_lists(&self) -> bool {
        let mut members = self.members().chain(self.handlers());
        members.any(Member::changes_lists)
    }

    /// Whether no remote has newer lists than this host.
    pub fn has_current_lists(&self) -> bool {
        let mut members = self.members().chain(self.handlers());
        members.all(Member::is_current)
    }

    /// The remotes whose first lists may come soon, because their first attempt to connect is not over or has just succeeded.
    pub fn awaited_remotes(&self) -> impl Iterator<Item = &Arc<dyn Remote>> {
        let members = self.members().chain(self.handlers());
        let remotes = members.filter_map(Member::as_remote);
        let awaited = remotes.filter(|member| member.is_awaited());
        awaited.map(RemoteMember::remote)
    }

    /// Whether the lists of a remote are not known, so that it may have everything.
    pub fn has_unknown_remotes(&self) -> bool {
        let members = self.members().chain(self.handlers());
        let mut remotes = members.filter_map(Member::as_remote);
        remotes.any(|member| !member.has_lists())
    }

    /// A host with the current lists of all members whose lists can change. If a servlet fails to
    /// list its items, its previous lists stay. Tools and prompts that were served keep their
    /// names, even if others appear or disappear. Only a list that becomes known, for example because its remote was
    /// reached, can give them a prefix.
    #[must_use]
    pub fn relisted(&self) -> Self {
        self.relisted_with(&mut Relisted::default())
    }

    /// As [`relisted`](Self::relisted), for one of several hosts that share servlets.
    #[must_use]
    pub fn relisted_with(&self, relisted: &mut Relisted) -> Self {
        let mut mounts = self.mounts.clone();
        for mount in &mut mounts {
            mount.member.relist(relisted);
        }
        let mut added = self.added();
        for handler in &mut added.handlers {
            handler.relist(relisted);
        }
        let (tools, prompts) = (self.tools.former(), self.prompts.former());
        Self::compose_after(mounts, added, &tools, &prompts)
            .introduced(self.introduction.clone())
            .with_schemas_for(self.schemas_for)
    }

    /// The same host with more members, after the others.
    #[must_use]
    pub fn joined(mut self, more: Vec<Mount>) -> Self {
        self.mounts.extend(more);
        let added = self.added();
        self.recomposed(added)
    }

    /// Shows clients input schemas that a provider accepts. Arguments are still checked against the
    /// schemas of the servlets, after each `null` that only the rewritten schema allows was
    /// removed.
    #[must_use]
    pub fn with_schemas_for(mut self, provider: Option<Provider>) -> Self {
        self.schemas_for = provider;
        if let Some(provider) = provider {
            let own = self.virtual_tools.iter_mut();
            let tools = self.tools.iter_mut().chain(own);
            tools.for_each(|tool| tool.lower(provider));
        }
        if let Some(searched) = self.searched.take() {
            self.searched = Some(Searched::new(searched.search, provider));
        }
        self
    }

    /// Sets how the server introduces itself, instead of what its members provide.
    #[must_use]
    pub fn introduced(mut self, introduction: Introduction) -> Self {
        self.introduction = introduction;
        self
    }

    /// How the server introduces itself. Values that are not set come from its members.
    pub fn introduction(&self) -> &Introduction {
        &self.introduction
    }

    /// All members, in order.
    pub fn members(&self) -> impl ExactSizeIterator<Item = &Member> + Clone {
        self.mounts.iter().map(|mount| &mount.member)
    }

    /// The members that are servlets, in order.
    pub fn servlets(&self) -> &[Arc<Servlet>] {
        &self.servlets
    }

    /// Warnings: entries that are left out, templates that match the same URIs, patterns that match no tool.
    pub fn problems(&self) -> impl ExactSizeIterator<Item = &LoadError> {
        let problems = self.problems_of_members().map(|(_, problem)| problem);
        problems.collect::<Vec<_>>().into_iter()
    }

    /// The [`problems`](Self::problems) with the members that they are about. None if one is about a virtual tool.
    pub fn problems_of_members(&self) -> impl Iterator<Item = (Option<&Member>, &LoadError)> {
        let problems = self
            .problems
            .iter()
            .map(|(at, problem)| (Some(&self.mounts[*at].member), problem));
        problems.chain(self.virtual_tools.warnings().map(|problem| (None, problem)))
    }

    /// All tools as clients see them: member by member, each in its own order, and virtual tools where they are placed.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.order.iter().map(|place| match *place {
            Place::Member(number) => self.tools.at(number),
            Place::Virtual(number) => self.virtual_tools.at(number),
        })
    }

    /// The tool with this name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        let served = self.tools.get(name).map(|served| &served.entry);
        served.or_else(|| Some(self.virtual_tools.get(name)?.tool()))
    }

    /// The other possible name of a tool or a prompt: with the prefix of its member if it has none now, otherwise without. None if
    /// its name cannot change.
    pub fn other_name(&self, kind: FeatureKind, name: &str) -> Option<&str> {
        let other = match kind {
            FeatureKind::Tool => &self.tools.get(name)?.other_name,
            FeatureKind::Prompt => &self.prompts.get(name)?.other_name,
            FeatureKind::Resource | FeatureKind::ResourceTemplate => return None,
        };
        other.as_deref()
    }

    /// The member that has the tool with this name, or that a virtual tool calls. `None` for a tool with steps.
    pub fn member_of(&self, tool: &str) -> Option<&Member> {
        match self.tools.get(tool) {
            Some(served) => Some(self.place(served).0),
            None => self.virtual_tools.get(tool)?.handler(),
        }
    }

    /// The tools of members that a call of the tool with this name reaches: for each, the member and its own name for the tool. A
    /// virtual tool with steps reaches several, and so does a servlet that may call others. Tools that only a pattern allows are
    /// not among them.
    pub fn origins_of(&self, tool: &str) -> Vec<(&str, &str)> {
        if let Some(served) = self.tools.get(tool) {
            let (member, own) = self.place(served);
            return reached(member, own).collect();
        }
        let steps = self
            .virtual_tools
            .get(tool)
            .into_iter()
            .flat_map(virtual_tools::Served::steps);
        let tools = steps.filter_map(|(step, member)| match step.target() {
            Target::Tool(handler) => Some(reached(member, &handler.tool)),
            Target::Resource(_) => None,
        });
        tools.flatten().collect()
    }

    /// Whether a call of a tool may change something before the client is asked, so that its answer must not be used twice: a tool
    /// with steps, or one of a servlet that calls others.
    pub fn may_write_before_it_asks(&self, tool: &str) -> bool {
        self.writes_in_steps(tool) || self.member_of(tool).is_some_and(Member::makes_calls)
    }

    /// Whether a prompt comes from a servlet that calls tools of others. If it asks, what it has called must not run again.
    pub fn prompt_may_make_calls(&self, prompt: &str) -> bool {
        let member = self.member_of_prompt(prompt);
        member.is_some_and(Member::makes_calls)
    }

    /// The same for a resource.
    pub fn read_may_make_calls(&self, uri: &str) -> bool {
        let mut owners = self.owners_of_resource(uri).into_iter();
        owners.any(Member::makes_calls)
    }

    /// The bundle of a virtual tool. `None` if it is a tool of a member, or if there is none with this name.
    pub fn bundle_of(&self, tool: &str) -> Option<&str> {
        Some(self.virtual_tools.get(tool)?.bundle())
    }

    /// Whether a tool is virtual and has steps.
    pub fn has_steps(&self, tool: &str) -> bool {
        let virtual_tool = self.virtual_tools.get(tool);
        virtual_tool.is_some_and(|one| one.handler().is_none())
    }

    /// Whether a tool is declared read-only, and every tool that it calls if it is virtual.
    pub fn is_read_only(&self, tool: &str) -> bool {
        let is_declared = self.tool(tool).is_some_and(Tool::is_read_only);
        let virtual_tool = self.virtual_tools.get(tool);
        is_declared && virtual_tool.is_none_or(|one| !one.may_write())
    }

    /// Whether a tool has steps, and one of them may change something.
    fn writes_in_steps(&self, tool: &str) -> bool {
        let virtual_tool = self.virtual_tools.get(tool);
        virtual_tool.is_some_and(|one| one.handler().is_none() && one.may_write())
    }

    /// The calls that a virtual tool makes. Empty if it is a tool of a member, or if there is none with this name.
    pub fn steps_of(&self, tool: &str) -> Vec<VirtualStep<'_>> {
        self.virtual_tools
            .get(tool)
            .into_iter()
            .flat_map(virtual_tools::Served::steps)
            .map(|(step, member)| {
                let own = match step.target() {
                    Target::Tool(handler) => Some(handler.tool.as_str()),
                    Target::Resource(_) => None,
                };
                VirtualStep {
                    step,
                    member,
                    tool: own.and_then(|own| member.tool(own)),
                    listed: own.and_then(|own| self.listed_as(member.name(), own)),
                }
            })
            .collect()
    }

    /// A tool of a member, as the member describes it, and the name under which the host lists it, if it does.
    pub fn tool_of_member(&self, member: &str, tool: &str) -> (Option<&Tool>, Option<&str>) {
        let mut members = self.members().chain(self.handlers());
        let member = members.find(|one| one.name() == member);
        let described = member.and_then(|member| member.tool(tool));
        let listed = member.and_then(|member| self.listed_as(member.name(), tool));
        (described, listed)
    }

    fn listed_as(&self, member: &str, tool: &str) -> Option<&str> {
        let is_member = |at: usize| self.mounts[at].member.name() == member;
        self.tools.listed_as(is_member, tool)
    }

    /// The servlet that has the tool with this name. None if it is a tool of a remote, or one with steps.
    pub fn servlet_of(&self, tool: &str) -> Option<&Servlet> {
        Some(self.member_of(tool)?.as_servlet()?)
    }

    /// All prompts as clients see them: member by member, each in its own order.
    pub fn prompts(&self) -> impl Iterator<Item = &Listed> {
        self.prompts.iter()
    }

    /// The servlet that has the prompt with this name. None if it is a prompt of a remote.
    pub fn servlet_of_prompt(&self, prompt: &str) -> Option<&Servlet> {
        Some(self.find_prompt(prompt)?.0.as_servlet()?)
    }

    /// The member that has the prompt with this name.
    pub fn member_of_prompt(&self, prompt: &str) -> Option<&Member> {
        Some(self.find_prompt(prompt)?.0)
    }

    /// The member that has a prompt, and the member's own name for it.
    pub(crate) fn find_prompt(&self, prompt: &str) -> Option<(&Member, &str)> {
        Some(self.place(self.prompts.get(prompt)?))
    }

    fn place<'h, T>(&'h self, served: &'h Served<T>) -> (&'h Member, &'h str) {
        (&self.mounts[served.member].member, &served.original)
    }

    /// The member that has a tool, the member's own name for it, and the arguments for the
    /// member's schema.
    fn find<'h, 'a>(
        &'h self,
        tool: &str,
        arguments: Option<&'a JsonObject>,
    ) -> Result<(&'h Member, &'h str, Option<Cow<'a, JsonObject>>), CallError> {
        let Some(served) = self.tools.get(tool) else {
            return Err(unknown_tool(tool, self.tools().map(Tool::name)));
        };
        let (member, name) = self.place(served);
        let arguments = arguments.map(|arguments| served.entry.arguments(arguments));
        Ok((member, name, arguments))
    }

    /// How many of these arguments a call of the tool would drop.
    pub fn count_dropped(&self, tool: &str, arguments: Option<&JsonObject>) -> usize {
        let Some(arguments) = arguments else {
            return 0;
        };
        if let Some(virtual_tool) = self.virtual_tools.get(tool) {
            return virtual_tool.count_dropped(arguments);
        }
        let Some(served) = self.tools.get(tool) else {
            return 0;
        };
        let (member, name) = self.place(served);
        member.count_dropped(name, &served.entry.arguments(arguments))
    }

    /// Whether the arguments of a tool are checked before its member gets them. Remotes check their own, unless a virtual tool
    /// calls them.
    pub fn checks_arguments(&self, tool: &str) -> bool {
        if let Some(virtual_tool) = self.virtual_tools.get(tool) {
            return virtual_tool.checks() != CheckArguments::Off;
        }
        let servlet = self.servlet_of(tool);
        servlet.is_some_and(|servlet| servlet.options().arguments != CheckArguments::Off)
    }

    /// The arguments with which a call of the tool runs: checked, and without those that its servlet drops. The arguments of a
    /// remote's tool stay as they are.
    ///
    /// # Errors
    /// Why they are refused, as the model reads it.
    pub fn accepted_arguments(
        &self,
        tool: &str,
        arguments: &JsonObject,
    ) -> Result<JsonObject, String> {
        if let Some(virtual_tool) = self.virtual_tools.get(tool) {
            return Ok(virtual_tool.accepted(arguments)?.unwrap_or_default());
        }
        let Some(served) = self.tools.get(tool) else {
            return Ok(arguments.clone());
        };
        let (member, name) = self.place(served);
        let arguments = served.entry.arguments(arguments);
        match member.as_servlet() {
            Some(servlet) => Ok(servlet.accepted(name, &arguments)?.unwrap_or_default()),
            None => Ok(arguments.into_owned()),
        }
    }

    /// Calls a tool; see [`Servlet::call`].
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn call(
        &self,
        tool: &str,
        arguments: Option<&JsonObject>,
    ) -> Result<CallToolResult, CallError> {
        self.call_with(tool, arguments, &RequestMeta::default())
            .await
    }

    /// Like [`Host::call`], with the other parts of the request in `request_meta`.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn call_with(
        &self,
        tool: &str,
        arguments: Option<&JsonObject>,
        request_meta: &RequestMeta,
    ) -> Result<CallToolResult, CallError> {
        let request_meta = &*self.with_callees(request_meta);
        if let Some(virtual_tool) = self.virtual_tools.get(tool) {
            return virtual_tool.call_with(arguments, request_meta).await;
        }
        let (member, tool, arguments) = self.find(tool, arguments)?;
        member
            .call_with(tool, arguments.as_deref(), request_meta)
            .await
    }

    /// What servlets call. `None` if no servlet may call anything.
    pub fn callees(&self) -> Option<&Arc<dyn Callees>> {
        self.callees.as_ref()
    }

    /// A request with what servlets can call meanwhile.
    fn with_callees<'r>(&self, request_meta: &'r RequestMeta) -> Cow<'r, RequestMeta> {
        match &self.callees {
            Some(callees) if request_meta.callees.is_none() => {
                let mut request_meta = request_meta.clone();
                request_meta.callees = Some(Arc::clone(callees));
                Cow::Owned(request_meta)
            }
            _ => Cow::Borrowed(request_meta),
        }
    }
}

/// The tools that a call of a tool of a member reaches: that tool, and those that the member may call by name.
fn reached<'m>(member: &'m Member, tool: &'m str) -> impl Iterator<Item = (&'m str, &'m str)> {
    let servlet = member.as_servlet().filter(|_| member.makes_calls());
    let grants = servlet
        .into_iter()
        .flat_map(|one| &one.options().allowed_tools);
    let callees = grants.filter_map(|grant| Some((grant.member(), grant.exact()?)));
    std::iter::once((member.name(), tool)).chain(callees)
}

fn taken<T: Named>(mounts: &[Mount], kind: FeatureKind, collision: &Collision<'_, T>) -> Warning {
    let Collision { lost, owner } = collision;
    let origin = |at: usize| mounts[at].member.place().to_owned();
    let problem = LoadError::Taken {
        kind,
        entry: lost.entry.name().to_owned(),
        origin: origin(lost.member),
        key: lost.name.clone(),
        owner: origin(*owner),
    };
    (lost.member, problem)
}

/// Removes the tools that have the names of those of a search.
fn hide_names_of_search(tools: &mut Vec<Chosen<'_, Tool>>, mounts: &[Mount]) -> Vec<Warning> {
    let hidden = tools.extract_if(.., |one| NAMES_OF_SEARCH.contains(&&*one.name));
    let problem = |one: Chosen<'_, Tool>| {
        let member = &mounts[one.member].member;
        let problem = LoadError::SearchName {
            tool: one.name,
            kind: member.kind(),
            member: member.name().to_owned(),
        };
        (one.member, problem)
    };
    hidden.map(problem).collect()
}
