//! Another MCP server as a member of a host.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use mcp_servlet_call::{CallError, JsonObject, Nursery, RemoteFailure, RequestMeta};
use mcp_servlet_client::Target;
use mcp_servlet_host::{
    Answer, CallToolResult, CompleteResult, GetPromptResult, Member, ReadResourceResult, Remote,
    RemoteLists, ResourceWatch,
};
use tokio::sync::{broadcast, watch};
use tokio::time::{sleep, timeout};

use crate::failure::call_error;
use crate::options::{RemoteOptions, Sessions};
use crate::sessions::Connections;
use crate::shared::{Shared, is_final};
use crate::state::{Link, NotReady, State};
use crate::supervised::Supervised;

/// How much longer than one attempt to wait for its outcome, which has the reason.
const CONNECT_SLACK: Duration = Duration::from_millis(250);

/// Another MCP server, which a task keeps connected. The connection ends when the last handle is dropped.
#[derive(Debug)]
pub struct RemoteServer {
    /// The connection of requests without a session, and of all others unless each session has one.
    main: Supervised,
    sessions: Connections,
}

impl RemoteServer {
    /// Connects to a server in the background. `name` is the name in logs, errors and prefixes.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(name: impl Into<String>, target: Target, options: RemoteOptions) -> Arc<Self> {
        Arc::new(Self {
            main: Supervised::start(Shared::new(name.into(), target, options, Nursery::new())),
            sessions: Connections::default(),
        })
    }

    /// The server as a member of a host, with its current lists.
    pub fn member(self: &Arc<Self>) -> Member {
        let remote: Arc<dyn Remote> = Arc::<Self>::clone(self);
        remote.into()
    }

    /// Whether the server can be reached.
    pub fn state(&self) -> State {
        self.main.shared.link.borrow().state()
    }

    /// Waits until the server is connected. A connection that was closed because nothing used it counts as connected.
    ///
    /// # Errors
    /// [`NotReady`] after the last of the attempts that [`Retries::most`](crate::Retries::most) allows. Without a limit,
    /// after the time of one attempt.
    pub async fn ready(&self) -> Result<(), NotReady> {
        let options = &self.main.shared.options;
        let mut link = self.main.shared.link.subscribe();
        let over = link.wait_for(|link| match link {
            Link::Up(_) | Link::Idle => true,
            Link::Down { why, .. } => is_final(why),
            Link::Connecting => false,
        });
        let waited = match options.retries.most {
            Some(_) => over.await.is_ok(),
            None => timeout(self.wait(), over).await.is_ok(),
        };
        self.outcome(waited)
    }

    /// Waits until the first attempt to connect is over, for the time of one attempt at most.
    ///
    /// # Errors
    /// [`NotReady`] if the server is not connected then.
    pub async fn tried(&self) -> Result<(), NotReady> {
        let mut link = self.main.shared.link.subscribe();
        let over = link.wait_for(|link| !matches!(link, Link::Connecting));
        let waited = timeout(self.wait(), over).await.is_ok();
        self.outcome(waited)
    }

    /// How long to wait for the outcome of one attempt.
    fn wait(&self) -> Duration {
        let limit = self.main.shared.attempt_limit();
        limit.saturating_add(CONNECT_SLACK)
    }

    /// Whether it makes no further attempt to connect.
    pub fn has_given_up(&self) -> bool {
        let link = self.main.shared.link.borrow();
        matches!(&*link, Link::Down { why, .. } if is_final(why))
    }

    fn outcome(&self, waited: bool) -> Result<(), NotReady> {
        let shared = &self.main.shared;
        let name = &shared.name;
        Err(match &*shared.link.borrow() {
            Link::Up(_) | Link::Idle if waited => return Ok(()),
            Link::Down { why, help, .. } => NotReady::new(name, why, help.clone()),
            _ => {
                let why = format!("it did not answer within {:?}", shared.attempt_limit());
                NotReady::new(name, &RemoteFailure::Unreachable { why }, None)
            }
        })
    }

    /// Whether the operator has not approved what has this URI.
    fn hides(&self, uri: &str) -> bool {
        self.main.shared.lists.borrow().hides(uri)
    }

    /// What a request uses: the connection of its session or of its caller, or the common one.
    fn connection(&self, request_meta: &RequestMeta) -> Result<Arc<Shared>, RemoteFailure> {
        let main = &self.main.shared;
        let session = request_meta.session.as_ref();
        if let (Some(session), Sessions::Each { most }) = (session, main.options.sessions) {
            let connection = self.sessions.connection_for(session, most, main)?;
            return Ok(Arc::clone(&connection.shared));
        }
        let caller = request_meta
            .caller
            .as_ref()
            .filter(|caller| !caller.key.is_empty() && main.options.is_by_caller());
        let Some(caller) = caller else {
            return Ok(Arc::clone(main));
        };
        let connection = self.sessions.connection_of_caller(&caller.key, main)?;
        Ok(Arc::clone(&connection.shared))
    }

    /// As [`connection`](Self::connection), for a method of the protocol.
    fn connection_for(
        &self,
        method: &'static str,
        request_meta: &RequestMeta,
    ) -> Result<Arc<Shared>, CallError> {
        let connection = self.connection(request_meta);
        connection.map_err(|failure| call_error(&self.main.shared.name, method, failure))
    }

    /// Ends all connections after [`RemoteOptions::drain`], together with the requests that still run. Call this when another
    /// server has replaced this one. Until then it can be used, and it ends earlier if its last handle is dropped.
    pub fn retire(self: &Arc<Self>) {
        let drain = self.main.shared.options.drain;
        let server = Arc::downgrade(self);
        self.main.shared.waits.spawn(async move {
            sleep(drain).await;
            if let Some(server) = server.upgrade() {
                server.stop();
            }
        });
    }

    /// Ends all connections at once, together with the requests that use them, without waiting for it.
    pub fn stop(&self) {
        self.main.abort();
        for connection in self.sessions.take() {
            connection.abort();
        }
    }

    /// Closes all connections and waits until they are closed. If a call still runs on one, that connection closes when
    /// the call ends, and this does not wait for it.
    pub async fn close(&self) {
        self.main.stop();
        let sessions = self.sessions.take();
        join_all(sessions.iter().map(|connection| connection.close())).await;
        self.main.close().await;
        self.main.shared.waits.end().await;
    }
}

