//! What a caller may use of a host, according to the rules of the endpoint.
//!
//! For its client, an item that the rules deny does not exist: lists, calls and errors all ask here.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash as _, Hasher as _},
    sync::Arc,
};

use mcp_servlet_access::{
    Caller, Gate,
    rules::{Arguments, Decision, Holds, Item, Kind, Name, Rule, Rules, Uri},
};
use mcp_servlet_call::{CallError, CallGuard, Callee, Denied, JsonObject, RequestMeta};
use mcp_servlet_host::{FeatureKind, Host, Listed, Member, Tool, unknown_prompt, unknown_tool};
use serde_json::Value;

use crate::{
    records::Notes,
    rule_items::{item_of_callee, item_of_prompt, item_of_resource, item_of_tool, items_of_steps},
    server::{Server, metrics::InnerCalls},
};

/// The rules of an endpoint, for one caller and one host.
#[derive(Clone, Debug)]
pub(crate) struct Permissions {
    pub(crate) rules: Arc<Rules>,
    /// What knows which scopes tools need. None if everyone may call.
    pub(crate) gate: Option<Arc<Gate>>,
    /// None if the endpoint does not know its callers.
    pub(crate) caller: Option<Arc<Caller>>,
    pub(crate) host: Arc<Host>,
    /// The notes of the request, if requests are recorded.
    pub(crate) notes: Option<Arc<Notes>>,
}

impl Permissions {
    /// Whether there are no rules.
    pub(crate) fn are_all(&self) -> bool {
        self.rules.is_empty()
    }

    fn decide(&self, item: &Item<'_>) -> Decision<'_> {
        let caller = self.caller.as_deref();
        self.rules.decide(caller, item, Arguments::Unknown)
    }

    fn allow(&self, item: &Item<'_>) -> bool {
        self.decide(item).allowed != Holds::No
    }

    /// The tool with this name, if there is one for the caller.
    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        let tool = self.host.tool(name)?;
        self.has(tool).then_some(tool)
    }

