//! What endpoints can serve, by name.

use std::{collections::BTreeMap, ops::Range};

use mcp_servlet_host::{Host, Loaded, Mount};

use super::{Config, Endpoint, endpoint};

/// The members by name: each is a range of the configuration's entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Members(BTreeMap<String, Range<usize>>);

impl Members {
    pub(super) fn add(&mut self, name: &str, entries: Range<usize>) {
        self.0.insert(name.to_owned(), entries);
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// What is served of a member: its servlets, without those that could not be loaded.
    fn find(&self, name: &str, loaded: &Loaded) -> Vec<Mount> {
        let entries = self.0.get(name).cloned();
        let mounts = entries.and_then(|entries| loaded.mounts.get(entries));
        mounts.into_iter().flatten().flatten().cloned().collect()
    }
}

impl Config {
    /// What an endpoint serves of the servlets that [`load`](Self::load) returned.
    pub fn host_of(&self, endpoint: &Endpoint, loaded: &Loaded) -> Host {
        let mounts = match &endpoint.members {
            None => loaded.mounts.iter().flatten().cloned().collect(),
            Some(names) => {
                let members = names.iter();
                members
                    .flat_map(|name| self.members.find(name, loaded))
                    .collect()
            }
        };
        Host::compose(mounts)
            .introduced(endpoint.introduction.clone())
            .with_schemas_for(self.schemas_for)
    }

    /// The URL of the first endpoint over streamable HTTP, unless an endpoint is standard input and
    /// output, so that clients start the server.
    pub fn url(&self) -> Option<String> {
        endpoint::url(&self.endpoints, &self.listeners)
    }
}
