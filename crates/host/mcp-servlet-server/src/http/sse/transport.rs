//! rmcp's side of a session: queues of messages and of events.

use std::{io, time::Duration};

use mcp_servlet_call::Nursery;
use rmcp::{RoleServer, service::TxJsonRpcMessage, transport::Transport};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{exchange::Exchange, message::Incoming, passthrough};

/// How many messages, and how many events, may wait.
pub(super) const MAX_SESSION_QUEUE: usize = 16;

/// How long a client may leave its events unread. Then its session ends.
const EVENT_WRITE_TIMEOUT: Duration = Duration::from_mins(1);

/// The events of a session, each in the form in which it is sent.
pub(super) type Events = mpsc::Receiver<String>;

/// A transport whose messages come from one queue and go to another.
pub(super) struct Connection {
    messages: mpsc::Receiver<Incoming>,
    /// None once it is closed.
    events: Option<mpsc::Sender<String>>,
    exchange: Exchange,
    /// The error for a refused message. It is sent by a task of its own, because sending another message cancels `receive`.
    refusing: Option<JoinHandle<Option<io::Result<()>>>>,
    end: CancellationToken,
    nursery: Nursery,
}

impl Connection {
    /// `end` ends the session.
    pub(super) fn new(
        messages: mpsc::Receiver<Incoming>,
        end: CancellationToken,
        nursery: Nursery,
    ) -> (Self, Events) {
        let (events, receiver) = mpsc::channel(MAX_SESSION_QUEUE);
        let connection = Self {
            messages,
            events: Some(events),
            exchange: Exchange::default(),
            refusing: None,
            end,
            nursery,
        };
        (connection, receiver)
    }

    /// Sends an event. The session ends if the client does not read.
    fn send_text(&self, message: String) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (events, end) = (self.events.clone(), self.end.clone());
        async move {
            let event = format!("event: message\ndata: {message}\n\n");
            let events = events.ok_or(io::ErrorKind::NotConnected)?;
            let sent = tokio::time::timeout(EVENT_WRITE_TIMEOUT, events.send(event)).await;
            match sent {
                Ok(Ok(())) => Ok(()),
                Ok(Err(_)) => Err(io::ErrorKind::BrokenPipe.into()),
                Err(_) => {
                    tracing::debug!("a session ends, because its client does not read");
                    end.cancel();
                    Err(io::ErrorKind::TimedOut.into())
                }
            }
        }
    }
}

impl Transport<RoleServer> for Connection {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.exchange.sent(&message);
        let message = serde_json::to_string(&message);
        let sent = message
            .map(|message| self.send_text(passthrough::outgoing(&message).unwrap_or(message)));
        async move { sent?.await }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        loop {
            // A client that sends invalid messages and reads no answers has to wait here.
            if let Some(refusing) = &mut self.refusing {
                let refused = refusing.await;
                self.refusing = None;
                refused.ok()??.ok()?;
            }
            let message = self.messages.recv().await?;
            match self.exchange.admit(message) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(refusal) => {
                    let text = refusal.to_json().to_string();
                    self.refusing = Some(self.nursery.spawn(self.send_text(text)));
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.events = None;
        Ok(())
    }
}