    /// All tools that the caller may use, including those that are not listed.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.host.tools().filter(|tool| self.has(tool))
    }

    /// The tools that the caller may use and that match a query, the best first.
    pub(crate) fn find_tools(&self, query: &str) -> Vec<&Tool> {
        self.host.find_tools(query, |tool| self.has(tool))
    }

    /// Whether there is a tool with this name, but not for the caller.
    pub(crate) fn hide_tool(&self, name: &str) -> bool {
        self.host.tool(name).is_some() && self.tool(name).is_none()
    }

    /// Whether the caller may use a tool.
    fn has(&self, tool: &Tool) -> bool {
        self.are_all() || self.allows(tool)
    }

    fn allows(&self, tool: &Tool) -> bool {
        let decision = self.decide_tool(tool);
        decision.is_some_and(|decision| decision.allowed != Holds::No)
    }

    /// What the rules say about a tool, and about what it calls and reads if it is virtual.
    fn decide_tool(&self, tool: &Tool) -> Option<Decision<'_>> {
        let own = self.decide(&self.item(tool)?);
        let steps = items_of_steps(&self.host, tool.name())
            .into_iter()
            .map(|step| self.decide(&step.item));
        Some(steps.fold(own, |strictest, step| {
            if step.allowed < strictest.allowed {
                step
            } else {
                strictest
            }
        }))
    }

    fn item<'a>(&'a self, tool: &'a Tool) -> Option<Item<'a>> {
        item_of_tool(&self.host, tool)
    }

    /// Checks the arguments of calls of this tool, the resources that its steps read, and the calls that servlets make. None if
    /// no rule needs that.
    pub(crate) fn guard(&self, tool: &str) -> Option<Arc<dyn CallGuard>> {
        let is_needed = self.rules.read_arguments()
            || (self.rules.are_about(Kind::Resource) && self.host.bundle_of(tool).is_some())
            || self.limit_callees();
        is_needed.then(|| self.guard_of(Guarded::Tool(tool.to_owned())))
    }

    /// Has the calls checked and counted that a servlet makes for a prompt or a resource.
    pub(crate) fn watch_callees(&self, server: &Server, request_meta: &mut RequestMeta) {
        if self.host.callees().is_some() {
            request_meta.observer = Some(Arc::new(self.observer(server)));
        }
        if self.limit_callees() {
            request_meta.guard = Some(self.guard_of(Guarded::Nothing));
        }
    }

    /// Counts the calls that a request makes.
    pub(crate) fn observer(&self, server: &Server) -> InnerCalls {
        InnerCalls {
            server: server.clone(),
            notes: self.notes.clone(),
        }
    }

    /// Notes what was decided about the request.
    fn note(&self, is_allowed: bool, rule: Option<&Rule>) {
        let Some(notes) = &self.notes else { return };
        let rule = rule.map(|rule| &*rule.name);
        if is_allowed {
            notes.allowed(rule);
        } else {
            notes.denied(rule, "rule");
        }
    }

    /// Notes the rule that allows a tool.
    fn note_allowed(&self, tool: &Tool) {
        if self.notes.is_some()
            && let Some(decision) = self.decide_tool(tool)
        {
            self.note(true, decision.rule);
        }
    }

    /// Whether the caller may be denied what servlets call.
    fn limit_callees(&self) -> bool {
        let has_scopes = self
            .gate
            .as_ref()
            .is_some_and(|gate| gate.has_tool_scopes());
        self.host.callees().is_some() && (has_scopes || !self.are_all())
    }

    fn guard_of(&self, guarded: Guarded) -> Arc<dyn CallGuard> {
        Arc::new(Guard {
            permissions: self.clone(),
            guarded,
        })
    }

    /// Whether a servlet may call a tool for the caller.
    fn may_call(
        &self,
        item: &Item<'_>,
        callee: &Callee,
        arguments: &JsonObject,
    ) -> Result<(), Denied> {
        let denied = |text: String| Denied {
            text,
            meta: JsonObject::new(),
        };
        if self.decide(item).allowed == Holds::No {
            tracing::debug!(%callee, "the rules deny a call of a servlet");
            return Err(denied(format!("the rules do not allow `{callee}`")));
        }
        if let (Some(gate), Some(caller), Some(tool)) = (&self.gate, &self.caller, callee.tool()) {
            let permitted = gate.permit(caller, (callee.member(), tool));
            permitted.map_err(|refusal| denied(refusal.message.to_owned()))?;
        }
        self.check_arguments(item, &callee.to_string(), arguments)
    }

    fn check_arguments(
        &self,
        item: &Item<'_>,
        tool: &str,
        arguments: &JsonObject,
    ) -> Result<(), Denied> {
        let denial = self.rules.deny(self.caller.as_deref(), item, arguments);
        denial.map_or(Ok(()), |denial| {
            if matches!(item.name, Name::Tool(..)) {
                self.note(false, denial.rule);
            }
            let rule = denial.rule.map(|rule| &*rule.name);
            tracing::debug!(tool, rule, "the rules deny the arguments of a call");
            let mut meta = JsonObject::new();
            let shown = denial.rule_name();
            meta.extend(shown.map(|rule| ("rule".to_owned(), rule.into())));
            let argument = denial.argument();
            meta.extend(argument.map(|argument| ("argument".to_owned(), argument.into())));
            let text = denial.text(tool, arguments);
            Err(Denied { text, meta })
        })
    }

    /// Whether a step may read a resource. `item` is its template, or its URI if that is fixed.
    fn may_read(&self, item: &Item<'_>, uri: &str) -> bool {
        if !self.rules.may_apply_to(item) {
            return true;
        }
        // The member would get another URI than the rules.
        let Some(uri) = Uri::of_client(uri) else {
            return false;
        };
        let item = Item {
            name: Name::StepResource(uri),
            ..item.clone()
        };
        self.decide(&item).allowed == Holds::Yes
    }

    fn prompt(&self, name: &str) -> bool {
        let item = item_of_prompt(&self.host, name);
        item.is_some_and(|item| self.allow(&item))
    }

    fn decide_resource(&self, member: &Member, uri: &Uri) -> Holds {
        self.decide(&item_of_resource(member, uri)).allowed
    }

    /// Whether the caller may read the resource of a member with the URI that the client wrote.
    pub(crate) fn reads(&self, member: &Member, uri: &str) -> bool {
        if !self.rules.are_about(Kind::Resource) {
            return true;
        }
        let is_listed = member.resources().iter().any(|one| one.key() == uri);
        let uri = match member.as_listed(uri) {
            _ if is_listed => Some(Uri::listed(uri)),
            // The member would get another URI than the rules.
            Some(_) => None,
            None => Uri::of_client(uri),
        };
        uri.is_some_and(|uri| self.decide_resource(member, &uri) == Holds::Yes)
    }

    /// Notes whether the caller may read a resource from a member that has it.
    pub(crate) fn note_read(&self, uri: &str) {
        if self.notes.is_none() || !self.rules.are_about(Kind::Resource) {
            return;
        }
        let owners = self.host.owners_of_resource(uri);
        if !owners.is_empty() {
            let mut owners = owners.into_iter();
            self.note(owners.any(|member| self.reads(member, uri)), None);
        }
    }

    /// Whether the caller may learn of changes of a resource.
    pub(crate) fn updates(&self, uri: &str) -> bool {
        self.are_all() || {
            let owners = self.host.owners_of_resource(uri);
            !owners.is_empty() && owners.iter().all(|member| self.reads(member, uri))
        }
    }

    /// The error for a tool that does not exist for the caller.
    pub(crate) fn unknown_tool(&self, name: &str) -> Option<CallError> {
        if self.are_all() {
            return None;
        }
        if let Some(tool) = self.tool(name) {
            self.note_allowed(tool);
            return None;
        }
        let denied = self.host.tool(name).and_then(|tool| self.decide_tool(tool));
        if let Some(Decision { rule, .. }) = denied {
            self.note(false, rule);
            let rule = rule.map(|rule| &*rule.name);
            tracing::debug!(tool = name, rule, "the rules deny a tool");
        }
        Some(unknown_tool(name, self.tools().map(Tool::name)))
    }

    /// The error for a prompt that does not exist for the caller.
    pub(crate) fn unknown_prompt(&self, name: &str) -> Option<CallError> {
        if self.are_all() || self.prompt(name) {
            return None;
        }
        if self.host.member_of_prompt(name).is_some() {
            self.note(false, None);
        }
        let names = self.host.prompts().map(Listed::key);
        Some(unknown_prompt(name, names.filter(|name| self.prompt(name))))
    }

    /// The error for a completion of a prompt or a resource that does not exist for the caller. `params` are those of the request.
    pub(crate) fn unknown_reference(&self, params: &JsonObject) -> Option<CallError> {
        let reference = params.get("ref")?;
        if let Some(name) = reference.get("name").and_then(Value::as_str) {
            return self.unknown_prompt(name);
        }
        let uri = reference.get("uri")?.as_str()?;
        let known: Vec<_> = params
            .get("context")
            .and_then(|context| context.get("arguments"))
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
            .collect();
        let found = self.host.find_uri(uri);
        let may = found.is_some_and(|(member, key)| {
            self.decide_resource(member, &Uri::of_template_with(key, &known)) != Holds::No
        });
        (!self.are_all() && !may).then(|| CallError::unknown_resource(uri))
    }

    /// Whether the caller may use anything of a member. True if the member offers nothing.
    pub(crate) fn sees_any_of(&self, member: &Member) -> bool {
        if self.are_all() {
            return true;
        }
        let is_own = |tool: &&Tool| {
            let owner = self.host.member_of(tool.name());
            owner.is_some_and(|owner| owner.name() == member.name())
                && self.host.bundle_of(tool.name()).is_none()
        };
        let tools = self
            .host
            .tools()
            .filter(is_own)
            .map(|tool| self.allows(tool));
        let is_prompt = |prompt: &&Listed| {
            let owner = self.host.member_of_prompt(prompt.key());
            owner.is_some_and(|owner| owner.name() == member.name())
        };
        let prompts = self
            .host
            .prompts()
            .filter(is_prompt)
            .map(|prompt| self.prompt(prompt.key()));
        let resources = self
            .host
            .resources_of_members()
            .map(|one| (one, Uri::listed as fn(&str) -> Uri));
        let templates = self
            .host
            .templates_of_members()
            .map(|one| (one, Uri::of_template as fn(&str) -> Uri));
        let resources = resources
            .chain(templates)
            .filter_map(|((owner, entry), uri)| {
                let is_own = owner.name() == member.name();
                is_own.then(|| self.decide_resource(owner, &uri(entry.key())) != Holds::No)
            });
        let mut all = tools.chain(prompts).chain(resources).peekable();
        all.peek().is_none() || all.any(|is_shown| is_shown)
    }

    /// Which entries of a list there are for the caller. None if these are all.
    pub(crate) fn shown(&self, kind: FeatureKind) -> Option<Vec<bool>> {
        if self.are_all() {
            return None;
        }
        let of = |(member, entry): (&Member, &Listed), uri: fn(&str) -> Uri| {
            self.decide_resource(member, &uri(entry.key())) != Holds::No
        };
        let host = &self.host;
        Some(match kind {
            FeatureKind::Tool => {
                let of_search = host.search_tools().len();
                let tools = host.listed_tools().enumerate();
                // Rules are about the tools that those of a search find and call.
                tools
                    .map(|(at, tool)| at < of_search || self.allows(tool))
                    .collect()
            }
            FeatureKind::Prompt => host.prompts().map(|one| self.prompt(one.key())).collect(),
            FeatureKind::Resource => {
                let all = host.resources_of_members();
                all.map(|one| of(one, Uri::listed)).collect()
            }
            FeatureKind::ResourceTemplate => {
                let all = host.templates_of_members();
                all.map(|one| of(one, Uri::of_template)).collect()
            }
        })
    }

    /// A digest of what the lists of these kinds show the caller.
    pub(crate) fn digest(&self, kinds: &[FeatureKind]) -> u64 {
        let mut digest = DefaultHasher::new();
        for kind in kinds {
            let entries: Vec<_> = match kind {
                FeatureKind::Tool => self.host.listed_tools().map(Tool::json).collect(),
                FeatureKind::Prompt => self.host.prompts().map(Listed::json).collect(),
                FeatureKind::Resource => self.host.resources().map(Listed::json).collect(),
                FeatureKind::ResourceTemplate => {
                    self.host.resource_templates().map(Listed::json).collect()
                }
            };
            let shown = self.shown(*kind);
            for (at, entry) in entries.into_iter().enumerate() {
                if shown.as_ref().is_none_or(|shown| shown[at]) {
                    serde_json::to_string(entry).ok().hash(&mut digest);
                }
            }
        }
        digest.finish()
    }
}

