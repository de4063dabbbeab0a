//! Finds the member that has a resource or a prompt.
//!
//! URI templates have several dialects, so only a member knows which URIs its templates match. The
//! host therefore tries one member after the other, and starts with those that are likely to have
//! the resource.

use std::collections::HashSet;

use mcp_servlet_call::{CallError, CallErrorKind, JsonObject, RequestMeta};
use mcp_servlet_common::normalized_uri;

use super::uri::{literal, written_like};
use crate::{
    CompleteResult, GetPromptResult, Host, Listed, Member, ReadResourceResult, ResourceWatch,
    error::unknown_prompt,
};

/// The members that may have this resource, in the order in which the host tries them.
fn candidates<'h>(
    members: impl Iterator<Item = &'h Member>,
    uri: &str,
) -> Vec<(Claim, &'h Member)> {
    let uri = &normalized_uri(uri);
    let mut readers: Vec<_> = members
        .filter(|member| member.reads_resources())
        .map(|member| (claim(member, uri), member))
        .collect();
    // The sort is stable: members with the same claim keep their order, so a later one cannot take
    // over URIs.
    readers.sort_by_key(|(claim, _)| *claim);
    readers
}

/// Whether the next member gets the request after this error.
fn goes_on(claim: Claim, member: &Member, error: &CallError) -> bool {
    match error.kind {
        CallErrorKind::UnknownResource { .. } => true,
        // A remote that is down does not hide the resources of others.
        CallErrorKind::Remote { .. } => claim == Claim::None && member.as_remote().is_some(),
        _ => false,
    }
}

/// Whether a remote has said why it has no such resource.
fn has_reason(error: &CallError) -> bool {
    matches!(
        error.kind,
        CallErrorKind::UnknownResource { fault: Some(_), .. }
    )
}

/// Why a member may have a resource, the strongest claim first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    /// It lists the URI.
    Listed,
    /// The URI begins like one of its templates.
    Template,
    /// It makes no claim.
    None,
}

/// `uri` must be normalized.
fn claim(member: &Member, uri: &str) -> Claim {
    let mut resources = member.resources().iter().map(Listed::key);
    if resources.any(|listed| listed.len() == uri.len() && normalized_uri(listed) == uri) {
        return Claim::Listed;
    }
    let mut templates = member.resource_templates().iter().map(Listed::key);
    if templates.any(|template| uri.starts_with(&normalized_uri(literal(template)))) {
        Claim::Template
    } else {
        Claim::None
    }
}

/// Reads a resource by its URI, or else by an equivalent one that the member lists.
async fn read(
    member: &Member,
    uri: &str,
    request_meta: &RequestMeta,
) -> Result<ReadResourceResult, CallError> {
    let result = member.read_resource_with(uri, request_meta).await;
    match &result {
        Err(error) if matches!(error.kind, CallErrorKind::UnknownResource { .. }) => {
            match member.as_listed(uri) {
                Some(uri) => member.read_resource_with(&uri, request_meta).await,
                None => result,
            }
        }
        _ => result,
    }
}

impl Member {
    /// The URI as the author of the member wrote it, if it differs from this one.
    pub fn as_listed(&self, uri: &str) -> Option<String> {
        let resources = self.resources().iter().map(Listed::key);
        let listed = resources
            .filter_map(|listed| written_like(listed, uri).filter(|written| written == listed));
        let templates = self
            .resource_templates()
            .iter()
            .map(Listed::key)
            .filter_map(|template| written_like(template, uri));
        listed.chain(templates).find(|written| written != uri)
    }
}

impl Host {
    /// All resources with fixed URIs: member by member, each in its own order.
    pub fn resources(&self) -> impl Iterator<Item = &Listed> {
        self.resources_of_members().map(|(_, entry)| entry)
    }

    /// The [`resources`](Self::resources) with their members.
    pub fn resources_of_members(&self) -> impl Iterator<Item = (&Member, &Listed)> {
        self.with_members(Member::resources)
    }

    /// All resource templates.
    pub fn resource_templates(&self) -> impl Iterator<Item = &Listed> {
        self.templates_of_members().map(|(_, entry)| entry)
    }

    /// The [`resource_templates`](Self::resource_templates) with their members.
    pub fn templates_of_members(&self) -> impl Iterator<Item = (&Member, &Listed)> {
        self.with_members(Member::resource_templates)
    }

    fn with_members(&self, entries: Entries) -> impl Iterator<Item = (&Member, &Listed)> {
        let listed = self.listed(entries);
        listed.map(|(at, entry)| (&self.mounts[at].member, entry))
    }

    /// The entries with the number of their member. If two members list the same entry, only the
    /// first member's entry is listed, and only that member answers.
    pub(super) fn listed(&self, entries: Entries) -> impl Iterator<Item = (usize, &Listed)> {
        let mut seen = HashSet::new();
        let members = self.members().enumerate();
        let all = members
            .flat_map(move |(at, member)| entries(member).iter().map(move |entry| (at, entry)));
        all.filter(move |(_, entry)| seen.insert(entry.key()))
    }

    /// Reads a resource from the member that has it; see [`Servlet::read_resource_with`](crate::Servlet::read_resource_with).
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn read_resource_with(
        &self,
        uri: &str,
        request_meta: &RequestMeta,
    ) -> Result<ReadResourceResult, CallError> {
        self.read_resource_from(uri, request_meta, &|_| true).await
    }

