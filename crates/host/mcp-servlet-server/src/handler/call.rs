//! Tool calls, which are answered directly or by a task that outlives the request.

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use axum::http::request::Parts;
use mcp_servlet_access::{Refusal, audit::Event};
use mcp_servlet_call::{CallError, CallErrorKind, JsonObject, RpcError};
use mcp_servlet_host::{Host, Member, Tool};
use rmcp::{
    RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities,
        CreateTaskResult, InputRequiredResult,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use tracing::Instrument as _;

use crate::{
    access::{owner_of, permit},
    era::Era,
    handler::{
        Handler,
        clock::{Clock, timed_out},
        input_rounds::{self, Answer, Inputs, Open},
        notifications::TaskCell,
        search,
        session::Session,
        structured,
        tasks::{Created, Task},
    },
    permissions::Permissions,
    records::{Account, Asked},
    server::{
        Server,
        active::cancelled,
        metrics::{Caller, outcome},
        seal::{Purpose, Request},
    },
};

/// One call of a servlet. Boxed, because it can be handed over to a task.
type Running = Pin<Box<dyn Future<Output = Result<JsonObject, RpcError>> + Send>>;

/// Whether a tool runs as a task, according to `execution.taskSupport`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskSupport {
    /// Absent: the call becomes a task if it takes long.
    Unspecified,
    /// Never runs as a task.
    Forbidden,
    /// Always runs as a task for clients that support tasks.
    Optional,
    /// Always runs as a task. Clients without tasks cannot call it.
    Required,
}

impl TaskSupport {
    fn of(permissions: &Permissions, tool: &str) -> Self {
        let execution = permissions
            .tool(tool)
            .and_then(|tool| tool.json().get("execution"));
        let support = execution.and_then(|execution| execution.get("taskSupport"));
        match support.and_then(Value::as_str) {
            Some("forbidden") => Self::Forbidden,
            Some("optional") => Self::Optional,
            Some("required") => Self::Required,
            _ => Self::Unspecified,
        }
    }
}

/// A tool call and everything that it needs, so that it can outlive its request.
struct ToolCall {
    server: Server,
    permissions: Permissions,
    session: Arc<Session>,
    clock: Clock,
    era: Era,
    request: CallToolRequestParams,
    /// The search tool that the client called, such as `call_tool`, if it was replaced by the tool that it names.
    via: Option<&'static str>,
    context: RequestContext<RoleServer>,
    /// The task that the call has become.
    task: TaskCell,
    account: Account,
}

impl ToolCall {
    /// Calls the servlet once, and notes an error.
    async fn run(&self, inputs: Inputs) -> Result<JsonObject, RpcError> {
        let result = self.run_unnoted(inputs).await;
        result.inspect_err(|error| self.account.failed(error))
    }

