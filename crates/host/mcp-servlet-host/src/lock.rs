//! Locks: what the operator has approved of a member.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use mcp_servlet_runtime::JsonObject;

use crate::{FeatureKind, Listed, LoadError, Servlet, Tool, contract::difference};

/// What the operator has approved of a servlet.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ServletLock {
    /// Whatever it is: there is no lock.
    #[default]
    Off,
    /// Nothing: the lock does not have the servlet.
    Missing,
    /// This module, with these lists.
    Is {
        /// The SHA-256 digest of the module.
        module: [u8; 32],
        /// Its lists.
        lists: Arc<LockedLists>,
    },
}

/// What the operator has approved of the lists of a member.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LockedLists {
    /// The name in the `serverInfo` of MCP.
    pub server: Option<String>,
    /// Instructions for a model.
    pub instructions: Option<String>,
    /// The entries, as the member wrote them, by their kinds and by their names or URIs.
    pub entries: BTreeMap<(FeatureKind, String), JsonObject>,
}

impl LockedLists {
    /// Whether this entry is the approved one.
    ///
    /// # Errors
    /// How it differs.
    pub fn check(&self, kind: FeatureKind, key: &str, entry: &JsonObject) -> Result<(), String> {
        let Some(locked) = self.entries.get(&(kind, key.to_owned())) else {
            return Err("it is new".to_owned());
        };
        if locked == entry {
            return Ok(());
        }
        match difference("", &locked.clone().into(), &entry.clone().into()) {
            None => Ok(()),
            Some((pointer, _)) => Err(format!("{pointer} has changed")),
        }
    }

    /// Whether the lists of a servlet are exactly the approved ones.
    fn check_all(&self, servlet: &Servlet) -> Result<(), String> {
        for (kind, key, entry) in servlet.entries() {
            let checked = self.check(kind, key, entry);
            checked.map_err(|problem| format!("{kind} `{key}`: {problem}"))?;
        }
        let listed: HashSet<_> = servlet
            .entries()
            .map(|(kind, key, _)| (kind, key))
            .collect();
        let mut locked = self.entries.keys();
        if let Some((kind, key)) = locked.find(|(kind, key)| !listed.contains(&(*kind, &**key))) {
            return Err(format!("{kind} `{key}`: it is no longer there"));
        }
        if self.instructions.as_deref() != servlet.instructions() {
            return Err("its instructions have changed".to_owned());
        }
        Ok(())
    }
}

impl ServletLock {
    /// Whether a module may be loaded.
    pub(crate) fn check_module(&self, servlet: &str, digest: [u8; 32]) -> Result<(), LoadError> {
        match self {
            Self::Off => Ok(()),
            Self::Missing => Err(LoadError::NotLocked {
                servlet: servlet.to_owned(),
            }),
            Self::Is { module, .. } if *module == digest => Ok(()),
            Self::Is { .. } => Err(LoadError::Locked {
                servlet: servlet.to_owned(),
                problem: "the module has changed".to_owned(),
            }),
        }
    }

    /// Whether the lists of a servlet may be served.
    pub(crate) fn check_lists(&self, servlet: &Servlet) -> Result<(), LoadError> {
        let Self::Is { lists, .. } = self else {
            return Ok(());
        };
        lists
            .check_all(servlet)
            .map_err(|problem| LoadError::Locked {
                servlet: servlet.name().to_owned(),
                problem,
            })
    }
}

impl Servlet {
    /// Everything that it lists, with its kind, and its name or URI.
    pub fn entries(&self) -> impl Iterator<Item = (FeatureKind, &str, &JsonObject)> {
        entries(
            self.tools(),
            [self.resources(), self.resource_templates(), self.prompts()],
        )
    }
}

/// Everything that a member lists: its tools, and its resources, resource templates and prompts.
pub(crate) fn entries<'m>(
    tools: &'m [Tool],
    [resources, templates, prompts]: [&'m [Listed]; 3],
) -> impl Iterator<Item = (FeatureKind, &'m str, &'m JsonObject)> {
    let tools = tools.iter();
    let tools = tools.map(|tool| (FeatureKind::Tool, tool.name(), tool.json()));
    let listed = [
        (FeatureKind::Resource, resources),
        (FeatureKind::ResourceTemplate, templates),
        (FeatureKind::Prompt, prompts),
    ];
    let listed = listed.into_iter().flat_map(|(kind, entries)| {
        entries
            .iter()
            .map(move |entry| (kind, entry.key(), entry.json()))
    });
    tools.chain(listed)
}
