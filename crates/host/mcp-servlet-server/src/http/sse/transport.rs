//! rmcp's side of a session: queues of messages and of events.

use std::{io, time::Duration};

use rmcp::{RoleServer, service::TxJsonRpcMessage, transport::Transport};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{message::Incoming, opening::Opening, passthrough};

/// How many messages, and how many events, may wait.
pub(super) const WAITING: usize = 16;

/// How long a client may leave its events unread. Then its session ends.
const PATIENCE: Duration = Duration::from_mins(1);

/// The events of a session, each in the form in which it is sent.
pub(super) type Events = mpsc::Receiver<String>;

/// A transport whose messages come from one queue and go to another.
pub(super) struct Connection {
    messages: mpsc::Receiver<Incoming>,
    /// None once it is closed.
    events: Option<mpsc::Sender<String>>,
    opening: Opening,
    end: CancellationToken,
}

impl Connection {
    /// `end` ends the session.
    pub(super) fn new(
        messages: mpsc::Receiver<Incoming>,
        end: CancellationToken,
    ) -> (Self, Events) {
        let (events, receiver) = mpsc::channel(WAITING);
        let connection = Self {
            messages,
            events: Some(events),
            opening: Opening::default(),
            end,
        };
        (connection, receiver)
    }
}

impl Transport<RoleServer> for Connection {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let message = serde_json::to_string(&message);
        let (events, end) = (self.events.clone(), self.end.clone());
        async move {
            let message = message?;
            let message = passthrough::unload(&message).unwrap_or(message);
            let event = format!("event: message\ndata: {message}\n\n");
            let events = events.ok_or(io::ErrorKind::NotConnected)?;
            let sent = tokio::time::timeout(PATIENCE, events.send(event)).await;
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

    async fn receive(&mut self) -> Option<Incoming> {
        loop {
            let message = self.messages.recv().await?;
            if self.opening.admits(&message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.events = None;
        Ok(())
    }
}
