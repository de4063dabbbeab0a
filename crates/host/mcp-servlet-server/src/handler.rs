//! Implements rmcp's `ServerHandler` on top of a [`Host`].

mod attributes;
mod call;
mod clock;
mod features;
mod input_rounds;
mod legacy;
mod notifications;
mod page;
mod starting;
mod structured;
pub(crate) mod tasks;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use mcp_servlet_host::{FeatureKind, Host, Member};
use mcp_servlet_runtime::{CallError, Fault, JsonObject, RequestMeta};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
        CompleteResult, CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams,
        GetPromptResponse, GetTaskParams, GetTaskResult, Implementation, InitializeRequestParams,
        InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
        ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter,
        TASKS_EXTENSION_ID, Tool, ToolsCapability, UnsubscribeRequestParams, UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    era::Era,
    params,
    passthrough::{Passthrough, passthrough},
    server::{Server, active::Counted, changes::Subscribed},
    session_id::SessionId,
};
use input_rounds::Inputs;
use notifications::{Notifier, TaskCell, Threshold};
use page::page;
use tasks::Tasks;

/// The `_meta` key with the server's name and version in results since 2026-07-28.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Reads one property of the client from a request.
type ClientProperty = fn(&RequestContext<RoleServer>) -> Value;

/// Properties that clients up to 2025-11-25 send once in `initialize`, and later clients with every request.
const CLIENT_PROPERTIES: [(&str, ClientProperty); 3] = [
    ("io.modelcontextprotocol/protocolVersion", |context| {
        json!(context.protocol_version())
    }),
    ("io.modelcontextprotocol/clientInfo", |context| {
        json!(context.client_info())
    }),
    ("io.modelcontextprotocol/clientCapabilities", |context| {
        json!(context.client_capabilities())
    }),
];

/// The service for one connection, which is one session.
pub(crate) fn service(server: &Server, session: SessionId) -> Counted<Handler> {
    let tasks = Tasks::new(server.0.options.tasks.max_per_connection);
    let handler = Handler::new(server.clone(), tasks, Some(session));
    Counted::new(server.clone(), handler)
}

/// The server side of one connection or, since 2026-07-28 over HTTP, of one request.
pub(crate) struct Handler {
    pub(crate) server: Server,
    /// The session of the connection. None if requests name their sessions.
    session: Option<SessionId>,
    subscribed: Arc<Subscribed>,
    threshold: Arc<Threshold>,
    pub(crate) tasks: Tasks,
    /// Whether a task forwards changes to the client. `notifications/initialized` may arrive more than once.
    is_followed: AtomicBool,
    /// Cancelled when this handler is dropped, because the client has disconnected.
    disconnected: CancellationToken,
    _disconnected: DropGuard,
}

impl Handler {
    pub(crate) fn new(server: Server, tasks: Tasks, session: Option<SessionId>) -> Self {
        let disconnected = CancellationToken::new();
        Self {
            server,
            session,
            subscribed: Arc::default(),
            threshold: Arc::default(),
            tasks,
            is_followed: AtomicBool::new(false),
            _disconnected: disconnected.clone().drop_guard(),
            disconnected,
        }
    }

    /// A result of exactly this JSON, plus the fields that the era requires in every result.
    pub(crate) fn answer<T: Passthrough>(
        &self,
        context: &RequestContext<RoleServer>,
        mut json: JsonObject,
    ) -> T {
        // rmcp adds `resultType` for clients whose protocol version has it.
        json.shift_remove("resultType");
        if Era::of(context) == Era::Modern {
            introduce(&mut json, &self.server.host());
        }
        passthrough(json)
    }

    /// The parts of a request that servlets receive in addition to its arguments.
    fn request_meta(&self, context: &RequestContext<RoleServer>, inputs: Inputs) -> RequestMeta {
        let task = TaskCell::default();
        let notifier = Notifier::new(&self.server, context, &self.threshold, task);
        let forward = &self.server.0.options.forward_headers;
        request_meta(context, inputs, notifier, self.session.as_ref(), forward)
    }

    /// One page of a list, with the time for which clients may cache it.
    pub(crate) fn answer_list<T: Passthrough>(
        &self,
        context: &RequestContext<RoleServer>,
        request: Option<PaginatedRequestParams>,
        kind: FeatureKind,
        entries: &[Value],
    ) -> Result<T, ErrorData> {
        let (name, key) = kind.members();
        let options = &self.server.0.options;
        let mut json = page(name, key, entries, request, options.page_size)?;
        if Era::of(context) == Era::Modern {
            let ttl = u64::try_from(options.list_ttl.as_millis()).unwrap_or(u64::MAX);
            json.insert("ttlMs".to_owned(), ttl.into());
            json.insert("cacheScope".to_owned(), "public".into());
        }
        Ok(self.answer(context, json))
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let host = self.server.host();
        let mut tools = ToolsCapability::default();
        tools.list_changed = Some(true);
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = Some(tools);
        features::declare(&host, &mut capabilities);
        if notifications::logs(&host) {
            capabilities.logging = Some(JsonObject::new());
        }
        self.server.0.startup.declare(&mut capabilities);
        if self.server.0.options.tasks.max > 0 {
            let extensions = capabilities.extensions.get_or_insert_default();
            extensions.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        }
        let config = ServerConfig::new(capabilities).with_server_info(implementation(&host));
        match instructions(&host) {
            Some(text) => config.with_instructions(text),
            None => config,
        }
    }

