//! What a check found.

use std::{collections::BTreeMap, fmt};

use mcp_servlet_host::FeatureKind;
use mcp_servlet_schema::Provider;
use serde::Serialize;

use super::target::Target;

/// Where one of these rules is broken, the servlet does not load.
const LOADING: [&str; 3] = [IMPORTS, EXPORTS, LOAD];

pub(super) const IMPORTS: &str = "imports";
pub(super) const EXPORTS: &str = "exports";
pub(super) const LOAD: &str = "load";

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Good to know.
    Note,
    /// Something is dropped, or some client stumbles over it.
    Warning,
    /// It will not work.
    Error,
}

/// One thing to know about a servlet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The name of the rule, which stays the same from release to release.
    pub rule: &'static str,
    /// Where it matters, and how much.
    pub hosts: BTreeMap<Target, Level>,
    /// The providers that refuse it, or make less of it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub providers: BTreeMap<Provider, Level>,
    /// What it is about, unless that is the servlet as a whole.
    pub place: Option<Place>,
    /// What is the matter.
    pub problem: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// A place in what a servlet lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// What the items are.
    pub kind: FeatureKind,
    /// Their names; addresses of resources.
    pub items: Vec<String>,
    /// A JSON pointer into each of them; empty for the item as a whole.
    pub pointer: String,
}

impl Finding {
    pub(super) fn new(rule: &'static str, problem: impl Into<String>) -> Self {
        Self {
            rule,
            hosts: BTreeMap::new(),
            providers: BTreeMap::new(),
            place: None,
            problem: problem.into(),
            help: None,
        }
    }

    pub(super) fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Matters that much in these hosts, unless it matters more for another reason.
    pub(super) fn matters(mut self, level: Level, hosts: &[Target]) -> Self {
        for host in hosts {
            let known = self.hosts.entry(*host).or_insert(level);
            *known = level.max(*known);
        }
        self
    }

    /// Matters that much for a provider.
    pub(super) fn refused_by(mut self, provider: Provider, level: Level) -> Self {
        self.providers.insert(provider, level);
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

    /// The same, but it matters no more than that.
    pub(super) fn at_most(mut self, level: Level) -> Self {
        for known in self.hosts.values_mut() {
            *known = level.min(*known);
        }
        self
    }

    /// How much it matters where it matters most.
    pub fn level(&self) -> Level {
        let levels = self.hosts.values().chain(self.providers.values());
        levels.copied().max().unwrap_or(Level::Note)
    }

    /// Whether it says why a module is not loaded.
    pub(super) fn is_about_loading(&self) -> bool {
        LOADING.contains(&self.rule)
    }

    /// Whether two findings differ in their hosts alone.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        (self.rule, &self.place, &self.problem, &self.help)
            == (other.rule, &other.place, &other.problem, &other.help)
    }

    /// The hosts in which it matters that much.
    pub fn hosts_at(&self, level: Level) -> impl Iterator<Item = Target> {
        let hosts = self.hosts.iter().filter(move |(_, known)| **known == level);
        hosts.map(|(host, _)| *host)
    }
}

impl fmt::Display for Place {
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