impl Drop for RemoteServer {
    fn drop(&mut self) {
        // The tasks that keep connections end with their own guards.
        self.main.shared.waits.cancel();
    }
}

impl Remote for RemoteServer {
    fn name(&self) -> &str {
        &self.main.shared.name
    }

    fn origin(&self) -> &str {
        &self.main.shared.origin
    }

    fn outage(&self) -> Option<&'static str> {
        match &*self.main.shared.link.borrow() {
            Link::Up(_) | Link::Idle => None,
            Link::Connecting => Some("connecting"),
            Link::Down { why, .. } => Some(why.name()),
        }
    }

    fn is_connecting(&self) -> bool {
        matches!(&*self.main.shared.link.borrow(), Link::Connecting)
    }

    fn first_attempt(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            // Its failure is in the log.
            let _ = self.tried().await;
        })
    }

    fn lists(&self) -> watch::Receiver<Arc<RemoteLists>> {
        self.main.shared.lists.subscribe()
    }

    fn call<'a>(
        &'a self,
        tool: &'a str,
        arguments: Option<&'a JsonObject>,
        request_meta: &'a RequestMeta,
    ) -> Answer<'a, CallToolResult> {
        Box::pin(async move {
            let connection = self.connection_for("tools/call", request_meta)?;
            let result = connection.call(tool, arguments, request_meta).await?;
            let texts = self.main.shared.options.tools.get(tool);
            Ok(match texts.and_then(|texts| texts.shape.as_ref()) {
                None => result,
                Some(shape) => shape.apply(result),
            })
        })
    }

    fn read_resource<'a>(
        &'a self,
        uri: &'a str,
        request_meta: &'a RequestMeta,
    ) -> Answer<'a, ReadResourceResult> {
        Box::pin(async move {
            if self.hides(uri) {
                return Err(CallError::unknown_resource(uri));
            }
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
        Box::pin(self.main.shared.complete(params))
    }

    fn watch_resource(&self, uri: &str) -> ResourceWatch {
        if self.hides(uri) {
            return ResourceWatch::new(());
        }
        self.main.shared.watch_resource(uri)
    }

    fn updated_resources(&self) -> broadcast::Receiver<String> {
        self.main.shared.watched.updates()
    }
}
