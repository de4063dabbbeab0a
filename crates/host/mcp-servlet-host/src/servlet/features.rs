//! Resources, prompts and completion of one servlet.

use mcp_servlet_call::{CallError, JsonObject, RequestMeta};
use mcp_servlet_runtime::{Abi, Job};
use serde_json::Value;

use super::{
    Servlet, answers,
    resource_cache::{Key, is_shared},
};
use crate::{
    CompleteResult, GetPromptResult, ReadResourceResult,
    error::unknown_prompt,
    features::{COMPLETE, GET_PROMPT, Listed, READ_RESOURCE},
};

impl Servlet {
    /// The resources with fixed URIs, in the order in which the servlet lists them.
    pub fn resources(&self) -> &[Listed] {
        &self.features().resources
    }

    /// Those of its resources that no function of the servlet lists.
    pub fn fixed_resources(&self) -> &[Listed] {
        let features = self.features();
        &features.resources[..features.fixed_resources]
    }

    /// The resource templates, in the order in which the servlet lists them.
    pub fn resource_templates(&self) -> &[Listed] {
        &self.features().templates
    }

    /// The prompts, in the order in which the servlet lists them.
    pub fn prompts(&self) -> &[Listed] {
        &self.features().prompts
    }

    /// Whether it suggests values for arguments.
    pub fn completes(&self) -> bool {
        self.module().can_call(COMPLETE)
    }

    /// Whether it has resources, even if it does not list them.
    pub fn reads_resources(&self) -> bool {
        self.module().can_call(READ_RESOURCE)
    }

    /// Reads a resource. With [`LoadOptions::resource_cache`], the result may come from an earlier request of the
    /// same caller. Its `ttlMs` says how long it is still kept.
    ///
    /// # Errors
    /// [`CallError`]. Its kind is [`UnknownResource`] if there is no resource with this URI.
    ///
    /// [`LoadOptions::resource_cache`]: mcp_servlet_runtime::LoadOptions::resource_cache
    /// [`UnknownResource`]: mcp_servlet_call::CallErrorKind::UnknownResource
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, CallError> {
        self.read_resource_with(uri, &RequestMeta::default()).await
    }

    /// Like [`Servlet::read_resource`], with the other parts of the request in `request_meta`.
    ///
    /// # Errors
    /// See [`Servlet::read_resource`].
    pub async fn read_resource_with(
        &self,
        uri: &str,
        request_meta: &RequestMeta,
    ) -> Result<ReadResourceResult, CallError> {
        let time = self.options().resource_cache;
        // What it calls may depend on the caller.
        let is_for_caller = request_meta.guard.is_some() && self.makes_calls();
        let Some(time) = time.filter(|_| is_shared(request_meta) && !is_for_caller) else {
            return self.read_now(uri, request_meta).await;
        };
        let key = Key::new(uri, request_meta, self.options().resource_cache_shared);
        if let Some(result) = self.resources.get(&key) {
            return Ok(result);
        }
        let reading = self.resources.begin(time);
        let result = self.read_now(uri, request_meta).await?;
        Ok(self.resources.keep(key, &reading, result))
    }

    async fn read_now(
        &self,
        uri: &str,
        request_meta: &RequestMeta,
    ) -> Result<ReadResourceResult, CallError> {
        let job = self.read_job(uri, request_meta)?;
        answers::resource(self, uri, self.guest.run(job).await)
    }

    /// Drops what was kept of a resource, because it has changed.
    pub fn forget_resource(&self, uri: &str) {
        self.resources.forget(uri);
    }

    /// Fills in a prompt.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn get_prompt(
        &self,
        prompt: &str,
        arguments: Option<&JsonObject>,
    ) -> Result<GetPromptResult, CallError> {
        self.get_prompt_with(prompt, arguments, &RequestMeta::default())
            .await
    }

    /// Like [`Servlet::get_prompt`], with the other parts of the request in `request_meta`.
    ///
    /// # Errors
    /// See [`Servlet::get_prompt`].
    pub async fn get_prompt_with(
        &self,
        prompt: &str,
        arguments: Option<&JsonObject>,
        request_meta: &RequestMeta,
    ) -> Result<GetPromptResult, CallError> {
        let job = self.prompt_job(prompt, arguments, request_meta)?;
        answers::prompt(self, &self.guest.run(job).await?)
    }

    /// Suggests values for an argument: `params` are those of `completion/complete`. If the servlet has no completion, the result
    /// has no values.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn complete(&self, params: &JsonObject) -> Result<CompleteResult, CallError> {
        if !self.completes() {
            return Ok(answers::no_completion());
        }
        let output = self.guest.run(self.complete_job(params)).await?;
        answers::completion(self, &output)
    }

    fn read_job(&self, uri: &str, request_meta: &RequestMeta) -> Result<Job, CallError> {
        if !self.reads_resources() {
            return Err(CallError::unknown_resource(uri));
        }
        let params = JsonObject::from_iter([("uri".to_owned(), uri.into())]);
        Ok(self.guest.request(READ_RESOURCE, &params, request_meta))
    }

    fn prompt_job(
        &self,
        prompt: &str,
        arguments: Option<&JsonObject>,
        request_meta: &RequestMeta,
    ) -> Result<Job, CallError> {
        if !self.prompts().iter().any(|entry| entry.key() == prompt) {
            let known = self.prompts().iter().map(Listed::key);
            return Err(unknown_prompt(prompt, known));
        }
        let mut params = JsonObject::from_iter([("name".to_owned(), prompt.into())]);
        if let Some(arguments) = arguments {
            params.insert("arguments".to_owned(), arguments.clone().into());
        }
        Ok(self.guest.request(GET_PROMPT, &params, request_meta))
    }

    fn complete_job(&self, params: &JsonObject) -> Job {
        let mut params = params.clone();
        if self.abi() == Abi::HyperMcpV2
            && let Some(Value::String(kind)) =
                params.get_mut("ref").and_then(|of| of.get_mut("type"))
        {
            // hyper-mcp writes the type without `ref/`.
            *kind = kind.trim_start_matches("ref/").to_owned();
        }
        self.guest.job(
            COMPLETE,
            self.abi().request(&params, &RequestMeta::default()),
        )
    }
}
