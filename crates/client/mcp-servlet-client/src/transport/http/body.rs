//! Bodies of responses, within a limit.

use futures_util::{StreamExt as _, stream};
use reqwest::Response;
use sse_stream::Sse;

use super::events::EventStream;
use crate::error::{Error, ErrorKind};

/// The whole body.
pub(crate) async fn body(mut response: Response, limit: usize) -> Result<Vec<u8>, Error> {
    let mut body = Vec::new();
    loop {
        let chunk = response.chunk().await.map_err(|error| {
            let message = format!("the response broke off: {}", super::cause::cause(&error));
            Error::new(ErrorKind::Connectivity, message)
        })?;
        let Some(chunk) = chunk else { break };
        if body.len() + chunk.len() > limit {
            return Err(too_large(limit));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The first wanted event, and all events again.
pub(super) async fn peek(
    mut events: EventStream,
    is_wanted: fn(&Sse) -> bool,
) -> (Option<Sse>, EventStream) {
    let mut read = Vec::new();
    let mut first = None;
    while let Some(event) = events.next().await {
        first = event
            .as_ref()
            .ok()
            .filter(|event| is_wanted(event))
            .cloned();
        let is_broken = event.is_err();
        read.push(event);
        if first.is_some() || is_broken {
            break;
        }
    }
    (first, stream::iter(read).chain(events).boxed())
}

/// The error for a message that is too large.
pub(crate) fn too_large(limit: usize) -> Error {
    let message = format!("the server sent a message of more than {limit} bytes");
    Error::new(ErrorKind::Limit, message).of_limit("message")
}
