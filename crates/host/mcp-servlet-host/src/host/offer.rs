//! What a host serves of one of its servlets.

use std::sync::Arc;

use super::route::Entries;
use crate::{Host, Listed, LoadError, Servlet, Tool};

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
    /// What this host serves of one of its servlets; nothing of any other servlet.
    pub fn offer(&self, servlet: &Arc<Servlet>) -> Offer<'_> {
        let mut servlets = self.servlets.iter();
        let Some(at) = servlets.position(|one| Arc::ptr_eq(one, servlet)) else {
            return Offer::default();
        };
        let listed = |entries: Entries| {
            let listed = self.listed(entries).filter(|(servlet, _)| *servlet == at);
            listed.map(|(_, entry)| entry).collect()
        };
        let problems = self.problems.iter();
        let problems = problems.filter(|(servlet, _)| *servlet == at);
        Offer {
            tools: self.tools.of_servlet(at).collect(),
            resources: listed(Servlet::resources),
            resource_templates: listed(Servlet::resource_templates),
            prompts: self.prompts.of_servlet(at).collect(),
            problems: problems.map(|(_, problem)| problem).collect(),
        }
    }
}
