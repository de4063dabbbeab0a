//! Collects the findings of a check.

use std::cmp::Reverse;

use mcp_servlet_schema::Provider;

use super::{
    finding::{Finding, Level},
    target::Target,
};

/// The findings so far.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    /// The findings for these hosts and providers, the most important first.
    pub(super) fn ranked_for(self, hosts: &[Target], providers: &[Provider]) -> Vec<Finding> {
        let lost = self.lost();
        let mut findings = self.0;
        for finding in &mut findings {
            let is_about_loading = finding.is_about_loading();
            // If a host does not load the module, other findings do not matter there.
            let matters = |host: &Target| is_about_loading || !lost.contains(host);
            let hosts_of = &mut finding.hosts;
            hosts_of.retain(|host, _| hosts.contains(host) && matters(host));
            let providers_of = &mut finding.providers;
            providers_of.retain(|provider, _| providers.contains(provider));
        }
        findings.retain(|finding| !finding.hosts.is_empty() || !finding.providers.is_empty());
        findings.sort_by_key(|finding| Reverse(finding.level()));
        findings
    }

    /// The hosts that do not load the module.
    pub(super) fn lost(&self) -> Vec<Target> {
        let findings = self.0.iter().filter(|one| one.is_about_loading());
        let hosts = findings.flat_map(|finding| finding.hosts_at(Level::Error));
        hosts.collect()
    }

    /// Adds a finding. If the same finding exists for other hosts, the two are merged.
    pub(super) fn add(&mut self, finding: Finding) {
        let mut known = self.0.iter_mut();
        match known.find(|known| known.says_the_same(&finding)) {
            Some(known) => {
                known.hosts.extend(finding.hosts);
                known.providers.extend(finding.providers);
            }
            None => self.0.push(finding),
        }
    }

    /// Whether something does not work in a host, as far as found so far.
    pub(super) fn fails(&self, host: Target) -> bool {
        let mut levels = self.0.iter().filter_map(|finding| finding.hosts.get(&host));
        levels.any(|level| *level == Level::Error)
    }
}
