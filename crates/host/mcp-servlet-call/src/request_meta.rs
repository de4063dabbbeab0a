//! The parts of a request other than the tool's name and the arguments.

use std::{
    borrow::Cow,
    fmt::{self, Debug},
    sync::{Arc, LazyLock},
    time::Duration,
};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    CallError, JsonObject,
    callees::{Callee, CalleeError, Callees},
    input_required::INPUT_REQUIRED,
    listener::{Listener, Usage},
    withdrawal::Withdrawal,
};

/// The members of a request that not every client sends and not every servlet reads.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RequestMeta {
    /// The `id` of the request, a number or a string. Servlets for hyper-mcp get it.
    pub id: Option<Value>,
    /// `_meta`: metadata that MCP defines, or that client and servlet agreed on.
    pub meta: Option<JsonObject>,
    /// Answers to the input requests of an earlier result, by key.
    pub input_responses: Option<JsonObject>,
    /// The `requestState` of that result, as the servlet wrote it.
    pub request_state: Option<String>,
    /// Receives the notifications of the servlet. It is not sent to the servlet.
    pub listener: Option<Arc<dyn Listener>>,
    /// The session of the client. None if the request belongs to no session. It is not sent to the servlet.
    pub session: Option<ClientSession>,
    /// Who sends the request, for the headers of remotes. None if it is not a client. It is not sent to the servlet.
    pub caller: Option<Arc<RequestCaller>>,
    /// How long input requests of the result wait for responses. None leaves that to the member. It is not sent to the
    /// servlet.
    pub input_timeout: Option<InputTimeout>,
    /// Takes back input requests of the result. It is not sent to the servlet.
    pub withdrawal: Option<Withdrawal>,
    /// Whether the `requestState` of the result stays in this process. Otherwise it goes through the client. It is not sent to the
    /// servlet.
    pub keeps_state: bool,
    /// Decides whether a tool may run with its arguments. None allows all. It is not sent to the servlet.
    pub guard: Option<Arc<dyn CallGuard>>,
    /// Learns about the calls that virtual tools and servlets make. It is not sent to the servlet.
    pub observer: Option<Arc<dyn CallObserver>>,
    /// What the servlet can call, as far as its options allow it. None if it can call nothing. It is not sent to the servlet.
    pub callees: Option<Arc<dyn Callees>>,
    /// The servlets that have made the call, the outermost first. Empty if a client calls. The last one is known to the servlet
    /// only as a name in `_meta`.
    pub via: Vec<String>,
}

impl RequestMeta {
    /// The capabilities that the client has declared, or null.
    pub fn client_capabilities(&self) -> &Value {
        let meta = self.meta.as_ref();
        let declared = meta.and_then(|meta| meta.get("io.modelcontextprotocol/clientCapabilities"));
        declared.unwrap_or(&Value::Null)
    }
}

/// Who sends a request. `Debug` does not show it.
pub struct RequestCaller {
    /// Tells callers apart. Empty if they are not authenticated.
    pub key: String,
    attributes: LazyLock<JsonObject, Box<dyn FnOnce() -> JsonObject + Send>>,
}

impl RequestCaller {
    /// A caller with these attributes. They are made when something reads them, as few requests need them.
    pub fn new(key: String, attributes: impl FnOnce() -> JsonObject + Send + 'static) -> Self {
        let attributes = LazyLock::new(Box::new(attributes) as _);
        Self { key, attributes }
    }

    /// What expressions read as `caller`.
    pub fn attributes(&self) -> &JsonObject {
        &self.attributes
    }
}

impl Debug for RequestCaller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestCaller")
    }
}

/// Decides whether the tool of a call may run, once its arguments are known.
pub trait CallGuard: Debug + Send + Sync {
    /// Asked before the tool runs, with the arguments as it gets them.
    ///
    /// # Errors
    /// [`Denied`].
    fn may_run(&self, arguments: Option<&JsonObject>) -> Result<(), Denied>;

    /// Asked before a step of a virtual tool, or a servlet, reads a resource.
    ///
    /// # Errors
    /// [`Denied`].
    fn may_read(&self, uri: &str) -> Result<(), Denied>;

    /// What decides about a step of a virtual tool, by its number.
    fn of_step(&self, step: usize) -> Arc<dyn CallGuard>;