    async fn run_unnoted(&self, inputs: Inputs) -> Result<JsonObject, RpcError> {
        let _active = self.server.0.process.active.begin();
        let (name, context) = (&self.request.name, &self.context);
        let (server, session, era) = (&self.server, &self.session, self.era);
        let host = &self.permissions.host;
        let notifier = session.notifier(server, context, era, Arc::clone(&self.task));
        let usage = notifier.usage();
        let options = &server.0.options;
        let mut request_meta = session.request_meta(context, era, inputs, notifier, options);
        self.account.runs();
        let remote = self.reaches_remote().then_some(("tools/call", &**name));
        let _remote_span = self.account.trace(&mut request_meta, remote);
        request_meta.guard = self.permissions.guard(name);
        if self.permissions.host.has_steps(name) || self.permissions.host.callees().is_some() {
            request_meta.observer = Some(Arc::new(self.permissions.observer(server)));
        }
        let caller = Caller {
            endpoint: server.name(),
            via: self.via,
            request_meta: &request_meta,
            traceparent: header(context, "traceparent"),
        };
        let metrics = &server.0.process.metrics;
        let observed = metrics.call(host, name, caller);
        let arguments = self.request.arguments.as_ref();
        observed.dropped(host.count_dropped(name, arguments));
        let result = async {
            match self.permissions.unknown_tool(name) {
                Some(error) => Err(error),
                None => host.call_with(name, arguments, &request_meta).await,
            }
        };
        // Pinned here, because each wrapper would contain the future twice.
        let result = pin!(result.instrument(observed.span()));
        let call = pin!(self.unless_cancelled(result));
        // Dropping the call stops it.
        let result = match self.clock.bound(call, || self.is_task()).await {
            Ok(result) => result,
            Err(limit) => {
                let error = Err(self.timeout(limit));
                self.account
                    .ran(observed.end(&error, usage.get()), usage.get());
                return Err(timed_out(limit));
            }
        };
        self.account
            .ran(observed.end(&result, usage.get()), usage.get());
        let result = match result {
            Ok(result) => result,
            Err(error) => return self.failure(&error),
        };
        let mut json = result.into_json();
        let tool = host.tool(name);
        structured::set_content(era, tool.map(Tool::json), &mut json);
        if let (Some(_), Some(tool)) = (self.via, tool) {
            search::explain(tool, arguments, &mut json);
        }
        Ok(self.account.answered(json))
    }

    /// Whether the call reaches a remote: the tool is one of a remote, and the rules allow the call.
    fn reaches_remote(&self) -> bool {
        let name = &self.request.name;
        let member = self.permissions.host.member_of(name);
        member.and_then(Member::as_remote).is_some() && self.permissions.tool(name).is_some()
    }

    /// The response to a call that failed. Through a search, an unknown tool is a result with an error, which the model reads.
    fn failure(&self, error: &CallError) -> Result<JsonObject, RpcError> {
        let name = &self.request.name;
        let unknown = self.via.and_then(|_| search::unknown(error, name));
        let json = unknown.ok_or_else(|| error.to_rpc_error())?;
        Ok(self.account.answered(json))
    }

    async fn unless_cancelled<T>(
        &self,
        call: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        tokio::select! {
            biased;
            result = call => result,
            // rmcp does not answer a cancelled request
            // (<https://github.com/modelcontextprotocol/rust-sdk/pull/957>).
            () = self.cancelled() => Err(CallError::cancelled()),
        }
    }

    fn is_task(&self) -> bool {
        self.task.get().is_some()
    }

    /// The error for the log and the metrics if the request took longer than the endpoint allows.
    fn timeout(&self, limit: Duration) -> CallError {
        let servlet = self
            .permissions
            .host
            .servlet_of(&self.request.name)
            .map_or("", |servlet| servlet.name());
        CallErrorKind::Timeout { limit }.at(servlet, Some("call"))
    }

    /// Returns when the result is no longer needed. rmcp also cancels the token of a request that
    /// was answered; a task goes on after that.
    async fn cancelled(&self) {
        cancelled(&self.context).await;
        if let Some(task) = self.task.get() {
            task.cancelled().await;
        }
    }

    fn start(self: &Arc<Self>, inputs: Inputs) -> Running {
        let call = Arc::clone(self);
        Box::pin(async move { call.run(inputs).await })
    }

