//! Which of several servlets has a resource, or a prompt.
//!
//! Only the servlet itself knows which addresses its templates match: there are more dialects of templates than one.
//! So the servlets are asked one after the other, the likeliest first.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use crate::{CallError, Extras, Host, JsonObject, Listed, LoadError, Servlet};

/// The servlets that may have this resource, the likeliest first.
fn candidates<'h>(servlets: &'h [Arc<Servlet>], uri: &str) -> Vec<&'h Arc<Servlet>> {
    let mut servlets: Vec<_> = servlets
        .iter()
        .filter(|servlet| servlet.reads_resources())
        .collect();
    // A stable sort: among equals, in their order.
    servlets.sort_by_key(|servlet| std::cmp::Reverse(likeliness(servlet, uri)));
    servlets
}

/// How much of the address a servlet names: all of it, or as much as stands before the first variable.
fn likeliness(servlet: &Servlet, uri: &str) -> usize {
    if servlet.resources().iter().any(|entry| entry.key() == uri) {
        return usize::MAX;
    }
    let fixed = servlet.resource_templates().iter().map(|template| {
        let template = template.key();
        &template[..template.find('{').unwrap_or(template.len())]
    });
    let matching = fixed.filter(|fixed| uri.starts_with(fixed));
    matching.map(str::len).max().unwrap_or(0)
}

impl Host {
    /// All resources with fixed addresses: servlet by servlet, each in its own order.
    pub fn resources(&self) -> impl Iterator<Item = &Listed> {
        self.listed(Servlet::resources)
    }

    /// All families of resources.
    pub fn resource_templates(&self) -> impl Iterator<Item = &Listed> {
        self.listed(Servlet::resource_templates)
    }

    /// Of what two servlets have, only the first one answers, and only it is listed.
    fn listed(&self, entries: Entries) -> impl Iterator<Item = &Listed> {
        let mut seen = HashSet::new();
        let all = self
            .servlets()
            .iter()
            .flat_map(move |servlet| entries(servlet));
        all.filter(move |entry| seen.insert(entry.key()))
    }

    /// Reads a resource of whichever servlet has it; see [`Servlet::read_resource_with`].
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn read_resource_with(
        &self,
        uri: &str,
        extras: &Extras,
    ) -> Result<JsonObject, CallError> {
        for servlet in candidates(self.servlets(), uri) {
            match servlet.read_resource_with(uri, extras).await {
                Err(CallError::UnknownResource { .. }) => {}
                other => return other,
            }
        }
        Err(CallError::UnknownResource {
            uri: uri.to_owned(),
        })
    }

    /// Fills in a prompt of whichever servlet has it; see [`Servlet::get_prompt_with`].
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn get_prompt_with(
        &self,
        prompt: &str,
        arguments: Option<&JsonObject>,
        extras: &Extras,
    ) -> Result<JsonObject, CallError> {
        match self.find_prompt(prompt) {
            Some((servlet, prompt)) => servlet.get_prompt_with(prompt, arguments, extras).await,
            None => Err(self.unknown_prompt(prompt)),
        }
    }

    /// Asks whichever servlet has the prompt or the resource template for suggestions; see
    /// [`Servlet::complete_async`].
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn complete(&self, params: &JsonObject) -> Result<JsonObject, CallError> {
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
    ) -> Result<JsonObject, CallError> {
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
    ) -> Result<JsonObject, CallError> {
        let named = |entries: &[Listed]| entries.iter().any(|entry| entry.key() == uri);
        let has = |servlet: &&Arc<Servlet>| {
            named(servlet.resource_templates()) || named(servlet.resources())
        };
        match self.servlets().iter().find(has) {
            Some(servlet) => servlet.complete_async(params).await,
            None => Err(CallError::UnknownResource {
                uri: uri.to_owned(),
            }),
        }
    }

    fn unknown_prompt(&self, prompt: &str) -> CallError {
        CallError::unknown_prompt(prompt, self.prompts().map(Listed::key))
    }

    /// Resources and templates that an earlier servlet has too, so that they do not appear.
    pub(crate) fn duplicates(&self) -> Vec<LoadError> {
        let kinds: [(&'static str, Entries); 2] = [
            ("resources", Servlet::resources),
            ("resource templates", Servlet::resource_templates),
        ];
        let mut problems = Vec::new();
        for (kind, entries) in kinds {
            let mut seen = HashMap::new();
            for servlet in self.servlets() {
                for entry in entries(servlet) {
                    let first = *seen.entry(entry.key()).or_insert(servlet.origin());
                    if !std::ptr::eq(first, servlet.origin()) {
                        problems.push(LoadError::Duplicate {
                            kind,
                            key: entry.key().to_owned(),
                            first: first.to_owned(),
                            second: servlet.origin().to_owned(),
                        });
                    }
                }
            }
        }
        problems
    }
}

/// One of the lists of a servlet.
type Entries = fn(&Servlet) -> &[Listed];
