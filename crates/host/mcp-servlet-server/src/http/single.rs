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
use http_body_util::{BodyExt as _, Collected};
use hyper::body::{Body as HttpBody, Frame};
use tokio_util::{
    bytes::{Buf as _, BytesMut},
    sync::DropGuard,
};

use super::body;
use crate::passthrough;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// How long to wait for the answer. After that a stream begins, whose keep-alive events stop
/// clients and proxies from timing out.
const JSON_WAIT: Duration = Duration::from_secs(30);

/// The only message of a response as JSON, or the response as an event stream. The JSON of servlets is unchanged in both.
///
/// If the client only takes JSON, messages before the response are dropped. `hang_up` cancels the request if the client
/// disconnects before it has a response or a stream, which it could resume. `held` lives until the last message is known. If the session
/// has ended, `ended` returns the response: the request has none then, or only the error of a cancelled request.
pub(super) async fn as_json<T: Send + 'static>(
    response: Response,
    takes_only_json: bool,
    hang_up: Option<DropGuard>,
    held: T,
    ended: impl FnOnce() -> Option<Response>,
) -> Response {
    if !is_stream(response.headers()) {
        return body::with_raw_results(response, held);
    }
    let (mut parts, mut body) = response.into_parts();
    let mut begun = BytesMut::new();
    let found = find_response(&mut body, &mut begun, takes_only_json);
    let found = if takes_only_json {
        found.await
    } else {
        let found = tokio::time::timeout(JSON_WAIT, found).await;
        found.unwrap_or(Found::Other)
    };
    if !matches!(found, Found::Other)
        && let Some(response) = ended()
    {
        return response;
    }
    if let Found::Response(message) = found {
        parts.headers.insert(header::CONTENT_TYPE, JSON);
        return Response::from_parts(parts, Body::from(message));
    }
    if let Some(hang_up) = hang_up {
        hang_up.disarm();
    }
    let begun = Some(begun.freeze());
    let response = Response::from_parts(parts, Body::new(Resumed { begun, rest: body }));
    body::with_raw_results(response, held)
}

/// A response that is JSON as an event stream with one event.
pub(super) async fn as_event(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let is_json = parts.headers.get(header::CONTENT_TYPE) == Some(&JSON);
    if !is_json || !parts.status.is_success() {
        return Response::from_parts(parts, body);
    }
    let json = body.collect().await.map(Collected::to_bytes);
    let event = [&b"data: "[..], &*json.unwrap_or_default(), END.as_bytes()].concat();
    parts.headers.insert(header::CONTENT_TYPE, EVENTS);
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(event))
}

fn is_stream(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE);
    content_type.is_some_and(|value| value.as_bytes().starts_with(EVENTS.as_bytes()))
}

/// What a stream begins with.
enum Found {
    /// The response.
    Response(String),
    /// Another message, or nothing yet.
    Other,
    /// Nothing, and it has ended.
    End,
}

/// Reads until the response, or until another message that is not skipped.
async fn find_response(body: &mut Body, begun: &mut BytesMut, skips_others: bool) -> Found {
    loop {
        let Some(Ok(frame)) = body.frame().await else {
            return Found::End;
        };
        if let Ok(data) = frame.into_data() {
            begun.extend_from_slice(&data);
        }
        let Ok(events) = std::str::from_utf8(begun) else {
            return Found::Other;
        };
        for message in messages(events) {
            match passthrough::response(&message) {
                Some(response) => return Found::Response(response),
                None if skips_others => {
                    tracing::debug!("message dropped, because the client only accepts JSON");
                }
                None => return Found::Other,
            }
        }
        if skips_others {
            let read = events.rfind(END).map_or(0, |end| end + END.len());
            begun.advance(read);
        }
    }
}

/// What ends an event.
const END: &str = "\n\n";

/// The data of all complete events that have some. Events without data only say how to resume the stream.
fn messages(events: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let whole = events.rsplit_once(END).map(|(whole, _)| whole);
    let data = whole
        .into_iter()
        .flat_map(|whole| whole.split(END))
        .map(data);
    data.filter(|data| !data.is_empty())
}

/// The data of an event.
fn data(event: &str) -> Cow<'_, str> {
    let mut lines = event
        .lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .map(str::trim_start);
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
    fn messages_are_the_data_of_complete_events() {
        for (events, expected) in [
            ("", vec![]),
            ("id: 0\nretry: 3000\ndata:\n\n", vec![]),
            (": alive\n\nid: 1\ndata: {\"a\":1}\n", vec![]),
            (": alive\n\nid: 1\ndata: {\"a\":1}\n\n", vec!["{\"a\":1}"]),
            ("data: {\ndata: }\n\ndata: 2\n\ndata: 3", vec!["{\n}", "2"]),
        ] {
            let messages: Vec<_> = messages(events).collect();
            assert_eq!(messages, expected, "{events}");
        }
    }
}
