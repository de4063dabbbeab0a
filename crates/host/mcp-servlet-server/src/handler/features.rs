//! Resources, prompts and completions.

use std::{
    pin::{Pin, pin},
    time::Instant,
};

use mcp_servlet_access::audit::Event;
use mcp_servlet_call::{CallError, CallErrorKind, JsonObject, RequestMeta, RpcError};
use mcp_servlet_host::{Host, Member};
use rmcp::{
    RoleServer,
    model::{
        CompleteRequestParams, CompleteResult, GetPromptRequestParams, GetPromptResponse,
        GetPromptResult, InputRequiredResult, PromptsCapability, ReadResourceRequestParams,
        ReadResourceResponse, ReadResourceResult, ResourcesCapability, ServerCapabilities,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use crate::{
    access::owner_of,
    era::Era,
    handler::{
        Handler, attributes,
        clock::{Clock, timed_out},
        input_rounds::{self, Answer, Inputs},
        notifications::{PROGRESS_TOKEN, UsageCell},
    },
    permissions::Permissions,
    records::{Account, Asked},
    server::{
        Server,
        active::cancelled,
        metrics::{OK, outcome},
        seal::{Purpose, Request},
    },
};

/// Declares the capabilities that at least one member has, or all.
pub(super) fn declare(host: &Host, all: bool, capabilities: &mut ServerCapabilities) {
    let any = |has: fn(&Member) -> bool| all || host.members().any(has);
    if any(Member::reads_resources) {
        let mut resources = ResourcesCapability::default();
        resources.list_changed = Some(true);
        resources.subscribe = Some(true);
        capabilities.resources = Some(resources);
    }
    if any(Member::may_have_prompts) {
        let mut prompts = PromptsCapability::default();
        prompts.list_changed = Some(true);
        capabilities.prompts = Some(prompts);
    }
    if any(Member::completes) {
        capabilities.completions = Some(JsonObject::new());
    }
    if any(Member::logs_to_client) {
        capabilities.logging = Some(JsonObject::new());
    }
}

/// Runs a part of a request until it ends, is cancelled, or has used up the time of the endpoint.
async fn bounded<T>(
    (server, account, usage): (&Server, &Account, &UsageCell),
    method: &'static str,
    clock: &Clock,
    context: &RequestContext<RoleServer>,
    work: Pin<&mut impl Future<Output = Result<T, CallError>>>,
) -> Result<Result<T, CallError>, RpcError> {
    let start = Instant::now();
    account.runs();
    let work = async {
        tokio::select! {
            biased;
            result = work => result,
            () = cancelled(context) => Err(CallError::cancelled()),
        }
    };
    let result = clock.bound(work, || false).await;
    let metrics = &server.0.process.metrics;
    match &result {
        Ok(result) => {
            let error = result.as_ref().err();
            let outcome = error.map_or(OK, |error| outcome(false, Some(error)));
            account.ran(outcome, usage.get());
            metrics.request(method, result, start.elapsed());
        }
        Err(limit) => {
            account.ran("timeout", usage.get());
            metrics.request_timed_out(method, *limit, start.elapsed());
        }
    }
    result.map_err(timed_out)
}

/// What a client asks a member for. The member may ask the client for input first.
#[derive(Clone, Copy)]
enum Wanted<'a> {
    Resource {
        uri: &'a str,
    },
    Prompt {
        name: &'a str,
        arguments: Option<&'a JsonObject>,
    },
}

impl Wanted<'_> {
    fn is_listed(self, host: &Host) -> bool {
        match self {
            Self::Resource { uri } => host.lists_resource(uri),
            Self::Prompt { name, .. } => host.member_of_prompt(name).is_some(),
        }
    }

    async fn answer(
        self,
        host: &Host,
        permissions: &Permissions,
        request_meta: &RequestMeta,
    ) -> Result<JsonObject, CallError> {
        match self {
            Self::Resource { uri } => {
                permissions.note_read(uri);
                let is_allowed = |member: &Member| permissions.reads(member, uri);
                let read = host.read_resource_from(uri, request_meta, &is_allowed);
                Ok(read.await?.into_json())
            }
            Self::Prompt { name, arguments } => {
                if let Some(error) = permissions.unknown_prompt(name) {
                    return Err(error);
                }
                let get = host.get_prompt_with(name, arguments, request_meta);
                Ok(get.await?.into_json())
            }
        }
    }
}

impl Handler {
    /// The time for one request.
    fn clock(&self) -> Clock {
        Clock::new(self.server.0.options.timeout)
    }

