//! What a server reports without being asked.

use serde_json::Value;
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio_util::task::AbortOnDropHandle;

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
    /// The server had forgotten the session (HTTP status 404), so the client has opened a new one. Servers do this when they
    /// restart. The client notices this when it sends a request; a program that only waits for events should
    /// [`ping`](crate::Session::ping) from time to time.
    ///
    /// Subscriptions to resources and the level of the log ended with the previous session, and changes may have been missed.
    /// Call `watch` and the lists again. [`Session::server`](crate::Session::server) still describes the first handshake.
    SessionRenewed,
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
    received: Receiver<Event>,
    /// Since 2026-07-28, a server sends most events only while there is a subscription.
    subscription: Option<Subscribed>,
    has_ended: bool,
}

/// A subscription that a task keeps open. Dropping this ends it.
#[derive(Debug)]
pub(crate) struct Subscribed(pub(crate) AbortOnDropHandle<Option<Error>>);

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
                data: params.get_mut("data").map(Value::take).unwrap_or_default(),
            },
            _ => Self::Other { method, params },
        }
    }
}

impl Events {
    pub(crate) fn new(received: Receiver<Event>, subscription: Option<Subscribed>) -> Self {
        Self {
            received,
            subscription,
            has_ended: false,
        }
    }

    /// The next event, or none after the end of the connection.
    ///
    /// # Errors
    /// If more than 1024 events have arrived since the last call, so that the oldest were lost. The events after them
    /// follow. If the server has ended the subscription, that is the last item.
    pub async fn next(&mut self) -> Option<Result<Event, Error>> {
        if self.has_ended {
            return None;
        }
        let Some(Subscribed(task)) = &mut self.subscription else {
            return next_received(&mut self.received).await;
        };
        tokio::select! {
            // Events from before the end of the subscription come first.
            biased;
            event = next_received(&mut self.received) => event,
            end = task => {
                self.has_ended = true;
                // An error means that the runtime is gone, and the connection with it.
                end.ok().flatten().map(Err)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_data_of_a_log_message_is_any_json() {
        for data in [json!({ "at": 1 }), json!("text"), json!([1]), Value::Null] {
            let params = json!({ "level": "info", "logger": "l", "data": data });
            let expected = Event::Log {
                level: "info".to_owned(),
                logger: Some("l".to_owned()),
                data,
            };
            let event = Event::new("notifications/message".to_owned(), params);
            assert_eq!(event, expected);
        }
    }

    #[test]
    fn parameters_that_are_not_an_object_have_no_members() {
        let no_log = Event::Log {
            level: String::new(),
            logger: None,
            data: Value::Null,
        };
        let no_uri = Event::ResourceUpdated { uri: String::new() };
        for params in [
            Value::Null,
            json!([{ "uri": "a:b", "data": 1 }]),
            json!("data"),
            json!(7),
            json!(true),
        ] {
            let other = Event::Other {
                method: "notifications/vendor".to_owned(),
                params: params.clone(),
            };
            for (method, expected) in [
                ("notifications/tools/list_changed", &Event::ToolsChanged),
                (
                    "notifications/resources/list_changed",
                    &Event::ResourcesChanged,
                ),
                ("notifications/prompts/list_changed", &Event::PromptsChanged),
                ("notifications/resources/updated", &no_uri),
                ("notifications/message", &no_log),
                ("notifications/vendor", &other),
            ] {
                let event = Event::new(method.to_owned(), params.clone());
                assert_eq!(event, *expected, "{method}: {params}");
            }
        }
    }
}
