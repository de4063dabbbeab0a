//! Sessions that another process has opened: what is known of their handshake, and how rmcp learns it.
//!
//! rmcp chooses the ids of sessions and looks for handshakes while it handles a request, and does not say for which one. So the
//! request is [handled](passing) together with what it has.

use std::sync::{Arc, Mutex};

use futures_util::Stream;
use mcp_servlet_common::lock;
use rmcp::{
    model::{ClientJsonRpcMessage, InitializeRequestParams, ServerJsonRpcMessage},
    transport::{
        WorkerTransport,
        streamable_http_server::session::{
            RestoreOutcome, ServerSseMessage, SessionId, SessionManager, SessionState,
            SessionStore, SessionStoreError,
            local::{LocalSessionManager, LocalSessionManagerError, LocalSessionWorker},
        },
    },
};
use tokio::sync::OwnedMutexGuard;

/// What a request brings along, as one of its extensions.
#[derive(Clone, Debug)]
pub(in crate::http) enum Passed {
    /// The id of the session that it opens.
    Opens(SessionId),
    /// The handshake of a session that another process has opened.
    Continues(Arc<InitializeRequestParams>),
}

/// Whether a session of another process is restored. Its requests take turns until it is: rmcp ends a session that gets a request
/// while it is restored.
pub(in crate::http) type Restored = Arc<tokio::sync::Mutex<bool>>;

/// The turn of a request that restores a session. It ends when rmcp uses the session, or with the request.
#[derive(Clone)]
pub(in crate::http) struct Turn(Arc<Mutex<Option<OwnedMutexGuard<bool>>>>);

impl Turn {
    /// Waits for the turn. None if the session is restored.
    pub(in crate::http) async fn of(restored: Restored) -> Option<Self> {
        let turn = restored.lock_owned().await;
        (!*turn).then(|| Self(Arc::new(Mutex::new(Some(turn)))))
    }

    /// Lets the others go on.
    pub(in crate::http) fn end(&self, is_restored: bool) {
        if let Some(mut turn) = lock(&self.0).take() {
            *turn = is_restored;
        }
    }
}

tokio::task_local! {
    static PASSED: Option<Passed>;
    static TURN: Turn;
}

/// Lets rmcp handle a request that brings this along.
pub(in crate::http) fn passing<F: Future>(
    passed: Option<Passed>,
    handle: F,
) -> impl Future<Output = F::Output> {
    PASSED.scope(passed, handle)
}

/// Lets rmcp handle a request that restores a session.
pub(in crate::http) fn in_turn<F: Future>(
    turn: Turn,
    handle: F,
) -> impl Future<Output = F::Output> {
    TURN.scope(turn, handle)
}

fn passed() -> Option<Passed> {
    PASSED.try_with(Clone::clone).ok().flatten()
}

/// rmcp uses a session only after it is restored.
fn end_turn() {
    // Other requests have none.
    let _ = TURN.try_with(|turn| turn.end(true));
}

/// The handshakes of sessions that other processes have opened.
pub(in crate::http) struct Handshakes;

#[async_trait::async_trait]
impl SessionStore for Handshakes {
    async fn load(&self, _: &str) -> Result<Option<SessionState>, SessionStoreError> {
        Ok(match passed() {
            Some(Passed::Continues(params)) => Some(SessionState::new((*params).clone())),
            _ => None,
        })
    }

    /// The endpoint does it after the handshake, and refuses the session if that fails.
    async fn store(&self, _: &str, _: &SessionState) -> Result<(), SessionStoreError> {
        Ok(())
    }

    /// As for [`store`](Self::store).
    async fn delete(&self, _: &str) -> Result<(), SessionStoreError> {
        Ok(())
    }
}

/// rmcp's sessions, with the ids that requests bring along.
#[derive(Default)]
pub(in crate::http) struct Manager(pub(super) LocalSessionManager);

impl SessionManager for Manager {
    type Error = LocalSessionManagerError;
    type Transport = WorkerTransport<LocalSessionWorker>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        if let Some(Passed::Opens(id)) = passed()
            && let RestoreOutcome::Restored(transport) = self.0.restore_session(id.clone()).await?
        {
            return Ok((id, transport));
        }
        self.0.create_session().await
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.0.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.0.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.0.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        end_turn();
        self.0.create_stream(id, message).await
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.0.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        end_turn();
        self.0.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        end_turn();
        self.0.resume(id, last_event_id).await
    }

    async fn restore_session(
        &self,
        id: SessionId,
    ) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        self.0.restore_session(id).await
    }
}