    pub(super) async fn read(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, RpcError> {
        let wanted = Wanted::Resource { uri: &request.uri };
        let inputs = Inputs::new(request.input_responses, request.request_state);
        let answer = self.answer_feature(&context, wanted, inputs).await?;
        Ok(self.contents(Era::of(&context), answer))
    }

    /// The response to a request for a resource.
    fn contents(&self, era: Era, answer: Answer) -> ReadResourceResponse {
        match answer {
            Answer::Complete(mut json) => {
                if era == Era::Modern {
                    // Results may differ between clients and reads, so they must not be cached.
                    json.entry("ttlMs").or_insert_with(|| json!(0));
                    json.entry("cacheScope").or_insert_with(|| json!("private"));
                }
                self.answer::<ReadResourceResult>(era, json).into()
            }
            Answer::InputRequests(json) => self.answer::<InputRequiredResult>(era, json).into(),
        }
    }

    pub(super) async fn prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, RpcError> {
        let wanted = Wanted::Prompt {
            name: &request.name,
            arguments: request.arguments.as_ref(),
        };
        let inputs = Inputs::new(request.input_responses, request.request_state);
        let era = Era::of(&context);
        match self.answer_feature(&context, wanted, inputs).await? {
            Answer::Complete(json) => Ok(self.answer::<GetPromptResult>(era, json).into()),
            Answer::InputRequests(json) => Ok(self.answer::<InputRequiredResult>(era, json).into()),
        }
    }

    /// Lets a member answer, which may ask the client for input.
    async fn answer_feature(
        &self,
        context: &RequestContext<RoleServer>,
        wanted: Wanted<'_>,
        inputs: Inputs,
    ) -> Result<Answer, RpcError> {
        let host = &self
            .host_with(context, |host| wanted.is_listed(host))
            .await?;
        let (event, method, name, arguments, once) = match wanted {
            Wanted::Resource { uri } => {
                let once = host.read_may_make_calls(uri);
                (Event::Read, "resources/read", uri, None, once)
            }
            Wanted::Prompt { name, arguments } => {
                let once = host.prompt_may_make_calls(name);
                (Event::Prompt, "prompts/get", name, arguments, once)
            }
        };
        let asked = Request {
            purpose: Purpose::State(method),
            name,
            arguments,
            owner: owner_of(context),
            once,
        };
        let era = Era::of(context);
        let mut permissions = self.permissions(context, host);
        let account = Account::begin(
            &self.server,
            context,
            host,
            &Asked {
                event,
                method,
                name,
                via: None,
                arguments,
                session: self.session.id(context, era),
            },
        )?;
        permissions.notes = account.notes();
        let (permissions, account, clock) = (&permissions, &account, &self.clock());
        let call = |inputs: Inputs| async move {
            let (mut request_meta, usage) = self.request_meta(context, era, inputs);
            let _remote_span = account.trace(&mut request_meta, None);
            permissions.watch_callees(&self.server, &mut request_meta);
            let work = wanted.answer(host, permissions, &request_meta);
            let of = (&self.server, account, &usage);
            match bounded(of, method, clock, context, pin!(work)).await? {
                Ok(json) => Ok(account.answered(json)),
                Err(error) => Err(error.to_rpc_error()),
            }
        };
        let answer =
            input_rounds::answer(&self.server, context, era, &asked, inputs, false, call).await;
        answer.inspect_err(|error| account.failed(error))
    }

    pub(super) async fn suggest(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, RpcError> {
        let params = serde_json::to_value(&request).ok();
        let Some(Value::Object(mut params)) = params else {
            let message = "expected an object as params";
            return Err(RpcError::new(RpcError::INVALID_PARAMS, message));
        };
        let is_listed = |host: &Host| {
            let name = referred(&params);
            host.member_of_prompt(name).is_some() || host.find_uri(name).is_some()
        };
        let host = self.host_with(&context, is_listed).await?;
        let mut meta = context.meta.0.0.clone();
        attributes::strip(&mut meta);
        // Completions have no progress, and the token is our own.
        meta.shift_remove(PROGRESS_TOKEN);
        params.shift_remove("_meta");
        if !meta.is_empty() {
            params.insert("_meta".to_owned(), meta.into());
        }
        let mut permissions = self.permissions(&context, &host);
        let era = Era::of(&context);
        let account = Account::begin(
            &self.server,
            &context,
            &host,
            &Asked {
                event: Event::Complete,
                method: "completion/complete",
                name: referred(&params),
                via: None,
                arguments: None,
                session: self.session.id(&context, era),
            },
        )?;
        permissions.notes = account.notes();
        let completion = pin!(async {
            match permissions.unknown_reference(&params) {
                Some(error) => Err(error),
                None => host.complete(&params).await,
            }
        });
        // Servlets do not report what completions take.
        let of = (&self.server, &account, &UsageCell::default());
        let clock = self.clock();
        let result = bounded(of, "completion/complete", &clock, &context, completion)
            .await
            .and_then(|result| result.map_err(|error| complete_error(&error)))
            .inspect_err(|error| account.failed(error))?;
        Ok(self.answer(era, account.answered(result.into_json())))
    }
}

/// The name of the prompt or the URI that a completion is for.
fn referred(params: &JsonObject) -> &str {
    let reference = params.get("ref");
    let name = reference.and_then(|one| one.get("name").or_else(|| one.get("uri")));
    name.and_then(Value::as_str).unwrap_or_default()
}

/// Completion for an unknown prompt or resource is an invalid request, not a missing resource.
fn complete_error(error: &CallError) -> RpcError {
    let mut shown = error.to_rpc_error();
    if matches!(error.kind, CallErrorKind::UnknownResource { .. }) {
        shown.code = RpcError::INVALID_PARAMS;
    }
    shown
}