    fn asked(&self) -> Request<'_> {
        Request {
            purpose: Purpose::State("tools/call"),
            name: &self.request.name,
            arguments: self.request.arguments.as_ref(),
            owner: owner_of(&self.context),
            // A second answer would repeat the writes after the question.
            once: self
                .permissions
                .host
                .may_write_before_it_asks(&self.request.name),
        }
    }

    fn client_has_tasks(&self) -> bool {
        let capabilities = self.context.client_capabilities();
        capabilities.is_some_and(|declared| declared.supports_tasks())
    }

    fn create_task(&self, handler: &Handler) -> Option<Created> {
        let owner = owner_of(&self.context);
        let tool = &self.request.name;
        handler.tasks.create(&self.server, owner, tool)
    }

    /// Answers a request since 2026-07-28. It becomes a task if the tool wants one or if the call takes long.
    async fn answer(
        self: &Arc<Self>,
        handler: &Handler,
        inputs: Inputs,
    ) -> Result<Answered, RpcError> {
        let options = &self.server.0.options.tasks;
        let open = inputs.open.clone();
        let support = TaskSupport::of(&self.permissions, &self.request.name);
        let may_be_task = self.client_has_tasks() && options.max > 0;
        if matches!(support, TaskSupport::Optional | TaskSupport::Required) && may_be_task {
            if let Some(created) = self.create_task(handler) {
                let first = Arc::clone(self);
                // The call has to know its task before it begins.
                let first = Box::pin(async move { first.run(inputs).await });
                return Ok(self.hand_over(handler, created, open, first));
            }
            if support == TaskSupport::Required {
                return Err(too_many());
            }
        }
        let mut first = self.start(inputs);
        if support == TaskSupport::Unspecified && may_be_task {
            match tokio::time::timeout(options.after, &mut first).await {
                Ok(result) => return Ok(Answered::Now(result?)),
                Err(_) => {
                    if let Some(created) = self.create_task(handler) {
                        return Ok(self.hand_over(handler, created, open, first));
                    }
                }
            }
        }
        first.await.map(Answered::Now)
    }

    /// Hands a running call over to a task. `open` ends its input requests.
    fn hand_over(
        self: &Arc<Self>,
        handler: &Handler,
        created: Created,
        open: Open,
        first: Running,
    ) -> Answered {
        let task = Arc::clone(&created.task);
        let (call, asked) = (Arc::clone(self), Arc::clone(&task));
        // A request becomes a task only once, so the cell is empty.
        let _ = self.task.set(Arc::clone(&task));
        let work = async move {
            let again = |inputs| call.start(inputs);
            let ask = |input_requests, withdrawal| {
                let (task, results) = (&asked, &call.server.0.process.results);
                async move {
                    let _kept = results.keep("input request", &input_requests)?;
                    task.ask(input_requests, &withdrawal).await
                }
            };
            input_rounds::converse(&call.context, open, first, again, ask).await
        };
        handler.tasks.spawn(&self.server, created, work);
        Answered::Later(task)
    }
}

/// How a request since 2026-07-28 is answered.
enum Answered {
    /// With the servlet's result.
    Now(JsonObject),
    /// With a task, whose result is fetched later.
    Later(Arc<Task>),
}

impl Handler {
    /// The account of a call.
    fn account(
        &self,
        (context, era): (&RequestContext<RoleServer>, Era),
        host: &Host,
        request: &CallToolRequestParams,
        via: Option<&'static str>,
    ) -> Result<Account, RpcError> {
        let asked = Asked {
            event: Event::Call,
            method: "tools/call",
            name: &request.name,
            via,
            arguments: request.arguments.as_ref(),
            session: self.session.id(context, era),
        };
        Account::begin(&self.server, context, host, &asked)
    }

