//! How an event stream begins: what must be known before rmcp reads it.

use futures_util::StreamExt as _;
use futures_util::stream;

use super::events::{EventStream, is_endpoint, is_message};
use super::{lost, response};
use crate::error::Error;

/// How many events may wait for the first message. Some servers send events without a message for as long as a call runs.
const MAX_WAITING_EVENTS: usize = 16;

/// The events from the response to a handshake on. rmcp reads nothing that comes before it.
///
/// # Errors
/// There is no response, or the server speaks HTTP+SSE.
pub(super) async fn of_opening(mut events: EventStream) -> Result<EventStream, Error> {
    while let Some(Ok(event)) = events.next().await {
        if is_endpoint(&event) {
            return Err(response::of_http_sse());
        }
        let data = event.data.as_deref();
        if is_message(&event) && data.is_some_and(response::is_response) {
            return Ok(stream::iter([Ok(event)]).chain(events).boxed());
        }
    }
    Err(response::nothing())
}

/// The events that answer a request in a session.
///
/// # Errors
/// The first message says that the server has lost the session.
pub(super) async fn of_session(mut events: EventStream) -> Result<EventStream, Error> {
    let mut read = Vec::new();
    while read.len() < MAX_WAITING_EVENTS
        && let Some(event) = events.next().await
    {
        let data = match &event {
            Ok(event) if is_message(event) => event.data.as_deref().unwrap_or_default(),
            _ => "",
        };
        if let Some(error) = lost::error_of(data.as_bytes()) {
            return Err(error);
        }
        let is_last = event.is_err() || !data.is_empty();
        read.push(event);
        if is_last {
            break;
        }
    }
    Ok(stream::iter(read).chain(events).boxed())
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use sse_stream::Sse;

    use super::*;

    /// A stream that begins with these events, and then waits for ever.
    fn open_stream(events: Vec<Sse>) -> EventStream {
        let events = events.into_iter().map(Ok);
        stream::iter(events).chain(stream::pending()).boxed()
    }

    /// The events of a stream that are there now.
    fn read(mut events: EventStream) -> Vec<Sse> {
        let mut read = Vec::new();
        while let Some(Some(Ok(event))) = events.next().now_or_never() {
            read.push(event);
        }
        read
    }

    #[test]
    fn events_before_the_response_to_a_handshake_are_dropped() {
        let log = Sse::default().data(r#"{"jsonrpc":"2.0","method":"notifications/message"}"#);
        let response = Sse::default().data(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#);
        let heartbeat = response.clone().event("heartbeat");
        let events = open_stream(vec![log.clone(), heartbeat, response.clone(), log.clone()]);
        let events = of_opening(events).now_or_never().expect("a response");
        assert_eq!(read(events.expect("a response")), [response, log]);
    }

    #[test]
    fn a_stream_without_messages_is_passed_on() {
        let event = Sse::default().id("1").data("");
        let few = vec![event.clone(); MAX_WAITING_EVENTS - 1];
        assert!(of_session(open_stream(few)).now_or_never().is_none());
        let many = vec![event; 2 * MAX_WAITING_EVENTS];
        let events = of_session(open_stream(many.clone())).now_or_never();
        let events = events.expect("enough events").expect("no error");
        assert_eq!(read(events), many);
    }

    #[test]
    fn the_first_message_may_say_that_the_session_is_lost() {
        let error =
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Session not found"}}"#;
        let before = Sse::default().id("1").data("");
        let events = open_stream(vec![before, Sse::default().data(error)]);
        let lost = of_session(events).now_or_never().expect("a message");
        assert!(lost.is_err());
    }
}