    /// Like [`read_resource_with`](Self::read_resource_with), but from some of the members.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn read_resource_from(
        &self,
        uri: &str,
        request_meta: &RequestMeta,
        is_allowed: &(dyn Fn(&Member) -> bool + Sync),
    ) -> Result<ReadResourceResult, CallError> {
        let request_meta = &*self.with_callees(request_meta);
        let members = self.members().filter(|member| is_allowed(member));
        let candidates = candidates(members, uri);
        let strongest = candidates.first().map(|(claim, _)| *claim);
        let mut refused = None;
        for (claim, member) in candidates {
            match read(member, uri, request_meta).await {
                Err(error) if goes_on(claim, member, &error) => {
                    // A member with a weaker claim may know nothing about the resource.
                    let is_apt = has_reason(&error) && Some(claim) == strongest;
                    refused = refused.or(is_apt.then_some(error));
                }
                other => return other,
            }
        }
        Err(refused.unwrap_or_else(|| CallError::unknown_resource(uri)))
    }

    /// Whether a member lists a resource, or a template that it may match.
    pub fn lists_resource(&self, uri: &str) -> bool {
        let candidates = candidates(self.members(), uri);
        let strongest = candidates.first();
        strongest.is_some_and(|(claim, _)| *claim != Claim::None)
    }

    /// The members whose changes of a resource count: those with the strongest claim to it.
    pub fn owners_of_resource(&self, uri: &str) -> Vec<&Member> {
        let candidates = candidates(self.members(), uri);
        let best = candidates.first().map(|(claim, _)| *claim);
        // Of those that list the resource, only the first one is read.
        let most = match best {
            Some(Claim::Listed) => 1,
            Some(Claim::Template | Claim::None) | None => usize::MAX,
        };
        let likely = candidates
            .into_iter()
            .take_while(|(claim, _)| Some(*claim) == best);
        likely.take(most).map(|(_, member)| member).collect()
    }

    /// Asks remotes that may have a resource to report its changes, until the results are dropped. Servlets report changes
    /// unasked.
    pub fn watch_resource(&self, uri: &str) -> Vec<ResourceWatch> {
        let owners = self.owners_of_resource(uri).into_iter();
        let remotes = owners.filter_map(Member::as_remote);
        remotes
            .map(|member| member.remote().watch_resource(uri))
            .collect()
    }

    /// Fills in a prompt of the member that has it; see [`Servlet::get_prompt_with`](crate::Servlet::get_prompt_with).
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn get_prompt_with(
        &self,
        prompt: &str,
        arguments: Option<&JsonObject>,
        request_meta: &RequestMeta,
    ) -> Result<GetPromptResult, CallError> {
        let request_meta = &*self.with_callees(request_meta);
        match self.find_prompt(prompt) {
            Some((member, prompt)) => {
                member
                    .get_prompt_with(prompt, arguments, request_meta)
                    .await
            }
            None => Err(self.unknown_prompt(prompt)),
        }
    }

    /// Asks the member that has the prompt or the resource template for suggestions; see
    /// [`Servlet::complete`](crate::Servlet::complete).
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn complete(&self, params: &JsonObject) -> Result<CompleteResult, CallError> {
        let reference = params.get("ref");
        let member = |name: &str| reference.and_then(|reference| reference.get(name)?.as_str());
        match (member("name"), member("uri")) {
            (Some(prompt), _) => self.complete_prompt(prompt, params).await,
            (None, Some(uri)) => self.complete_resource(uri, params).await,
            (None, None) => Err(self.unknown_prompt("")),
        }
    }

    async fn complete_prompt(
        &self,
        prompt: &str,
        params: &JsonObject,
    ) -> Result<CompleteResult, CallError> {
        let Some((member, name)) = self.find_prompt(prompt) else {
            return Err(self.unknown_prompt(prompt));
        };
        let mut params = params.clone();
        params["ref"]["name"] = name.into();
        member.complete(&params).await
    }

    async fn complete_resource(
        &self,
        uri: &str,
        params: &JsonObject,
    ) -> Result<CompleteResult, CallError> {
        let Some((member, listed)) = self.find_uri(uri) else {
            return Err(CallError::unknown_resource(uri));
        };
        let mut params = params.clone();
        params["ref"]["uri"] = listed.into();
        member.complete(&params).await
    }

    /// Finds a listed resource or template by its URI: its member, and the URI as the member wrote it.
    pub fn find_uri(&self, uri: &str) -> Option<(&Member, &str)> {
        let wanted = normalized_uri(uri);
        let is_wanted = |entry: &&Listed| {
            entry.key().len() == wanted.len() && normalized_uri(entry.key()) == wanted
        };
        self.members().find_map(|member| {
            let mut entries = member.resource_templates().iter().chain(member.resources());
            Some((member, entries.find(is_wanted)?.key()))
        })
    }

    fn unknown_prompt(&self, prompt: &str) -> CallError {
        unknown_prompt(prompt, self.prompts().map(Listed::key))
    }
}

/// A function that returns one of the lists of a member.
pub(super) type Entries = fn(&Member) -> &[Listed];