    /// Protocol extensions exist only since 2026-07-28.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.negotiate_initialize(&request)?;
        context.peer.set_peer_info(request);
        result.capabilities.extensions = None;
        Ok(result)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if self.is_followed.swap(true, Ordering::Relaxed) {
            return;
        }
        let follower = self.server.0.changes.follow();
        let subscribed = Arc::clone(&self.subscribed);
        let disconnected = self.disconnected.clone();
        tokio::spawn(async move {
            let notify = follower.notify(context.peer, &subscribed);
            disconnected.run_until_cancelled(notify).await;
        });
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let era = Era::of(&context);
        let host = self.host(&context).await?;
        let tools = host.tools().map(|tool| {
            let mut json = tool.json().clone();
            structured::set_schema(era, &mut json);
            if era == Era::Legacy {
                legacy::fit(&mut json);
            }
            Value::Object(json)
        });
        let tools: Vec<_> = tools.collect();
        self.answer_list(&context, request, FeatureKind::Tool, &tools)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.call(request, context).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let json = self.server.host().tool(name)?.json().clone();
        serde_json::from_value(json.into()).ok()
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let task = self.tasks.find(&request.task_id)?;
        Ok(self.answer(&context, task.to_json()))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let task = self.tasks.find(&request.task_id)?;
        task.answer(request.input_responses);
        Ok(())
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.find(&request.task_id)?.cancel();
        Ok(())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let host = self.host(&context).await?;
        let kind = FeatureKind::Resource;
        self.entries(&context, request, kind, host.resources())
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let host = self.host(&context).await?;
        let kind = FeatureKind::ResourceTemplate;
        self.entries(&context, request, kind, host.resource_templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.read(request, context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let host = self.host(&context).await?;
        let kind = FeatureKind::Prompt;
        self.entries(&context, request, kind, host.prompts())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.prompt(request, context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.suggest(request, context).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if self.subscribed.add(request.uri) {
            return Ok(());
        }
        let message = "this session is subscribed to too many resources; unsubscribe from some";
        Err(ErrorData::invalid_params(message, None))
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribed.remove(&request.uri);
        Ok(())
    }

    #[allow(deprecated, reason = "clients of the handshake era send it")]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if Era::of(&context) == Era::Modern {
            return Err(params::unknown_method("logging/setLevel"));
        }
        self.threshold.set(request.level);
        Ok(())
    }

    /// Accepts everything that the client asks for; rmcp removes what the capabilities do not include.
    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let follower = self.server.0.changes.follow();
        tokio::select! {
            () = follower.feed(&subscription) => {}
            () = subscription.cancelled() => {}
            () = self.server.0.process.active.stopping() => {}
        }
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(params::refuse(request, Era::of(&context)))
    }
}

/// The parts of a request that servlets receive in addition to its arguments. What clients up to
/// 2025-11-25 send only in `initialize` is added to `_meta`, where later clients send it. So are the
/// session and the forwarded headers.
fn request_meta(
    context: &RequestContext<RoleServer>,
    inputs: Inputs,
    notifier: Notifier,
    session: Option<&SessionId>,
    forward: &[String],
) -> RequestMeta {
    let mut meta = context.meta.0.0.clone();
    attributes::set(&mut meta, context, session, forward);
    for (key, property) in CLIENT_PROPERTIES {
        if !meta.contains_key(key)
            && let value = property(context)
            && !value.is_null()
        {
            meta.insert(key.to_owned(), value);
        }
    }
    let mut request_meta = RequestMeta::default();
    request_meta.id = Some(json!(context.id));
    request_meta.meta = Some(meta);
    request_meta.input_responses = inputs.responses;
    request_meta.request_state = inputs.state;
    request_meta.listener = Some(Arc::new(notifier));
    request_meta
}

/// Adds the server's name and version, unless the result has them.
fn introduce(result: &mut JsonObject, host: &Host) {
    let meta = result.entry("_meta").or_insert_with(|| json!({}));
    if let Value::Object(meta) = meta {
        meta.entry(SERVER_INFO)
            .or_insert_with(|| json!(implementation(host)));
    }
}

pub(crate) fn protocol_error(error: &CallError) -> ErrorData {
    let Fault {
        code,
        message,
        data,
    } = error.to_fault();
    ErrorData::new(ErrorCode(code), message, data)
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
        implementation = Implementation::new(name, "0.0.0");
    }
    if let Some(version) = &introduction.version {
        implementation.version.clone_from(version);
    }
    implementation
}

fn instructions(host: &Host) -> Option<String> {
    if let Some(text) = &host.introduction().instructions {
        return Some(text.clone());
    }
    let texts: Vec<_> = host.members().filter_map(Member::instructions).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}