/// Decides on a call, and on those that it makes.
#[derive(Clone, Debug)]
struct Guard {
    permissions: Permissions,
    guarded: Guarded,
}

/// What a [`Guard`] decides on.
#[derive(Clone, Debug)]
enum Guarded {
    /// Only the calls that a servlet makes.
    Nothing,
    /// The arguments of a tool that the client calls.
    Tool(String),
    /// A step of a virtual tool, by its number.
    Step(String, usize),
    /// A call that a servlet makes.
    Callee(Callee),
}

impl CallGuard for Guard {
    fn may_run(&self, arguments: Option<&JsonObject>) -> Result<(), Denied> {
        let permissions = &self.permissions;
        let none = JsonObject::new();
        let arguments = arguments.unwrap_or(&none);
        match &self.guarded {
            Guarded::Nothing => Ok(()),
            Guarded::Tool(tool) => {
                let item = permissions
                    .host
                    .tool(tool)
                    .and_then(|tool| permissions.item(tool));
                item.map_or(Ok(()), |item| {
                    permissions.check_arguments(&item, tool, arguments)
                })
            }
            Guarded::Step(tool, step) => match items_of_steps(&permissions.host, tool).get(*step) {
                Some(step) => permissions.check_arguments(&step.item, tool, arguments),
                None => Err(Denied {
                    text: format!("tool `{tool}` has no such step"),
                    meta: JsonObject::new(),
                }),
            },
            Guarded::Callee(callee) => {
                let item = item_of_callee(&permissions.host, callee);
                permissions.may_call(&item, callee, arguments)
            }
        }
    }

