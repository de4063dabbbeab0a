//! Implements rmcp's `ServerHandler` on top of a [`Host`].

pub(crate) mod attributes;
mod call;
mod clock;
mod features;
mod input_rounds;
mod legacy;
mod notifications;
mod page;
mod search;
mod session;
mod starting;
mod structured;
pub(crate) mod tasks;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures_util::{TryFutureExt as _, future::BoxFuture};
use mcp_servlet_call::{JsonObject, RequestMeta, RpcError};
use mcp_servlet_host::{FeatureKind, Host, Listed, Member};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
        CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorCode,
        GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation,
        InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
        ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
        ReadResourceResponse, ServerCapabilities, ServerConfig, SubscribeRequestParams,
        SubscriptionFilter, TASKS_EXTENSION_ID, Tool, ToolsCapability, UnsubscribeRequestParams,
        UpdateTaskParams,
    },
    service::{MaybeSendFuture, NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    access::{caller_of, current_caller, owner_of},
    era::Era,
    panics::caught,
    params,
    passthrough::{Passthrough, passthrough},
    permissions::Permissions,
    records::note_list,
    server::{
        Server,
        active::Counted,
        changes::{LastCaller, Subscribed},
    },
    session_id::SessionId,
};
use input_rounds::Inputs;
use notifications::{TaskCell, UsageCell};
use page::{Cursors, Shown, page};
use session::Session;
use tasks::{Task, Tasks};

/// The `_meta` key with the server's name and version in results since 2026-07-28.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The service for one connection, which is one session.
pub(crate) fn service(server: &Server, session: SessionId) -> Counted<Handler> {
    let tasks = Tasks::new(server.0.options.tasks.max_per_connection);
    let handler = Handler::new(server.clone(), tasks, Some(session));
    Counted::new(server.clone(), handler)
}

/// The server side of one connection or, since 2026-07-28 over HTTP, of one request.
pub(crate) struct Handler {
    pub(crate) server: Server,
    session: Arc<Session>,
    subscribed: Arc<Subscribed>,
    caller: Arc<LastCaller>,
    pub(crate) tasks: Tasks,
    /// Whether the connections of clients up to 2025-11-25 outlive their requests.
    has_sessions: bool,
    /// Whether a task forwards changes to the client. `notifications/initialized` may arrive more than once.
    is_followed: AtomicBool,
    _disconnected: DropGuard,
}

impl Handler {
    pub(crate) fn new(server: Server, tasks: Tasks, session: Option<SessionId>) -> Self {
        let end = CancellationToken::new();
        Self {
            server,
            _disconnected: end.clone().drop_guard(),
            session: Arc::new(Session::new(session, end)),
            subscribed: Arc::default(),
            caller: Arc::default(),
            tasks,
            has_sessions: true,
            is_followed: AtomicBool::new(false),
        }
    }

    /// Sets whether a connection outlives its requests.
    pub(crate) fn has_sessions(mut self, has_sessions: bool) -> Self {
        self.has_sessions = has_sessions;
        self
    }

    /// A result of exactly this JSON, plus the fields that the era requires in every result.
    pub(crate) fn answer<T: Passthrough>(&self, era: Era, mut json: JsonObject) -> T {
        // rmcp adds `resultType` for clients whose protocol version has it.
        json.shift_remove("resultType");
        if era == Era::Modern {
            introduce(&mut json, &self.server.host());
        }
        passthrough(json)
    }

    /// The parts of a request that servlets receive in addition to its arguments, and where to find what the request took.
    fn request_meta(
        &self,
        context: &RequestContext<RoleServer>,
        era: Era,
        inputs: Inputs,
    ) -> (RequestMeta, UsageCell) {
        let (session, server) = (&self.session, &self.server);
        let notifier = session.notifier(server, context, era, TaskCell::default());
        let usage = notifier.usage();
        let options = &server.0.options;
        let request_meta = session.request_meta(context, era, inputs, notifier, options);
        (request_meta, usage)
    }

    /// What the caller of a request may use of a host.
    fn permissions(&self, context: &RequestContext<RoleServer>, host: &Arc<Host>) -> Permissions {
        let caller = caller_of(&context.extensions);
        self.caller.set(caller.as_ref());
        self.server.permissions(Arc::clone(host), caller)
    }

