//! What a host serves of one of its servlets.

use std::{collections::HashSet, sync::Arc};

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
        let problems = self.problems.iter();
        Offer {
            tools: self.tools.of_servlet(at).collect(),
            resources: self.listed_of(at, Servlet::resources),
            resource_templates: self.listed_of(at, Servlet::resource_templates),
            prompts: self.prompts.of_servlet(at).collect(),
            problems: problems
                .filter(|(servlet, _)| *servlet == at)
                .map(|(_, problem)| problem)
                .collect(),
        }
    }

    /// The entries of a servlet that no earlier servlet lists.
    fn listed_of(&self, servlet: usize, list: fn(&Servlet) -> &[Listed]) -> Vec<&Listed> {
        let earlier = self.servlets[..servlet].iter().flat_map(|one| list(one));
        let earlier: HashSet<_> = earlier.map(Listed::key).collect();
        let entries = list(&self.servlets[servlet]).iter();
        entries
            .filter(|entry| !earlier.contains(entry.key()))
            .collect()
    }
}
