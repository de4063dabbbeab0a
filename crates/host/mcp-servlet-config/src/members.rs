//! What endpoints can serve, by name.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use mcp_servlet_access::AuthOptions;
use mcp_servlet_host::{Entry, Host, Loaded, Mount, PlacedTool};
use mcp_servlet_server::RemoteEntry;

use super::{Config, IN_DIRECTORY, Reader, endpoint, file::File, findings::SectionSpans};

/// A section whose tools an endpoint can list.
#[derive(Clone, Debug)]
enum Member {
    /// The servlets of a range of the configuration's entries.
    Servlets(Range<usize>),
    /// A remote.
    Remote,
    /// The virtual tools of a bundle.
    Bundle,
}

/// The members by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    all: BTreeMap<String, Member>,
    /// The byte ranges of the sections of servlets and remotes in the file.
    spans: BTreeMap<String, SectionSpans>,
}

impl Members {
    fn add(&mut self, name: &str, entries: Range<usize>) {
        self.all.insert(name.to_owned(), Member::Servlets(entries));
    }

    pub(super) fn add_remotes<'n>(&mut self, names: impl Iterator<Item = &'n String>) {
        self.all
            .extend(names.map(|name| (name.clone(), Member::Remote)));
    }

    pub(super) fn add_bundles<'n>(&mut self, names: impl Iterator<Item = &'n String>) {
        self.all
            .extend(names.map(|name| (name.clone(), Member::Bundle)));
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.all.keys().map(String::as_str).collect()
    }

    /// The names of the members that a section stands for: those of its servlets, or its own.
    pub(super) fn names_of(&self, section: &str, entries: &[Entry]) -> Vec<String> {
        match self.all.get(section) {
            Some(Member::Servlets(range)) => {
                let entries = entries.get(range.clone()).into_iter().flatten();
                entries.map(Entry::name).collect()
            }
            Some(Member::Remote | Member::Bundle) | None => vec![section.to_owned()],
        }
    }

    /// The names of the bundles.
    fn bundles(&self) -> impl Iterator<Item = &str> {
        let all = self.all.iter();
        let bundles = all.filter(|(_, member)| matches!(member, Member::Bundle));
        bundles.map(|(name, _)| name.as_str())
    }

    /// The byte ranges of the section of this servlet or remote.
    pub(super) fn spans_of(
        &self,
        member: &str,
        loaded: &Loaded,
        remotes: &[Mount],
    ) -> Option<&SectionSpans> {
        let has = |section: &str| {
            let mounts = self.mounts(section, loaded, remotes);
            mounts.iter().any(|mount| mount.member.name() == member)
        };
        let mut spans = self.spans.iter();
        let (_, spans) = spans.find(|(section, _)| has(section))?;
        Some(spans)
    }

    /// The byte ranges of the section of this entry.
    pub(super) fn spans_of_entry(&self, entry: usize) -> Option<&SectionSpans> {
        let mut all = self.all.iter();
        let (name, _) = all.find(|(_, member)| match member {
            Member::Servlets(entries) => entries.contains(&entry),
            Member::Remote | Member::Bundle => false,
        })?;
        self.spans.get(name)
    }

    /// The byte ranges of the section of this remote.
    pub(super) fn spans_of_remote(&self, name: &str) -> Option<&SectionSpans> {
        self.spans.get(name)
    }

    /// What is served of a member: its servlets, without those that could not be loaded, or a remote.
    pub(super) fn mounts(&self, name: &str, loaded: &Loaded, remotes: &[Mount]) -> Vec<Mount> {
        match self.all.get(name) {
            Some(Member::Servlets(entries)) => {
                let mounts = loaded.mounts.get(entries.clone()).into_iter().flatten();
                mounts.flatten().cloned().collect()
            }
            Some(Member::Remote) => {
                let remotes = remotes.iter().filter(|mount| mount.member.name() == name);
                remotes.cloned().collect()
            }
            Some(Member::Bundle) | None => Vec::new(),
        }
    }
}