    /// A task of the caller, while its tool exists for that caller.
    fn task(&self, id: &str, context: &RequestContext<RoleServer>) -> Result<Arc<Task>, RpcError> {
        let task = self.tasks.find(id, owner_of(context))?;
        let permissions = self.permissions(context, &self.server.host());
        if permissions.hide_tool(task.tool()) {
            return Err(tasks::unknown(id));
        }
        Ok(task)
    }

    /// Writes a request for a list to the audit log, if that has lists.
    fn note_list(&self, context: &RequestContext<RoleServer>, kind: FeatureKind) {
        let session = self.session.id(context, Era::of(context));
        note_list(&self.server, context, (kind.method(), session));
    }

    /// One page of a list, with the time for which clients may cache it. `write` makes the entries for an era.
    async fn list<T: Passthrough>(
        &self,
        context: &RequestContext<RoleServer>,
        request: Option<PaginatedRequestParams>,
        kind: FeatureKind,
        write: impl FnOnce(&Host, Era) -> Vec<Value> + Send,
    ) -> Result<T, RpcError> {
        let (host, is_final) = self.host_of_list(context).await?;
        let options = &self.server.0.options;
        let era = Era::of(context);
        let lists = self.server.0.lists.for_host(&host);
        let list = lists.get(kind, era, || write(&host, era));
        let permissions = self.permissions(context, &host);
        self.note_list(context, kind);
        let shown = permissions.shown(kind);
        let (name, key) = kind.members();
        let cursors = Cursors {
            list: name,
            seal: &self.server.0.seal,
            owner: owner_of(context),
        };
        let list = Shown {
            list,
            only: shown.as_deref(),
        };
        let mut json = page(&cursors, key, &list, request, options.page_size)?;
        if era == Era::Modern {
            let ttl = options.list_ttl * u32::from(is_final);
            let ttl = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
            json.insert("ttlMs".to_owned(), ttl.into());
            let scope = if cursors.owner.is_some() || !permissions.are_all() {
                "private"
            } else {
                "public"
            };
            json.insert("cacheScope".to_owned(), scope.into());
        }
        Ok(self.answer(era, json))
    }
}

