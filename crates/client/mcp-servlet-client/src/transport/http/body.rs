//! Bodies of responses, within a limit.

use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use reqwest::Response;
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::{Sse, SseStream};
use tokio_util::bytes::Bytes;

use crate::error::{Error, ErrorKind};

/// Why there are no more events.
pub(crate) enum BodyError {
    /// An event is too large.
    Limit(Error),
    /// The stream broke.
    Stream(SseError),
}

/// The events of a body.
pub(crate) type EventStream = BoxStream<'static, Result<Sse, BodyError>>;

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

/// Reads the events of a body.
pub(crate) fn events(response: Response, limit: usize) -> EventStream {
    let mut size = EventSize::default();
    let chunks = stream::try_unfold(response, async |mut response| {
        let chunk = response.chunk().await.map_err(std::io::Error::other)?;
        Ok(chunk.map(|chunk| (chunk, response)))
    })
    .and_then(move |chunk: Bytes| {
        let fits = size.add(&chunk) <= limit;
        std::future::ready(if fits {
            Ok(chunk)
        } else {
            Err(std::io::Error::other(too_large(limit)))
        })
    });
    let events = SseStream::from_bytes_stream(chunks.boxed());
    events
        .map_err(|error| match limit_in(&error) {
            Some(limit) => BodyError::Limit(limit),
            None => BodyError::Stream(error),
        })
        .boxed()
}

/// The data of the first event with wanted data, and all events again.
pub(super) async fn peek(
    mut events: EventStream,
    is_wanted: fn(&str) -> bool,
) -> (Option<String>, EventStream) {
    let mut read = Vec::new();
    let mut first = None;
    while let Some(event) = events.next().await {
        let data = event.as_ref().ok().and_then(|event| event.data.clone());
        let is_broken = event.is_err();
        read.push(event);
        first = data.filter(|data| is_wanted(data));
        if first.is_some() || is_broken {
            break;
        }
    }
    (first, stream::iter(read).chain(events).boxed())
}

/// The limit that was exceeded, if that is the error.
fn limit_in(error: &SseError) -> Option<Error> {
    let mut error: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(current) = error {
        if let Some(found) = current.downcast_ref::<Error>() {
            return Some(found.clone());
        }
        if let Some(io) = current.downcast_ref::<std::io::Error>()
            && let Some(found) = io.get_ref().and_then(|inner| inner.downcast_ref::<Error>())
        {
            return Some(found.clone());
        }
        error = current.source();
    }
    None
}

/// How large the event is that is being read. An empty line ends it.
#[derive(Default)]
struct EventSize {
    event: usize,
    line: usize,
}

impl EventSize {
    /// The size of the largest event that has a part in the chunk, without the empty line at its end.
    fn add(&mut self, chunk: &[u8]) -> usize {
        let mut largest = 0;
        for byte in chunk {
            self.event += 1;
            match byte {
                b'\r' => {}
                b'\n' if self.line == 0 => self.event = 0,
                b'\n' => self.line = 0,
                _ => self.line += 1,
            }
            largest = largest.max(self.event);
        }
        largest
    }
}

/// The error for a message that is too large.
pub(crate) fn too_large(limit: usize) -> Error {
    let message = format!("the server sent a message of more than {limit} bytes");
    Error::new(ErrorKind::Limit, message).of_limit("message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_line_ends_an_event() {
        let mut size = EventSize::default();
        assert_eq!(size.add(b"data: 1\r\n"), 9);
        assert_eq!(size.add(b"data: 2\n"), 17);
        assert_eq!(size.add(b"\n: ping"), 6);
        assert_eq!(size.add(b"\n\n"), 7);
        assert_eq!(size.add(b"x"), 1);
    }
}
