//! Forwards the notifications of a servlet to the client while the call runs.

#![allow(
    deprecated,
    reason = "clients of earlier revisions know logging, and it goes on until it is removed"
)]

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    time::Duration,
};

use mcp_servlet_call::{Change, JsonObject, Listener, Notification, Sending, Usage};
use rmcp::{
    Peer, RoleServer,
    model::{
        CustomNotification, LoggingLevel, LoggingMessageNotificationParam,
        ProgressNotificationParam, ServerNotification,
    },
    service::{RequestContext, ServiceError},
};
use serde_json::Value;
use tokio::time::timeout;

use crate::{era::Era, handler::tasks::Task, own_id::client_value, server::Server};

/// The member of `_meta`, and of progress notifications, with the progress token.
pub(super) const PROGRESS_TOKEN: &str = "progressToken";

/// How long one notification may block a call if the client does not read.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(5);

/// The lowest log level that a session up to 2025-11-25 receives.
#[derive(Debug)]
pub(super) struct Threshold(AtomicU8);

impl Default for Threshold {
    fn default() -> Self {
        // MCP leaves the level to the server until the client sets one.
        Self(AtomicU8::new(LoggingLevel::Info as u8))
    }
}

impl Threshold {
    pub(super) fn set(&self, level: LoggingLevel) {
        self.0.store(level as u8, Ordering::Relaxed);
    }

    fn get(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The task that a call has become, once it has.
pub(super) type TaskCell = Arc<OnceLock<Arc<Task>>>;

/// What a call took, once it has ended.
pub(super) type UsageCell = Arc<OnceLock<Usage>>;

/// Sends notifications to the client of one request.
#[derive(Debug)]
pub(super) struct Notifier {
    peer: Peer<RoleServer>,
    era: Era,
    /// The progress token, if the client sent one. It may be one of our own.
    token: Option<Value>,
    /// The lowest log level that the client wants. None if it wants no log messages.
    threshold: Option<u8>,
    /// Once the call is a task, its request is answered and the client polls the task instead.
    task: TaskCell,
    server: Server,
    /// What the call took, once it has ended.
    usage: UsageCell,
    /// Whether the servlet announced that one of its lists has changed.
    relist: AtomicBool,
}

/// Lists are read again after the call, because its instance is free then.
impl Drop for Notifier {
    fn drop(&mut self) {
        if *self.relist.get_mut() {
            self.server.0.process.relisting.want_servlets();
        }
    }
}

impl Notifier {
    pub(super) fn new(
        server: &Server,
        context: &RequestContext<RoleServer>,
        era: Era,
        session: &Threshold,
        task: TaskCell,
    ) -> Self {
        let threshold = match era {
            Era::Legacy => Some(session.get()),
            // Since 2026-07-28, each request names its log level.
            Era::Modern => context.meta.log_level().map(|level| level as u8),
        };
        Self {
            peer: context.peer.clone(),
            era,
            token: context.meta.0.0.get(PROGRESS_TOKEN).cloned(),
            threshold,
            task,
            server: server.clone(),
            usage: UsageCell::default(),
            relist: AtomicBool::new(false),
        }
    }

    async fn send(&self, notification: Notification) -> Result<(), Problem> {
        match notification {
            Notification::Progress(params) => self.progress(params).await,
            Notification::Message(params) => self.message(params).await,
            Notification::ElicitationComplete(params) => self.elicitation_complete(params).await,
            Notification::Changed(change) => {
                self.changed(change);
                Ok(())
            }
        }
    }

    /// Where to find what the call took.
    pub(super) fn usage(&self) -> UsageCell {
        Arc::clone(&self.usage)
    }

    /// Announces a change to all clients that it concerns, not only to this one.
    fn changed(&self, change: Change) {
        match change {
            Change::Tools | Change::Prompts | Change::Resources => {
                self.relist.store(true, Ordering::Relaxed);
            }
            Change::Resource(_) => self.server.notify_sharing(&change),
        }
    }

    /// Sends progress, if its token is the one of this request.
    async fn progress(&self, mut params: JsonObject) -> Result<(), Problem> {
        let (Some(own), Some(sent)) = (&self.token, params.get_mut(PROGRESS_TOKEN)) else {
            return Ok(());
        };
        if *sent != client_value(own) {
            return Ok(());
        }
        sent.clone_from(own);
        if let Some(task) = self.task.get() {
            task.say(status(&params));
            return Ok(());
        }
        let params: ProgressNotificationParam = serde_json::from_value(params.into())?;
        Ok(self.peer.notify_progress(params).await?)
    }

    async fn message(&self, params: JsonObject) -> Result<(), Problem> {
        let params: LoggingMessageNotificationParam = serde_json::from_value(params.into())?;
        match self.threshold {
            _ if self.task.get().is_some() => Ok(()),
            Some(threshold) if params.level as u8 >= threshold => {
                Ok(self.peer.notify_logging_message(params).await?)
            }
            _ => Ok(()),
        }
    }

    /// Clients since 2026-07-28 have no such notification; they repeat their request.
    async fn elicitation_complete(&self, params: JsonObject) -> Result<(), Problem> {
        if self.era == Era::Modern {
            return Ok(());
        }
        let method = "notifications/elicitation/complete";
        let notification = CustomNotification::new(method, Some(params.into()));
        let notification = ServerNotification::CustomNotification(notification);
        Ok(self.peer.send_notification(notification).await?)
    }
}

impl Listener for Notifier {
    fn notify(&self, notification: Notification) -> Sending<'_> {
        Box::pin(async {
            match timeout(NOTIFY_TIMEOUT, self.send(notification)).await {
                Ok(Ok(())) => {}
                Ok(Err(problem)) => {
                    tracing::debug!(%problem, "cannot send a notification to the client");
                }
                Err(_) => {
                    tracing::debug!("the client did not take a notification in time");
                }
            }
        })
    }

    fn ended(&self, usage: &Usage) {
        // One request makes one call.
        let _ = self.usage.set(*usage);
    }
}

/// The message of a progress notification, or else its numbers.
fn status(progress: &JsonObject) -> String {
    if let Some(Value::String(message)) = progress.get("message") {
        return message.clone();
    }
    let number = |name: &str| progress.get(name).map(Value::to_string);
    let done = number("progress").unwrap_or_default();
    match number("total") {
        Some(total) => format!("{done} of {total}"),
        None => done,
    }
}

/// Why a notification was not sent.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("invalid notification")]
    Wrong(#[from] serde_json::Error),
    #[error("the client cannot be reached")]
    Gone(#[from] ServiceError),
}