/// Long futures are boxed: rmcp's own future has room for the longest of them, and is moved several times for each request. If a
/// method panics, the client gets an error.
impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let host = self.server.host();
        let mut tools = ToolsCapability::default();
        tools.list_changed = Some(true);
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = Some(tools);
        // Clients read the capabilities only once, so those of members that are not known yet must be there.
        let may_have_all = self.server.0.startup.began_empty() || host.has_unknown_remotes();
        features::declare(&host, may_have_all, &mut capabilities);
        if self.server.0.options.tasks.max > 0 {
            let extensions = capabilities.extensions.get_or_insert_default();
            extensions.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        }
        let config = ServerConfig::new(capabilities).with_server_info(implementation(&host));
        match instructions(&self.server.permissions(host, current_caller())) {
            Some(text) => config.with_instructions(text),
            None => config,
        }
    }

    /// Like [`get_info`](Self::get_info), but for the caller of this request.
    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        self.wait_for_instructions(&context).await;
        let versions = self.supported_protocol_versions().into_owned();
        let mut info = self.get_info();
        info.instructions = instructions(&self.permissions(&context, &self.server.host()));
        Ok(DiscoverResult::from_server_info(versions, info))
    }

    /// Protocol extensions exist only since 2026-07-28.
    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.wait_for_instructions(&context).await;
        let mut result = self.negotiate_initialize(&request)?;
        // The version of the session, which may be another one than the client asks for.
        request.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(request);
        if !self.has_sessions {
            legacy::without_session(&mut result.capabilities);
        }
        result.capabilities.extensions = None;
        result.instructions = instructions(&self.permissions(&context, &self.server.host()));
        Ok(result)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if self.is_followed.swap(true, Ordering::Relaxed) {
            return;
        }
        self.caller.set(caller_of(&context.extensions).as_ref());
        let follower = self.server.changes_for(Arc::clone(&self.caller));
        let subscribed = Arc::clone(&self.subscribed);
        let end = self.session.end.clone();
        let nursery = &self.server.0.process.nursery;
        nursery.spawn(async move {
            let notify = follower.notify(context.peer, &subscribed);
            end.run_until_cancelled(notify).await;
        });
    }

    fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListToolsResult, ErrorData>> + MaybeSendFuture + '_ {
        respond("tools/list", async move {
            self.list(&context, request, FeatureKind::Tool, |host, era| {
                let tools = host.listed_tools().map(|tool| {
                    let mut json = tool.json().clone();
                    // MCP requires it: some clients refuse the whole list if one schema lacks it.
                    if let Some(Value::Object(schema)) = json.get_mut("inputSchema") {
                        schema.entry("type").or_insert_with(|| "object".into());
                    }
                    structured::set_schema(era, &mut json);
                    if era == Era::Legacy {
                        legacy::fit(&mut json);
                    }
                    Value::Object(json)
                });
                tools.collect()
            })
            .await
        })
    }

    fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CallToolResponse, ErrorData>> + MaybeSendFuture + '_ {
        respond("tools/call", self.call(request, context))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let server = &self.server;
        let permissions = server.permissions(server.host(), current_caller());
        let json = permissions.tool(name)?.json().clone();
        serde_json::from_value(json.into()).ok()
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let task = self.task(&request.task_id, &context).map_err(to_rmcp)?;
        Ok(self.answer(Era::of(&context), task.to_json()))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let task = self.task(&request.task_id, &context).map_err(to_rmcp)?;
        task.answer(request.input_responses);
        Ok(())
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let task = self.task(&request.task_id, &context).map_err(to_rmcp)?;
        task.cancel();
        Ok(())
    }

    fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListResourcesResult, ErrorData>> + MaybeSendFuture + '_ {
        respond("resources/list", async move {
            let kind = FeatureKind::Resource;
            self.list(&context, request, kind, |host, _| entries(host.resources()))
                .await
        })
    }

    fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListResourceTemplatesResult, ErrorData>> + MaybeSendFuture + '_
    {
        respond("resources/templates/list", async move {
            let kind = FeatureKind::ResourceTemplate;
            self.list(&context, request, kind, |host, _| {
                entries(host.resource_templates())
            })
            .await
        })
    }

    fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ReadResourceResponse, ErrorData>> + MaybeSendFuture + '_ {
        respond("resources/read", self.read(request, context))
    }

    fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListPromptsResult, ErrorData>> + MaybeSendFuture + '_ {
        respond("prompts/list", async move {
            let kind = FeatureKind::Prompt;
            self.list(&context, request, kind, |host, _| entries(host.prompts()))
                .await
        })
    }

    fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<GetPromptResponse, ErrorData>> + MaybeSendFuture + '_ {
        respond("prompts/get", self.prompt(request, context))
    }

    fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CompleteResult, ErrorData>> + MaybeSendFuture + '_ {
        respond("completion/complete", self.suggest(request, context))
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let subscribed = async {
            if let Some(problem) = uri_problem(&request.uri) {
                return Err(RpcError::new(RpcError::INVALID_PARAMS, problem));
            }
            // Without rules, a client may subscribe before the servlets are loaded.
            if !self.permissions(&context, &self.server.host()).are_all() {
                let host = self.host(&context).await?;
                // As for a resource that does not exist, there will be no notifications.
                if !self.permissions(&context, &host).updates(&request.uri) {
                    return Ok(());
                }
            }
            if self.subscribed.add(&self.server, request.uri) {
                return Ok(());
            }
            let message = format!(
                "this session is subscribed to {} resources, which is the maximum; unsubscribe from some",
                Subscribed::MAX_PER_CLIENT
            );
            Err(RpcError::new(RpcError::INVALID_PARAMS, message))
        };
        respond("resources/subscribe", subscribed).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let unsubscribed = async {
            self.subscribed.remove(&request.uri);
            Ok(())
        };
        respond("resources/unsubscribe", unsubscribed).await
    }

    #[allow(deprecated, reason = "clients of the handshake era send it")]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if Era::of(&context) == Era::Modern {
            return Err(to_rmcp(params::unknown_method("logging/setLevel")));
        }
        self.session.threshold.set(request.level);
        Ok(())
    }

    /// Accepts everything that the client asks for, unless there are too many resources or a URI is too long; rmcp removes what the
    /// capabilities do not include.
    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        // rmcp compares each requested resource with each accepted one.
        if subscription_problem(requested).is_some() {
            accepted.resource_subscriptions = None;
        }
        Some(accepted)
    }

    fn listen(
        &self,
        subscription: SubscriptionContext,
    ) -> impl Future<Output = Result<(), ErrorData>> + MaybeSendFuture + '_ {
        respond("subscriptions/listen", async move {
            if let Some(problem) = subscription_problem(subscription.requested()) {
                return Err(RpcError::new(RpcError::INVALID_PARAMS, problem));
            }
            let caller = caller_of(&subscription.request_context().extensions);
            let permissions = self.server.permissions(self.server.host(), caller.clone());
            let last = LastCaller::new(caller);
            let follower = self.server.changes_for(Arc::new(last));
            let accepted = subscription.accepted().resource_subscriptions.clone();
            let uris = accepted
                .iter()
                .flatten()
                .filter(|uri| permissions.updates(uri));
            let _watches: Vec<_> = uris.map(|uri| self.server.watch(uri)).collect();
            tokio::select! {
                () = follower.feed(&subscription) => {}
                () = subscription.cancelled() => {}
                () = self.server.0.process.active.stopping() => {}
            }
            Ok(())
        })
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(to_rmcp(params::refuse(request, Era::of(&context))))
    }
}