    fn may_read(&self, uri: &str) -> Result<(), Denied> {
        let permissions = &self.permissions;
        let (may_read, what) = match &self.guarded {
            Guarded::Step(tool, step) => {
                let steps = items_of_steps(&permissions.host, tool);
                let step = steps.get(*step);
                let may_read = step.is_some_and(|step| permissions.may_read(&step.item, uri));
                // The URI may contain a secret of the configuration.
                (may_read, step.map(|step| step.target.to_string()))
            }
            Guarded::Callee(callee) => {
                let item = item_of_callee(&permissions.host, callee);
                (permissions.may_read(&item, uri), Some(callee.to_string()))
            }
            Guarded::Nothing | Guarded::Tool(_) => (false, None),
        };
        if may_read {
            return Ok(());
        }
        tracing::debug!(
            resource = what,
            "the rules deny a resource of a step or a servlet"
        );
        let what = what.map_or_else(String::new, |what| format!(" `{what}`"));
        Err(Denied {
            text: format!("the resource{what} cannot be read"),
            meta: JsonObject::new(),
        })
    }

    fn of_step(&self, step: usize) -> Arc<dyn CallGuard> {
        let tool = match &self.guarded {
            Guarded::Tool(tool) | Guarded::Step(tool, _) => tool.clone(),
            Guarded::Nothing | Guarded::Callee(_) => String::new(),
        };
        self.permissions.guard_of(Guarded::Step(tool, step))
    }

    fn of_callee(&self, callee: &Callee) -> Arc<dyn CallGuard> {
        self.permissions.guard_of(Guarded::Callee(callee.clone()))
    }
}
