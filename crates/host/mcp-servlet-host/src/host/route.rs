//! Finds the servlet that has a resource or a prompt.
//!
//! URI templates have several dialects, so only a servlet knows which URIs its templates match. The
//! host therefore tries one servlet after the other, and starts with those that are likely to have
//! the resource.

use std::{collections::HashSet, sync::Arc};

use mcp_servlet_runtime::{CallError, CallErrorKind, JsonObject, RequestMeta};

use crate::{
    CompleteResult, GetPromptResult, Host, Listed, ReadResourceResult, Servlet,
    error::unknown_prompt,
};

/// The servlets that may have this resource, in the order in which the host tries them.
fn candidates<'h>(servlets: &'h [Arc<Servlet>], uri: &str) -> Vec<&'h Arc<Servlet>> {
    let readers = servlets.iter().filter(|servlet| servlet.reads_resources());
    let mut readers: Vec<_> = readers.collect();
    // The sort is stable: servlets with the same claim keep their order, so a later one cannot take
    // over URIs.
    readers.sort_by_key(|servlet| claim(servlet, uri));
    readers
}

/// Why a servlet may have a resource, the strongest claim first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    /// It lists the URI.
    Listed,
    /// The URI begins like one of its templates.
    Template,
    /// It makes no claim.
    None,
}

fn claim(servlet: &Servlet, uri: &str) -> Claim {
    if servlet.resources().iter().any(|entry| entry.key() == uri) {
        return Claim::Listed;
    }
    let mut templates = servlet.resource_templates().iter().map(Listed::key);
    let begins = templates.any(|template| {
        let literal = template.split('{').next().unwrap_or_default();
        uri.starts_with(literal)
    });
    if begins { Claim::Template } else { Claim::None }
}

impl Host {
    /// All resources with fixed URIs: servlet by servlet, each in its own order.
    pub fn resources(&self) -> impl Iterator<Item = &Listed> {
        self.listed(Servlet::resources).map(|(_, entry)| entry)
    }

    /// All resource templates.
    pub fn resource_templates(&self) -> impl Iterator<Item = &Listed> {
        let listed = self.listed(Servlet::resource_templates);
        listed.map(|(_, entry)| entry)
    }

    /// The entries with the number of their servlet. If two servlets list the same entry, only the
    /// first servlet's entry is listed, and only that servlet answers.
    pub(super) fn listed(&self, entries: Entries) -> impl Iterator<Item = (usize, &Listed)> {
        let mut seen = HashSet::new();
        let servlets = self.servlets().iter().enumerate();
        let all = servlets
            .flat_map(move |(at, servlet)| entries(servlet).iter().map(move |entry| (at, entry)));
        all.filter(move |(_, entry)| seen.insert(entry.key()))
    }

    /// Reads a resource from the servlet that has it; see [`Servlet::read_resource_with`].
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn read_resource_with(
        &self,
        uri: &str,
        request_meta: &RequestMeta,
    ) -> Result<ReadResourceResult, CallError> {
        for servlet in candidates(self.servlets(), uri) {
            match servlet.read_resource_with(uri, request_meta).await {
                Err(CallError {
                    kind: CallErrorKind::UnknownResource { .. },
                    ..
                }) => {}
                other => return other,
            }
        }
        Err(CallError::unknown_resource(uri))
    }

    /// Fills in a prompt of the servlet that has it; see [`Servlet::get_prompt_with`].
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn get_prompt_with(
        &self,
        prompt: &str,
        arguments: Option<&JsonObject>,
        request_meta: &RequestMeta,
    ) -> Result<GetPromptResult, CallError> {
        match self.find_prompt(prompt) {
            Some((servlet, prompt)) => {
                servlet
                    .get_prompt_with(prompt, arguments, request_meta)
                    .await
            }
            None => Err(self.unknown_prompt(prompt)),
        }
    }

    /// Asks the servlet that has the prompt or the resource template for suggestions; see
    /// [`Servlet::complete_async`].
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
        let Some((servlet, name)) = self.find_prompt(prompt) else {
            return Err(self.unknown_prompt(prompt));
        };
        let mut params = params.clone();
        params["ref"]["name"] = name.into();
        servlet.complete_async(&params).await
    }

    async fn complete_resource(
        &self,
        uri: &str,
        params: &JsonObject,
    ) -> Result<CompleteResult, CallError> {
        let named = |entries: &[Listed]| entries.iter().any(|entry| entry.key() == uri);
        let has = |servlet: &&Arc<Servlet>| {
            named(servlet.resource_templates()) || named(servlet.resources())
        };
        match self.servlets().iter().find(has) {
            Some(servlet) => servlet.complete_async(params).await,
            None => Err(CallError::unknown_resource(uri)),
        }
    }

    fn unknown_prompt(&self, prompt: &str) -> CallError {
        unknown_prompt(prompt, self.prompts().map(Listed::key))
    }
}

/// A function that returns one of the lists of a servlet.
pub(super) type Entries = fn(&Servlet) -> &[Listed];
