//! Another MCP server as a member of a host.

use std::sync::{Arc, Mutex, PoisonError};

use mcp_servlet_client::Target;
use mcp_servlet_host::{
    Answer, CallToolResult, CompleteResult, GetPromptResult, Member, ReadResourceResult, Remote,
    RemoteLists, ResourceWatch,
};
use mcp_servlet_runtime::{JsonObject, RequestMeta};
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::options::RemoteOptions;
use crate::shared::{Shared, is_final};
use crate::state::{Link, NotReady, State, reason};
use crate::supervisor::supervise;

/// Another MCP server, which a task keeps connected. The connection ends when the last handle is dropped.
#[derive(Debug)]
pub struct RemoteServer {
    shared: Arc<Shared>,
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
        let shared = Arc::new(Shared::new(name.into(), target, options));
        let stop = CancellationToken::new();
        let task = tokio::spawn(supervise(Arc::clone(&shared), stop.clone()));
        Arc::new(Self {
            shared,
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

    /// Closes the connection, and waits until it is closed. If a call still runs on it, the connection closes when that
    /// call ends, and this does not wait for it.
    pub async fn close(&self) {
        let task = self
            .task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        self.stop.cancel();
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
        Box::pin(self.shared.call(tool, arguments, request_meta))
    }

    fn read_resource<'a>(
        &'a self,
        uri: &'a str,
        request_meta: &'a RequestMeta,
    ) -> Answer<'a, ReadResourceResult> {
        Box::pin(self.shared.read(uri, request_meta))
    }

    fn get_prompt<'a>(
        &'a self,
        prompt: &'a str,
        arguments: Option<&'a JsonObject>,
        request_meta: &'a RequestMeta,
    ) -> Answer<'a, GetPromptResult> {
        Box::pin(self.shared.prompt(prompt, arguments, request_meta))
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