/// Answers a request in rmcp's types.
fn respond<'a, T: 'a>(
    method: &'static str,
    work: impl Future<Output = Result<T, RpcError>> + Send + 'a,
) -> BoxFuture<'a, Result<T, ErrorData>> {
    Box::pin(caught(method, work).map_err(to_rmcp))
}

fn to_rmcp(error: RpcError) -> ErrorData {
    ErrorData::new(ErrorCode(error.code), error.message, error.data)
}

fn entries<'e>(listed: impl Iterator<Item = &'e Listed>) -> Vec<Value> {
    let entries = listed.map(|entry| Value::Object(entry.json().clone()));
    entries.collect()
}

/// Why the server does not keep a subscription.
fn subscription_problem(filter: &SubscriptionFilter) -> Option<String> {
    let uris = filter.resource_subscriptions.as_deref().unwrap_or_default();
    if uris.len() > Subscribed::MAX_PER_CLIENT {
        let limit = Subscribed::MAX_PER_CLIENT;
        return Some(format!("a subscription can have at most {limit} resources"));
    }
    uris.iter().find_map(|uri| uri_problem(uri))
}

/// Why a session does not keep a URI.
fn uri_problem(uri: &str) -> Option<String> {
    let limit = Subscribed::LONGEST_URI;
    (uri.len() > limit).then(|| format!("expected a URI of at most {limit} bytes"))
}

/// Adds the server's name and version, unless the result has them.
fn introduce(result: &mut JsonObject, host: &Host) {
    let meta = result.entry("_meta").or_insert_with(|| json!({}));
    if let Value::Object(meta) = meta {
        meta.entry(SERVER_INFO)
            .or_insert_with(|| json!(implementation(host)));
    }
}

/// The server's name and version: the operator's, or the member's if there is only one.
fn implementation(host: &Host) -> Implementation {
    let mut members = host.members();
    let mut implementation = match (members.next(), members.next()) {
        (Some(member), None) => {
            let info = member.server_info().cloned().map(Value::from);
            info.and_then(|info| serde_json::from_value(info).ok())
                .unwrap_or_else(|| Implementation::new(member.name(), "0.0.0"))
        }
        _ => Implementation::new("mcp-servlet", env!("CARGO_PKG_VERSION")),
    };
    let introduction = host.introduction();
    if let Some(name) = &introduction.name {
        implementation = Implementation::new(name, implementation.version);
    }
    if let Some(version) = &introduction.version {
        implementation.version.clone_from(version);
    }
    implementation
}

/// The operator's instructions, or those of the members from which the caller may use something.
fn instructions(permissions: &Permissions) -> Option<String> {
    let host = &permissions.host;
    if let Some(text) = &host.introduction().instructions {
        return Some(text.clone());
    }
    let members = host
        .members()
        .filter(|member| permissions.sees_any_of(member));
    let texts: Vec<_> = members.filter_map(Member::instructions).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}
