//! What a caller may use of a host, according to the rules of the endpoint.
//!
//! For its client, an item that the rules deny does not exist: lists, calls and errors all ask here.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash as _, Hasher as _},
    sync::Arc,
};

use mcp_servlet_access::{
    Caller,
    rules::{Decision, Hints, Holds, Item, Name, Rules, Uri},
};
use mcp_servlet_host::{FeatureKind, Host, Listed, Member, Tool, unknown_prompt, unknown_tool};
use mcp_servlet_runtime::{CallError, JsonObject};
use serde_json::Value;

/// The rules of an endpoint, for one caller and one host.
#[derive(Clone, Debug)]
pub(crate) struct Permissions {
    pub(crate) rules: Arc<Rules>,
    /// None if the endpoint does not know its callers.
    pub(crate) caller: Option<Arc<Caller>>,
    pub(crate) host: Arc<Host>,
}

impl Permissions {
    /// Whether there are no rules.
    pub(crate) fn are_all(&self) -> bool {
        self.rules.is_empty()
    }

    fn decide(&self, item: &Item<'_>) -> Decision<'_> {
        self.rules.decide(self.caller.as_deref(), item)
    }

    fn allow(&self, item: &Item<'_>) -> bool {
        self.decide(item).allowed != Holds::No
    }

    /// The tool with this name, if there is one for the caller.
    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        let tool = self.host.tool(name)?;
        (self.are_all() || self.allows(tool)).then_some(tool)
    }

    /// Whether there is a tool with this name, but not for the caller.
    pub(crate) fn hide_tool(&self, name: &str) -> bool {
        self.host.tool(name).is_some() && self.tool(name).is_none()
    }

    fn allows(&self, tool: &Tool) -> bool {
        let decision = self.decide_tool(tool);
        decision.is_some_and(|decision| decision.allowed != Holds::No)
    }

    /// What the rules say about a tool, and about the tool that it calls if it is virtual.
    fn decide_tool(&self, tool: &Tool) -> Option<Decision<'_>> {
        let (member, _) = self.host.origin_of(tool.name())?;
        let step = self.host.step_of(tool.name());
        let item = Item {
            name: Name::Tool(tool.name(), hints(tool)),
            member,
            bundle: step.map(|step| step.bundle),
        };
        let own = self.decide(&item);
        let step = step.map(|step| {
            self.decide(&Item {
                name: Name::Step(step.tool.name(), step.listed, hints(step.tool)),
                member,
                bundle: None,
            })
        });
        Some(match step {
            Some(step) if step.allowed < own.allowed => step,
            _ => own,
        })
    }

    fn prompt(&self, name: &str) -> bool {
        let member = self.host.member_of_prompt(name);
        member.is_some_and(|member| {
            let item = Item {
                name: Name::Prompt(name),
                member: member.name(),
                bundle: None,
            };
            self.allow(&item)
        })
    }

    /// Whether the caller may read a resource of a member.
    pub(crate) fn resource(&self, member: &Member, uri: &Uri) -> bool {
        let item = Item {
            name: Name::Resource(uri),
            member: member.name(),
            bundle: None,
        };
        self.allow(&item)
    }

    /// Whether the caller may learn of changes of a resource.
    pub(crate) fn updates(&self, uri: &str) -> bool {
        let mut readers = self.host.members().filter(|one| one.reads_resources());
        self.are_all() || {
            let uri = Uri::new(uri);
            readers.any(|member| self.resource(member, &uri))
        }
    }

    /// The error for a tool that does not exist for the caller.
    pub(crate) fn unknown_tool(&self, name: &str) -> Option<CallError> {
        if self.are_all() || self.tool(name).is_some() {
            return None;
        }
        let denied = self.host.tool(name).and_then(|tool| self.decide_tool(tool));
        if let Some(Decision { rule, .. }) = denied {
            let rule = rule.map(|rule| &*rule.name);
            tracing::debug!(tool = name, rule, "the rules deny a tool");
        }
        let known = self.host.tools().filter(|tool| self.allows(tool));
        Some(unknown_tool(name, known.map(Tool::name)))
    }

    /// The error for a prompt that does not exist for the caller.
    pub(crate) fn unknown_prompt(&self, name: &str) -> Option<CallError> {
        if self.are_all() || self.prompt(name) {
            return None;
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
        let found = self.host.find_uri(uri);
        let may = found.is_some_and(|(member, key)| self.resource(member, &Uri::of_template(key)));
        (!self.are_all() && !may).then(|| CallError::unknown_resource(uri))
    }

    /// Which entries of a list there are for the caller. None if these are all.
    pub(crate) fn shown(&self, kind: FeatureKind) -> Option<Vec<bool>> {
        if self.are_all() {
            return None;
        }
        let of = |(member, entry): (&Member, &Listed), uri: fn(&str) -> Uri| {
            self.resource(member, &uri(entry.key()))
        };
        let host = &self.host;
        Some(match kind {
            FeatureKind::Tool => host.tools().map(|tool| self.allows(tool)).collect(),
            FeatureKind::Prompt => host.prompts().map(|one| self.prompt(one.key())).collect(),
            FeatureKind::Resource => {
                let all = host.resources_of_members();
                all.map(|one| of(one, Uri::new)).collect()
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
                FeatureKind::Tool => self.host.tools().map(Tool::json).collect(),
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

fn hints(tool: &Tool) -> Hints {
    Hints::of(tool.json().get("annotations"))
}
