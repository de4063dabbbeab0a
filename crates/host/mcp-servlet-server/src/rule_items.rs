//! What rules decide about: the tools of a host, and what virtual tools and servlets call.

use mcp_servlet_access::rules::{Hints, Item, Name, Uri};
use mcp_servlet_call::Callee;
use mcp_servlet_host::{FeatureKind, Host, Member, Tool, bundle::Target};

/// What a servlet calls or reads, for rules.
pub(crate) fn item_of_callee<'h>(host: &'h Host, callee: &'h Callee) -> Item<'h> {
    let mut other_name = None;
    let name = match callee {
        Callee::Tool { member, tool, .. } => {
            let (described, listed) = host.tool_of_member(member, tool);
            other_name = listed.and_then(|name| host.other_name(FeatureKind::Tool, name));
            let hints = described.map_or_else(|| Hints::of(None), hints);
            Name::Step(tool, listed, hints)
        }
        Callee::Resource { uri, .. } => Name::StepResource(Uri::listed(uri)),
    };
    Item {
        name,
        member: callee.member(),
        bundle: None,
        other_name,
    }
}

/// A tool of a host, for rules.
pub fn item_of_tool<'h>(host: &'h Host, tool: &'h Tool) -> Option<Item<'h>> {
    let bundle = host.bundle_of(tool.name());
    let member = host.member_of(tool.name()).map(Member::name);
    Some(Item {
        name: Name::Tool(tool.name(), hints(tool)),
        member: member.or(bundle)?,
        bundle,
        other_name: host.other_name(FeatureKind::Tool, tool.name()),
    })
}

/// A prompt of a host, for rules.
pub fn item_of_prompt<'h>(host: &'h Host, name: &'h str) -> Option<Item<'h>> {
    Some(Item {
        name: Name::Prompt(name),
        member: host.member_of_prompt(name)?.name(),
        bundle: None,
        other_name: host.other_name(FeatureKind::Prompt, name),
    })
}

/// A resource of a member, for rules.
pub fn item_of_resource<'h>(member: &'h Member, uri: &'h Uri) -> Item<'h> {
    Item {
        name: Name::Resource(uri),
        member: member.name(),
        bundle: None,
        other_name: None,
    }
}

/// A step of a virtual tool, for rules.
#[derive(Debug)]
pub struct StepItem<'h> {
    /// What rules decide about.
    pub item: Item<'h>,
    /// `None` if it reads a resource.
    pub tool: Option<&'h Tool>,
    /// What it calls or reads.
    pub target: &'h Target,
}

/// What a virtual tool calls and reads, in the order of its steps. Empty for other tools.
pub fn items_of_steps<'h>(host: &'h Host, tool: &str) -> Vec<StepItem<'h>> {
    let steps = host.steps_of(tool).into_iter();
    let items = steps.map(|step| {
        let target = step.step.target();
        let listed = step.listed;
        let other_name = listed.and_then(|name| host.other_name(FeatureKind::Tool, name));
        let name = match target {
            Target::Tool(handler) => {
                let hints = step.tool.map_or_else(|| Hints::of(None), hints);
                Name::Step(&handler.tool, step.listed, hints)
            }
            Target::Resource(resource) => Name::StepResource(Uri::of_template(&resource.template)),
        };
        StepItem {
            item: Item {
                name,
                member: step.member.name(),
                bundle: None,
                other_name,
            },
            tool: step.tool,
            target,
        }
    });
    items.collect()
}

fn hints(tool: &Tool) -> Hints {
    Hints::of(tool.json().get("annotations"))
}
