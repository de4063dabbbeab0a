//! The findings of a check.

use std::{collections::BTreeMap, fmt};

use mcp_servlet_host::FeatureKind;
use mcp_servlet_schema::Provider;
use serde::Serialize;

use super::target::Target;

/// Rules that keep a servlet from loading.
const LOADING: [&str; 3] = [IMPORTS, EXPORTS, LOAD];

pub(super) const IMPORTS: &str = "imports";
pub(super) const EXPORTS: &str = "exports";
pub(super) const LOAD: &str = "load";

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Useful to know.
    Note,
    /// Something is dropped, or a client has a problem with it.
    Warning,
    /// It does not work.
    Error,
}

/// A finding about a servlet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The name of the rule, which does not change between releases.
    pub rule: &'static str,
    /// The hosts that the finding concerns, with its level there.
    pub hosts: BTreeMap<Target, Level>,
    /// The providers that refuse the tool or ignore a part of it, with the level.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub providers: BTreeMap<Provider, Level>,
    /// The level in the MCP registry, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registry: Option<Level>,
    /// The item that the finding is about; `None` for the servlet as a whole.
    pub location: Option<Location>,
    /// What is wrong.
    pub problem: String,
    /// How to fix it.
    pub help: Option<String>,
}

/// One or several items of a servlet, or a part of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Location {
    /// The kind of the items.
    pub kind: FeatureKind,
    /// Their names; URIs for resources.
    pub items: Vec<String>,
    /// A JSON pointer into each item; empty for the item as a whole.
    pub pointer: String,
}

impl Finding {
    pub(super) fn new(rule: &'static str, problem: impl Into<String>) -> Self {
        Self {
            rule,
            hosts: BTreeMap::new(),
            providers: BTreeMap::new(),
            registry: None,
            location: None,
            problem: problem.into(),
            help: None,
        }
    }

    pub(super) fn at(mut self, location: Location) -> Self {
        self.location = Some(location);
        self
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the level for these hosts, unless they already have a higher one.
    pub(super) fn matters(mut self, level: Level, hosts: &[Target]) -> Self {
        for host in hosts {
            let known = self.hosts.entry(*host).or_insert(level);
            *known = level.max(*known);
        }
        self
    }

    /// Sets the level for a provider.
    pub(super) fn refused_by(mut self, provider: Provider, level: Level) -> Self {
        self.providers.insert(provider, level);
        self
    }

    /// The registry may see something that is not known here.
    pub(super) fn noted_for_registry(mut self) -> Self {
        self.registry = Some(Level::Note);
        self
    }

    /// The registry does not publish the server.
    pub(super) fn refused_by_registry(mut self) -> Self {
        self.registry = Some(Level::Error);
        self
    }

    pub(super) fn error(self) -> Self {
        self.matters(Level::Error, &Target::ALL)
    }

    pub(super) fn warning(self) -> Self {
        self.matters(Level::Warning, &Target::ALL)
    }

    pub(super) fn note(self) -> Self {
        self.matters(Level::Note, &Target::ALL)
    }

    /// Limits the level for all hosts.
    pub(super) fn at_most(mut self, level: Level) -> Self {
        for known in self.hosts.values_mut() {
            *known = level.min(*known);
        }
        self
    }

    /// The highest level, over all hosts, all providers and the registry.
    pub fn level(&self) -> Level {
        let levels = self
            .hosts
            .values()
            .chain(self.providers.values())
            .chain(&self.registry);
        levels.copied().max().unwrap_or(Level::Note)
    }

    /// Whether the finding explains why a module does not load.
    pub(super) fn is_about_loading(&self) -> bool {
        LOADING.contains(&self.rule)
    }

    /// Whether two findings differ only in their hosts.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        (self.rule, &self.location, &self.problem, &self.help)
            == (other.rule, &other.location, &other.problem, &other.help)
    }

    /// The hosts for which the finding has this level.
    pub fn hosts_at(&self, level: Level) -> impl Iterator<Item = Target> {
        let hosts = self.hosts.iter().filter(move |(_, known)| **known == level);
        hosts.map(|(host, _)| *host)
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.items.len() == 1 { "" } else { "s" };
        write!(
            f,
            "{}{plural} `{}`",
            self.kind.name(),
            self.items.join("`, `")
        )?;
        if self.pointer.is_empty() {
            return Ok(());
        }
        write!(f, ", {}", self.pointer)
    }
}
