//! Another MCP server as a member of a host.

use std::sync::{Arc, Mutex, PoisonError};

use mcp_servlet_client::Target;
use mcp_servlet_host::{
    Answer, CallToolResult, CompleteResult, GetPromptResult, Member, ReadResourceResult, Remote,
    RemoteLists, ResourceWatch,
};
use mcp_servlet_runtime::{CallError, JsonObject, RemoteFailure, RequestMeta};
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::failure::call_error;
use crate::options::{RemoteOptions, Sessions};
use crate::sessions::Connections;
use crate::shared::{Shared, is_final};
use crate::state::{Link, NotReady, State, reason};
use crate::supervisor::supervise;

/// Another MCP server, which a task keeps connected. The connection ends when the last handle is dropped.
#[derive(Debug)]
pub struct RemoteServer {
    shared: Arc<Shared>,
    /// The connections of sessions, if each has one.
    connections: Connections,
    task: Mutex<Option<JoinHandle<()>>>,
    stop: CancellationToken,
    _stop: DropGuard,
}

impl RemoteServer {
    /// Connects to a server in the background. `name` is the name in logs, errors and prefixes.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(name: impl Into<String>, target: Target, options: RemoteOptions) -> Arc<Self> {
        Self::connect(Shared::new(name.into(), target, options))
    }

    /// A connection of its own for a session.
    pub(crate) fn for_session(main: &Shared) -> Arc<Self> {
        Self::connect(main.for_session())
    }

    fn connect(shared: Shared) -> Arc<Self> {
        let shared = Arc::new(shared);
        let stop = CancellationToken::new();
        let task = tokio::spawn(supervise(Arc::clone(&shared), stop.clone()));
        Arc::new(Self {
            shared,
            connections: Connections::default(),
            task: Mutex::new(Some(task)),
            _stop: stop.clone().drop_guard(),
            stop,
        })
    }

    /// The server as a member of a host, with its current lists.
    pub fn member(self: &Arc<Self>) -> Member {
        let remote: Arc<dyn Remote> = Arc::<Self>::clone(self);
        remote.into()
    }

    /// Whether the server can be reached.
    pub fn state(&self) -> State {
        self.shared.link.borrow().state()
    }

    /// Waits until the server is connected. A connection that was closed because nothing used it counts as connected.
    ///
    /// # Errors
    /// [`NotReady`] after the last of the attempts that [`Retries::most`](crate::Retries::most) allows. Without a limit,
    /// after the time of one attempt.
    pub async fn ready(&self) -> Result<(), NotReady> {
        let options = &self.shared.options;
        let mut link = self.shared.link.subscribe();
        let over = link.wait_for(|link| match link {
            Link::Up(_) | Link::Idle => true,
            Link::Down { why, .. } => is_final(why),
            Link::Connecting => false,
        });
        let waited = match options.retries.most {
            Some(_) => over.await.is_ok(),
            None => timeout(options.connect, over).await.is_ok(),
        };
        self.outcome(waited)
    }

    /// Waits until the first attempt to connect is over, for the time of one attempt at most.
    ///
    /// # Errors
    /// [`NotReady`] if the server is not connected then.
    pub async fn tried(&self) -> Result<(), NotReady> {
        let mut link = self.shared.link.subscribe();
        let over = link.wait_for(|link| !matches!(link, Link::Connecting));
        let waited = timeout(self.shared.options.connect, over).await.is_ok();
        self.outcome(waited)
    }

    fn outcome(&self, waited: bool) -> Result<(), NotReady> {
        let options = &self.shared.options;
        let why = match &*self.shared.link.borrow() {
            Link::Up(_) | Link::Idle if waited => return Ok(()),
            Link::Down { why, .. } => reason(why),
            _ => format!("it did not answer within {:?}", options.connect),
        };
        let name = self.shared.name.clone();
        Err(NotReady { name, why })
    }

    /// What a request uses: the connection of its session, or the common one.
    fn connection(&self, request_meta: &RequestMeta) -> Result<Arc<Shared>, RemoteFailure> {
        let session = request_meta.session.as_ref();
        let (Some(session), Sessions::Each { most }) = (session, self.shared.options.sessions)
        else {
            return Ok(Arc::clone(&self.shared));
        };
        let connection = self.connections.of(session, most, &self.shared)?;
        Ok(Arc::clone(&connection.shared))
    }

    /// As [`connection`](Self::connection), for a method of the protocol.
    fn connection_for(
        &self,
        method: &'static str,
        request_meta: &RequestMeta,
    ) -> Result<Arc<Shared>, CallError> {
        let connection = self.connection(request_meta);
        connection.map_err(|failure| call_error(&self.shared.name, method, failure))
    }

    /// Closes the connection, and waits until it is closed. If a call still runs on it, the connection closes when that
    /// call ends, and this does not wait for it.
    pub async fn close(&self) {
        let task = self
            .task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        self.stop.cancel();
        for connection in self.connections.take() {
            // Boxed, because the type would contain itself.
            Box::pin(connection.close()).await;
        }
        if let Some(task) = task {
            // An error means that the task has panicked, and with it the connection is closed.
            let _ = task.await;
        }
    }
}

impl Remote for RemoteServer {
    fn name(&self) -> &str {
        &self.shared.name
    }

    fn origin(&self) -> &str {
        &self.shared.origin
    }

    fn lists(&self) -> watch::Receiver<Arc<RemoteLists>> {
        self.shared.lists.subscribe()
    }

    fn call<'a>(
        &'a self,
        tool: &'a str,
        arguments: Option<&'a JsonObject>,
        request_meta: &'a RequestMeta,
    ) -> Answer<'a, CallToolResult> {
        Box::pin(async move {
            let connection = self.connection_for("tools/call", request_meta)?;
            connection.call(tool, arguments, request_meta).await
        })
    }

    fn read_resource<'a>(
        &'a self,
        uri: &'a str,
        request_meta: &'a RequestMeta,
    ) -> Answer<'a, ReadResourceResult> {
        Box::pin(async move {
            let connection = self.connection_for("resources/read", request_meta)?;
            connection.read(uri, request_meta).await
        })
    }

    fn get_prompt<'a>(
        &'a self,
        prompt: &'a str,
        arguments: Option<&'a JsonObject>,
        request_meta: &'a RequestMeta,
    ) -> Answer<'a, GetPromptResult> {
        Box::pin(async move {
            let connection = self.connection_for("prompts/get", request_meta)?;
            connection.prompt(prompt, arguments, request_meta).await
        })
    }

    fn complete<'a>(&'a self, params: &'a JsonObject) -> Answer<'a, CompleteResult> {
        Box::pin(self.shared.complete(params))
    }

    fn watch_resource(&self, uri: &str) -> ResourceWatch {
        self.shared.watch_resource(uri)
    }

    fn updated_resources(&self) -> broadcast::Receiver<String> {
        self.shared.watched.updates()
    }
}
