//! What a host serves of one of its servlets.

use std::sync::Arc;

use super::route::Entries;
use crate::{FeatureKind, Host, Listed, LoadError, Member, Servlet, Tool};

/// What a host serves of one servlet, with the names that clients use.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Offer<'h> {
    /// The tools.
    pub tools: Vec<&'h Tool>,
    /// The resources with fixed URIs.
    pub resources: Vec<&'h Listed>,
    /// The resource templates.
    pub resource_templates: Vec<&'h Listed>,
    /// The prompts.
    pub prompts: Vec<&'h Listed>,
    /// The warnings about the servlet; see [`Host::problems`].
    pub problems: Vec<&'h LoadError>,
}

impl Host {
    /// The tools and prompts: the name of the member, the kind, the member's own name, and the one that clients use.
    pub fn served_names(&self) -> impl Iterator<Item = (&str, FeatureKind, &str, &str)> {
        let tools = self
            .tools
            .names()
            .into_iter()
            .map(|one| (FeatureKind::Tool, one));
        let prompts = self
            .prompts
            .names()
            .into_iter()
            .map(|one| (FeatureKind::Prompt, one));
        tools.chain(prompts).map(|(kind, ((member, own), served))| {
            let member = &self.mounts[member].member;
            (member.name(), kind, own, served)
        })
    }

    /// What this host serves of one of its servlets; nothing of any other servlet.
    pub fn offer(&self, servlet: &Arc<Servlet>) -> Offer<'_> {
        let is_it = |member: &Member| {
            let one = member.as_servlet();
            one.is_some_and(|one| Arc::ptr_eq(one, servlet))
        };
        let Some(at) = self.members().position(is_it) else {
            return Offer::default();
        };
        let listed = |entries: Entries| {
            let listed = self.listed(entries).filter(|(member, _)| *member == at);
            listed.map(|(_, entry)| entry).collect()
        };
        let problems = self.problems.iter().filter(|(member, _)| *member == at);
        Offer {
            tools: self.tools.of_member(at).collect(),
            resources: listed(Member::resources),
            resource_templates: listed(Member::resource_templates),
            prompts: self.prompts.of_member(at).collect(),
            problems: problems.map(|(_, problem)| problem).collect(),
        }
    }
}