impl Reader<'_> {
    /// The servlets of the file, in its order, and their names.
    pub(super) fn servlets(&mut self, file: &File) -> (Vec<Entry>, Members) {
        let mut sections: Vec<_> = file.servlet.iter().collect();
        sections.sort_by_key(|(_, section)| section.span().start);
        let mut entries = Vec::new();
        let mut members = Members {
            spans: file.spans(),
            ..Members::default()
        };
        for (name, section) in sections {
            let start = entries.len();
            self.servlet(name, section, &mut entries);
            members.add(name, start..entries.len());
        }
        (entries, members)
    }

    /// The remotes of the file, in its order. Their headers can read the callers of `auths`.
    pub(super) fn remotes(&mut self, file: &File, auths: &[&AuthOptions]) -> Vec<RemoteEntry> {
        let mut sections: Vec<_> = file.remote.iter().collect();
        sections.sort_by_key(|(_, section)| section.span().start);
        let mut remotes = Vec::new();
        for (name, section) in sections {
            if let Some(servlet) = file.servlet.get(name) {
                let position = self.position(servlet.span().start);
                let message = format!("`{name}` is a remote here, and a servlet at {position}");
                self.problem(section.span(), message);
            } else if self.in_directories.contains(name) {
                let message = format!("`{name}` is a remote here, and {IN_DIRECTORY}");
                self.problem(section.span(), message);
            }
            remotes.extend(self.remote(name, section, auths));
        }
        remotes
    }
}

impl Config {
    /// A bundle by itself.
    pub(super) fn host_of_bundle(&self, bundle: &str, loaded: &Loaded, remotes: &[Mount]) -> Host {
        self.host_of_members(Some(&[bundle.to_owned()]), loaded, remotes)
    }

    /// The bundles that no endpoint lists, if there are endpoints.
    pub(super) fn unlisted_bundles(&self) -> impl Iterator<Item = &str> {
        let is_listed = |bundle: &str| {
            let mut endpoints = self.settings.endpoints.iter();
            endpoints.any(|endpoint| match &endpoint.members {
                None => true,
                Some(members) => members.iter().any(|member| member == bundle),
            })
        };
        let has_endpoints = !self.settings.endpoints.is_empty();
        let bundles = self.members.bundles().filter(move |_| has_endpoints);
        bundles.filter(move |bundle| !is_listed(bundle))
    }

    /// What members serve, or all of them. Their virtual tools, and servlets that may call others, reach all servlets and remotes.
    pub(super) fn host_of_members(
        &self,
        members: Option<&[String]>,
        loaded: &Loaded,
        remotes: &[Mount],
    ) -> Host {
        let all = || loaded.mounts.iter().flatten().chain(remotes);
        let mut mounts = Vec::new();
        let mut tools = Vec::new();
        match members {
            None => {
                mounts.extend(all().cloned());
                tools.extend(self.virtual_tools_after(mounts.len(), |_| true));
            }
            Some(names) => {
                for name in names {
                    mounts.extend(self.members.mounts(name, loaded, remotes));
                    tools.extend(self.virtual_tools_after(mounts.len(), |bundle| bundle == name));
                }
            }
        }
        let is_mounted = |name: &str| mounts.iter().any(|mount| mount.member.name() == name);
        let calls_others = !tools.is_empty() || mounts.iter().any(|one| one.member.makes_calls());
        let others = all().filter(|mount| calls_others && !is_mounted(mount.member.name()));
        let handlers = others.map(|mount| mount.member.clone()).collect();
        Host::compose(mounts)
            .with_schemas_for(self.schemas_for)
            .with_virtual_tools(tools, handlers)
    }

    /// The host of an endpoint with the names in `servlet.lock`, if there is one.
    pub(super) fn with_approved_names(&self, host: Host, endpoint: &str) -> Host {
        match self.approved.get(endpoint) {
            Some(names) => host.with_names(Arc::clone(names)),
            None => host,
        }
    }

    /// The virtual tools of some bundles, listed after this many members.
    pub(super) fn virtual_tools_after(
        &self,
        after: usize,
        is_listed: impl Fn(&str) -> bool,
    ) -> Vec<PlacedTool> {
        let tools = self.bundles.tools();
        let listed = tools
            .iter()
            .filter(|tool| is_listed(tool.bundle()))
            .cloned();
        listed.map(|tool| PlacedTool { tool, after }).collect()
    }

    /// The URL of the first endpoint over streamable HTTP, unless an endpoint is standard input and
    /// output, so that clients start the server.
    pub fn url(&self) -> Option<String> {
        endpoint::url(&self.settings.endpoints, &self.settings.listeners)
    }

    /// As [`url`](Self::url), for endpoints over HTTP+SSE.
    pub fn sse_url(&self) -> Option<String> {
        endpoint::sse_url(&self.settings.endpoints, &self.settings.listeners)
    }
}