    /// What decides about a call that a servlet makes.
    fn of_callee(&self, callee: &Callee) -> Arc<dyn CallGuard>;
}

/// Learns about the calls that virtual tools and servlets make for a request.
pub trait CallObserver: Debug + Send + Sync {
    /// A call begins. `request_meta` is what the callee gets. What is returned learns the outcome; it is dropped if the call is
    /// stopped.
    fn begin<'c>(
        &self,
        call: InnerCall<'c>,
        request_meta: &mut RequestMeta,
    ) -> Box<dyn ObservedCall + 'c>;
}

/// A call that virtual tools and servlets make, while it runs.
pub trait ObservedCall: Send {
    /// The call has ended. `usage` is what it took, if that is known.
    fn end(self: Box<Self>, outcome: InnerOutcome<'_>, usage: Option<&Usage>);
}

/// A call that a virtual tool or a servlet makes.
#[derive(Clone, Copy, Debug)]
pub struct InnerCall<'a> {
    /// What makes the call.
    pub maker: CallMaker<'a>,
    /// The servlet or remote that is called.
    pub member: &'a str,
    /// What is called or read.
    pub target: CallTarget<'a>,
    /// Whether what is called is there. Servlets can make up names.
    pub is_known: bool,
}

/// What makes an inner call.
#[derive(Clone, Copy, Debug)]
pub enum CallMaker<'a> {
    /// A step of a virtual tool.
    Step {
        /// Its name.
        name: &'a str,
        /// The number of the item, if the step runs for each item of a list.
        index: Option<usize>,
        /// Whether the call of the virtual tool goes on if it fails.
        may_fail: bool,
    },
    /// The servlet with this name.
    Servlet(&'a str),
}

/// The tool or resource of an inner call.
#[derive(Clone, Copy, Debug)]
pub enum CallTarget<'a> {
    /// A tool, by the name that its servlet or remote gives it.
    Tool(&'a str),
    /// A resource: its URI, or the template of a step, whose variables may be secret.
    Resource(&'a str),
}

/// How an inner call has ended.
#[derive(Clone, Copy, Debug)]
pub enum InnerOutcome<'a> {
    /// With a result.
    Ok,
    /// With a result that asks the client. The call goes on with the answer.
    InputRequired,
    /// With a result that says that the tool failed.
    ToolError,
    /// With an error, for a step.
    StepError(&'a CallError),
    /// With an error, for a servlet.
    CalleeError(&'a CalleeError),
}

impl InnerOutcome<'_> {
    /// The outcome in metrics and logs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool_error",
            Self::InputRequired => INPUT_REQUIRED,
            Self::StepError(error) => error.kind.name(),
            Self::CalleeError(error) => match &error.kind {
                Cow::Borrowed(kind) => kind,
                Cow::Owned(_) => "other",
            },
        }
    }
}

/// Why a call is denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// The text for the model.
    pub text: String,
    /// What the program of the client learns, as `mcp-servlet/denied` in `_meta`.
    pub meta: JsonObject,
}

/// How long the input requests of a result wait for the client's responses.
#[derive(Clone, Debug)]
pub struct InputTimeout {
    limit: Duration,
    end: Option<CancellationToken>,
}

impl InputTimeout {
    /// They wait for this long.
    pub fn new(limit: Duration) -> Self {
        Self { limit, end: None }
    }

    /// They do not wait any longer when this token is cancelled.
    #[must_use]
    pub fn end_with(self, end: CancellationToken) -> Self {
        let end = Some(end);
        Self { end, ..self }
    }

    /// Waits until a response comes too late. The time begins with this call.
    pub async fn expired(&self) {
        let ended = async {
            match &self.end {
                Some(end) => end.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = tokio::time::sleep(self.limit) => {}
            () = ended => {}
        }
    }
}

/// A session of a client. Its id is a secret, which `Debug` does not show.
#[derive(Clone)]
pub struct ClientSession {
    id: Arc<str>,
    end: CancellationToken,
}

impl ClientSession {
    /// A session with this id, which lasts until the token is cancelled.
    pub fn new(id: &str, end: CancellationToken) -> Self {
        Self { id: id.into(), end }
    }

    /// The id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Waits for the end of the session.
    pub async fn ended(&self) {
        self.end.cancelled().await;
    }
}

impl fmt::Debug for ClientSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientSession")
    }
}