    pub(super) async fn call(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, RpcError> {
        let inputs = Inputs::new(
            request.input_responses.clone(),
            request.request_state.clone(),
        );
        let host = self
            .host_with(&context, |host| search::is_known(host, &request))
            .await?;
        let mut permissions = self.permissions(&context, &host);
        let era = Era::of(&context);
        // From here on, the request names the tool to run instead of the search tool.
        let search::Resolved { via, result } = search::resolve(&permissions, era, &mut request);
        let account = self.account((&context, era), &host, &request, via)?;
        permissions.notes = account.notes();
        if let Some(json) = result {
            let is_error = json.get("isError") == Some(&Value::Bool(true));
            account.ran(outcome(is_error, None), None);
            let json = account.answered(json);
            return Ok(self.answer::<CallToolResult>(era, json).into());
        }
        if let Some(refusal) = refusal(&permissions, &context, &request.name) {
            account.lacks_scope();
            return match via {
                Some(_) => {
                    let json = search::refused(&request.name, &refusal);
                    Ok(self.answer::<CallToolResult>(era, json).into())
                }
                None => Err(lacks_scope(&refusal)),
            };
        }
        let call = Arc::new(ToolCall {
            server: self.server.clone(),
            permissions,
            session: Arc::clone(&self.session),
            clock: Clock::new(self.server.0.options.timeout),
            era,
            request,
            via,
            context,
            task: TaskCell::default(),
            account,
        });
        if TaskSupport::of(&call.permissions, &call.request.name) == TaskSupport::Required {
            require_tasks(&call)?;
        }
        self.reply(&call, inputs).await
    }

    /// Runs a call, and writes its response.
    async fn reply(
        &self,
        call: &Arc<ToolCall>,
        inputs: Inputs,
    ) -> Result<CallToolResponse, RpcError> {
        let era = call.era;
        let (context, asked, seal) = (&call.context, call.asked(), &self.server.0.seal);
        let answer = if era == Era::Modern {
            let inputs = inputs.unseal(seal, &asked).await?;
            let open = inputs.open.end.clone().drop_guard();
            match Box::pin(call.answer(self, inputs)).await? {
                Answered::Now(result) => {
                    input_rounds::input_required_result(seal, context, &asked, result, open)?
                }
                Answered::Later(task) => {
                    // The input requests of a task end with it.
                    open.disarm();
                    let task = self.answer::<CreateTaskResult>(era, task.to_json());
                    return Ok(CallToolResponse::Task(task));
                }
            }
        } else {
            // A virtual tool may go on without a response. If it does not, its error names its steps.
            let takes_refusals = call
                .permissions
                .host
                .bundle_of(&call.request.name)
                .is_some();
            let start = |inputs| call.start(inputs);
            let server = &self.server;
            input_rounds::answer(server, context, era, &asked, inputs, takes_refusals, start)
                .await?
        };
        Ok(match answer {
            Answer::Complete(json) => self.answer::<CallToolResult>(era, json).into(),
            Answer::InputRequests(json) => self.answer::<InputRequiredResult>(era, json).into(),
        })
    }
}

/// The error for a caller without a scope. The list may have changed since the message arrived. Otherwise its response would have a
/// challenge.
fn lacks_scope(refusal: &Refusal) -> RpcError {
    RpcError::new(RpcError::INVALID_REQUEST, refusal.message)
        .with_data(json!({ "code": "FORBIDDEN" }))
}

/// Why the caller's scopes do not allow a tool. None if they do, or if rules hide the tool.
fn refusal(
    permissions: &Permissions,
    context: &RequestContext<RoleServer>,
    tool: &str,
) -> Option<Refusal> {
    let parts = context.extensions.get::<Parts>()?;
    if permissions.hide_tool(tool) {
        return None;
    }
    permit(&parts.extensions, &permissions.host, tool).err()
}

/// A header of the HTTP request.
fn header<'a>(context: &'a RequestContext<RoleServer>, name: &str) -> Option<&'a str> {
    let parts = context.extensions.get::<Parts>()?;
    parts.headers.get(name)?.to_str().ok()
}

/// Refuses a tool that always runs as a task, if the client does not support tasks.
fn require_tasks(call: &ToolCall) -> Result<(), RpcError> {
    if call.client_has_tasks() {
        return Ok(());
    }
    let needed = ClientCapabilities::builder().enable_tasks().build();
    let message = format!(
        "`{}` only runs as a task, for clients with the extension `io.modelcontextprotocol/tasks`",
        call.request.name
    );
    let error = RpcError::new(RpcError::MISSING_CLIENT_CAPABILITY, message);
    Err(error.with_data(json!({ "requiredCapabilities": needed })))
}

fn too_many() -> RpcError {
    let message = "too many tasks; fetch the results of some, or wait until they expire";
    RpcError::new(RpcError::BUSY, message).with_data(json!({ "retry": true }))
}
