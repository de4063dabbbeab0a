//! Sends a response that consists of one message as JSON instead of an event stream.
//!
//! rmcp answers every request of a session with a stream. Some clients refuse events above 1 MiB
//! but accept JSON of any length, so a result that no other message precedes is sent as JSON:
//! <https://github.com/modelcontextprotocol/python-sdk/issues/3332>.

use std::{
    borrow::Cow,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use http_body_util::BodyExt as _;
use hyper::body::{Body as HttpBody, Frame};
use tokio_util::bytes::BytesMut;

use super::body;
use crate::passthrough;

/// How long to wait for the answer. After that a stream begins, whose keep-alive events stop
/// clients and proxies from timing out.
const PATIENCE: Duration = Duration::from_secs(30);

/// The only message of a response as JSON, or the response as an event stream. The JSON of servlets is unchanged in both.
/// `held` lives until the last message is known.
pub(super) async fn single<T: Send + 'static>(response: Response, held: T) -> Response {
    if !is_stream(response.headers()) {
        return body::unloaded(response, held);
    }
    let (mut parts, mut body) = response.into_parts();
    let mut begun = BytesMut::new();
    let first = tokio::time::timeout(PATIENCE, first_response(&mut body, &mut begun)).await;
    if let Ok(Some(message)) = first {
        let json = HeaderValue::from_static("application/json");
        parts.headers.insert(header::CONTENT_TYPE, json);
        return Response::from_parts(parts, Body::from(message));
    }
    let begun = Some(begun.freeze());
    let response = Response::from_parts(parts, Body::new(Resumed { begun, rest: body }));
    body::unloaded(response, held)
}

fn is_stream(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE);
    content_type.is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"))
}

/// Reads until the first message. Returns `None` if that is a request or a notification, or if the stream ends before it.
async fn first_response(body: &mut Body, begun: &mut BytesMut) -> Option<String> {
    loop {
        let frame = body.frame().await?.ok()?;
        if let Ok(data) = frame.into_data() {
            begun.extend_from_slice(&data);
        }
        if let Some(message) = message(std::str::from_utf8(begun).ok()?) {
            return passthrough::response(message);
        }
    }
}

/// The data of the first complete event that has some. Events without data only say how to resume the stream.
fn message(events: &str) -> Option<Cow<'_, str>> {
    let (whole, _) = events.rsplit_once("\n\n")?;
    let mut data = whole.split("\n\n").map(data);
    data.find(|data| !data.is_empty())
}

/// The data of an event.
fn data(event: &str) -> Cow<'_, str> {
    let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
    let mut lines = lines.map(str::trim_start);
    let first = Cow::Borrowed(lines.next().unwrap_or_default());
    lines.fold(first, |data, line| format!("{data}\n{line}").into())
}

/// A body whose beginning has already been read.
struct Resumed {
    begun: Option<Bytes>,
    rest: Body,
}

impl HttpBody for Resumed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self.begun.take() {
            Some(begun) => Poll::Ready(Some(Ok(Frame::data(begun)))),
            None => Pin::new(&mut self.rest).poll_frame(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_message_is_that_of_the_first_event_with_data() {
        for (events, expected) in [
            ("", None),
            ("id: 0\nretry: 3000\ndata:\n\n", None),
            (": alive\n\nid: 1\ndata: {\"a\":1}\n", None),
            (": alive\n\nid: 1\ndata: {\"a\":1}\n\n", Some("{\"a\":1}")),
            ("data: {\ndata: }\n\ndata: 2\n\n", Some("{\n}")),
        ] {
            assert_eq!(message(events).as_deref(), expected, "{events}");
        }
    }
}
