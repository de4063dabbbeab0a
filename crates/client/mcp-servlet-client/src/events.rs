//! What a server reports without being asked.

use rmcp::service::Subscription;
use serde_json::Value;
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::error::{Error, ErrorKind};

/// Something that a server reports.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The list of tools has changed.
    ToolsChanged,
    /// The list of resources has changed.
    ResourcesChanged,
    /// The list of prompts has changed.
    PromptsChanged,
    /// A resource has changed.
    ResourceUpdated {
        /// Its URI.
        uri: String,
    },
    /// A message for the log.
    Log {
        /// The level, such as `info`.
        level: String,
        /// The part of the server that logs.
        logger: Option<String>,
        /// The message: any JSON.
        data: Value,
    },
    /// Any other notification.
    Other {
        /// Its method.
        method: String,
        /// Its parameters.
        params: Value,
    },
}

/// Events of a session, in the order in which they arrive.
#[derive(Debug)]
pub struct Events {
    pub(crate) received: Receiver<Event>,
    /// Since 2026-07-28, a server sends most events only while there is a subscription.
    pub(crate) subscription: Option<Subscription>,
}

impl Event {
    /// The event in a notification.
    pub(crate) fn new(method: String, mut params: Value) -> Self {
        let text = |key: &str| params[key].as_str().map(str::to_owned);
        match method.as_str() {
            "notifications/tools/list_changed" => Self::ToolsChanged,
            "notifications/resources/list_changed" => Self::ResourcesChanged,
            "notifications/prompts/list_changed" => Self::PromptsChanged,
            "notifications/resources/updated" => Self::ResourceUpdated {
                uri: text("uri").unwrap_or_default(),
            },
            "notifications/message" => Self::Log {
                level: text("level").unwrap_or_default(),
                logger: text("logger"),
                data: params["data"].take(),
            },
            _ => Self::Other { method, params },
        }
    }
}

impl Events {
    /// The next event, or none after the end of the session.
    ///
    /// # Errors
    /// If events arrive faster than they are read, so that some were lost, or if the subscription fails.
    pub async fn next(&mut self) -> Option<Result<Event, Error>> {
        loop {
            let Some(subscription) = &mut self.subscription else {
                return next_received(&mut self.received).await;
            };
            tokio::select! {
                biased;
                event = next_received(&mut self.received) => return event,
                event = subscription.next() => match event {
                    // It is among the received events as well.
                    Ok(Some(_)) => {}
                    Ok(None) => self.subscription = None,
                    Err(error) => {
                        let message = format!("the subscription failed: {error}");
                        return Some(Err(Error::new(ErrorKind::Protocol, message)));
                    }
                },
            }
        }
    }
}

async fn next_received(events: &mut Receiver<Event>) -> Option<Result<Event, Error>> {
    match events.recv().await {
        Ok(event) => Some(Ok(event)),
        Err(RecvError::Closed) => None,
        Err(RecvError::Lagged(lost)) => {
            let message = format!("{lost} events were lost, because they were not read in time");
            Some(Err(Error::new(ErrorKind::Limit, message)))
        }
    }
}
