//! Event streams, read as the HTML standard says (section 9.2.6). Unknown fields and values are left out.

use std::io;

use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt as _, TryStreamExt as _};
use reqwest::Response;
use rmcp::transport::streamable_http_client::SseError;
use serde_json::value::RawValue;
use sse_stream::Sse;

use super::body::too_large;
use crate::error::Error;
use crate::incoming::{self, BYTE_ORDER_MARK};

/// What comes before the data in a line. It does not count for the limit.
const NAME_OF_DATA: &[u8] = b"data: ";

/// Why there are no more events.
pub(crate) enum EventError {
    /// An event is too large.
    Limit(Error),
    /// The stream broke.
    Stream(SseError),
}

/// The events of a body.
pub(crate) type EventStream = BoxStream<'static, Result<Sse, EventError>>;

/// Reads the events of a body.
pub(crate) fn events(response: Response, limit: usize) -> EventStream {
    let chunks = stream::try_unfold(response, async |mut response| {
        let chunk = response.chunk().await.map_err(io::Error::other)?;
        Ok(chunk.map(|chunk| (chunk, response)))
    });
    let chunks =
        chunks.map_err(|error: io::Error| EventError::Stream(SseError::Body(error.into())));
    let mut parser = Parser::new(limit);
    chunks
        .map(move |chunk| match chunk {
            Ok(chunk) => parser.add(&chunk),
            Err(error) => vec![Err(error)],
        })
        .flat_map(stream::iter)
        .flat_map(|event| stream::iter(single_messages(event)))
        .boxed()
}

/// An event with a batch as one event for each of its messages.
fn single_messages(event: Result<Sse, EventError>) -> Vec<Result<Sse, EventError>> {
    let Ok(event) = event else {
        return vec![event];
    };
    let data = event.data.as_deref().unwrap_or_default();
    match incoming::batch(data.as_bytes()) {
        None => vec![Ok(event)],
        Some(messages) => {
            let messages = messages.into_iter();
            let events = messages.map(|one| Ok(event.clone().data(one.get())));
            events.collect()
        }
    }
}

/// The messages of a batch as events.
pub(super) fn of_batch(messages: Vec<&RawValue>) -> EventStream {
    let events = messages
        .into_iter()
        .map(|one| Ok(Sse::default().data(one.get())));
    stream::iter(events.collect::<Vec<_>>()).boxed()
}

/// Whether an event has a message. Others keep connections alive, for example.
pub(crate) fn is_message(event: &Sse) -> bool {
    matches!(event.event.as_deref(), None | Some("" | "message"))
}

/// Whether this is the event with which HTTP+SSE begins.
pub(crate) fn is_endpoint(event: &Sse) -> bool {
    event.event.as_deref() == Some("endpoint")
}

/// Makes events of bytes.
struct Parser {
    /// The most bytes of an event's data.
    limit: usize,
    /// The line that has not ended.
    line: Vec<u8>,
    /// The event that has not ended, and its data.
    event: Option<Sse>,
    data: Option<Vec<u8>>,
    is_first_line: bool,
    /// Whether a line has ended with CR, so that LF belongs to that end.
    after_return: bool,
    has_failed: bool,
}

impl Parser {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            event: None,
            data: None,
            is_first_line: true,
            after_return: false,
            has_failed: false,
        }
    }

    /// The events that end in a chunk. After an error there are none.
    fn add(&mut self, mut chunk: &[u8]) -> Vec<Result<Sse, EventError>> {
        let mut events = Vec::new();
        while !chunk.is_empty() && !self.has_failed {
            if std::mem::take(&mut self.after_return) && chunk[0] == b'\n' {
                chunk = &chunk[1..];
                continue;
            }
            let end = chunk.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            self.extend_line(&chunk[..end.unwrap_or(chunk.len())]);
            if self.is_too_large() {
                self.has_failed = true;
                events.push(Err(EventError::Limit(too_large(self.limit))));
                break;
            }
            let Some(end) = end else { break };
            self.after_return = chunk[end] == b'\r';
            chunk = &chunk[end + 1..];
            events.extend(self.end_line().map(Ok));
        }
        events
    }

    fn extend_line(&mut self, part: &[u8]) {
        // Nothing is kept of a comment, which may be long.
        if self.line.first() != Some(&b':') {
            self.line.extend(part);
        }
    }

    fn is_too_large(&self) -> bool {
        let data = self.data.as_ref().map_or(0, Vec::len);
        let line = match self.line.first() {
            Some(b':') | None => 0,
            Some(_) => self.line.len().saturating_sub(NAME_OF_DATA.len()),
        };
        data + line > self.limit
    }

    /// Reads a line. An empty one ends an event.
    fn end_line(&mut self) -> Option<Sse> {
        let line = std::mem::take(&mut self.line);
        let is_first = std::mem::take(&mut self.is_first_line);
        let text = match line.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) if is_first => rest,
            _ => &line,
        };
        if text.is_empty() {
            let data = self.data.take().map(text_of);
            return self.event.take().map(|event| Sse { data, ..event });
        }
        let colon = text.iter().position(|byte| *byte == b':');
        let (name, value) = text.split_at(colon.unwrap_or(text.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        self.field(name, value.strip_prefix(b" ").unwrap_or(value));
        None
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            b"event" => self.event().event = Some(text_of(value.to_owned())),
            b"id" if !value.contains(&0) => self.event().id = Some(text_of(value.to_owned())),
            b"retry" => {
                let text = std::str::from_utf8(value).ok();
                if let Some(milliseconds) = text.and_then(|text| text.trim().parse().ok()) {
                    self.event().retry = Some(milliseconds);
                }
                return;
            }
            _ => return,
        }
        self.event();
    }

    fn event(&mut self) -> &mut Sse {
        self.event.get_or_insert_default()
    }
}

/// A text, in which bytes that are not UTF-8 become U+FFFD.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;

    /// Reads chunks. A limit that is exceeded is the event `limit`.
    fn read(chunks: &[&[u8]], limit: usize) -> Vec<Sse> {
        let mut parser = Parser::new(limit);
        let events = chunks.iter().flat_map(|chunk| parser.add(chunk));
        events
            .map(|event| match event {
                Ok(event) => event,
                Err(EventError::Limit(_)) => Sse::default().event("limit"),
                Err(EventError::Stream(error)) => panic!("{error}"),
            })
            .collect()
    }

    #[test]
    fn odd_lines_are_left_out() {
        let data = Sse::default().data("1");
        for (text, expected) in [
            ("data: 1\n\n", data.clone()),
            ("data:1\n\n", data.clone()),
            ("\u{feff}data: 1\n\n", data.clone()),
            ("foo: bar\ndata: 1\n\n", data.clone()),
            ("junk\ndata: 1\n\n", data.clone()),
            (": comment\ndata: 1\n\n", data.clone()),
            (
                "retry: abc\nretry:\nretry: 1.5\nretry: -1\ndata: 1\n\n",
                data.clone(),
            ),
            ("id: a\0b\ndata: 1\n\n", data.clone()),
            ("retry: 5\nretry: 7\ndata: 1\n\n", data.clone().retry(7)),
            ("id: a\nid: b\ndata: 1\n\n", data.clone().id("b")),
            ("id: a\nid\ndata: 1\n\n", data.clone().id("")),
            ("event: a\nevent: b\ndata: 1\n\n", data.clone().event("b")),
            (
                "data: 1\ndata\ndata:  2\n\n",
                Sse::default().data("1\n\n 2"),
            ),
            ("data\n\n", Sse::default().data("")),
            ("id: 7\n\n", Sse::default().id("7")),
        ] {
            for text in [
                text.to_owned(),
                text.replace('\n', "\r"),
                text.replace('\n', "\r\n"),
            ] {
                assert_eq!(
                    read(&[text.as_bytes()], 100),
                    slice::from_ref(&expected),
                    "{text:?}"
                );
                let bytes: Vec<_> = text.as_bytes().chunks(1).collect();
                assert_eq!(
                    read(&bytes, 100),
                    slice::from_ref(&expected),
                    "{text:?} in bytes"
                );
            }
        }
        assert_eq!(
            read(&[b"data: \xff1\n\n"], 100),
            [Sse::default().data("\u{fffd}1")]
        );
        assert_eq!(read(&[b"foo: bar\n\n\n\r\n: x\n\ndata: 1\n"], 100), []);
    }

    #[test]
    fn only_data_counts_for_the_limit() {
        let ten = Sse::default().data("1234567890");
        let limit = Sse::default().event("limit");
        assert_eq!(read(&[b"data: 1234567890\n\n"], 10), slice::from_ref(&ten));
        for text in [
            "data: 12345678901\n\n",
            "data: 12345\ndata: 67890\n\ndata: 1\n\n",
            "unknown: 123456789",
        ] {
            assert_eq!(
                read(&[text.as_bytes()], 10),
                slice::from_ref(&limit),
                "{text:?}"
            );
        }
        let comments = ": a long comment\r".repeat(3);
        let text = format!("{comments}data: 1234567890\r\r{comments}data: 1234567890\r\r");
        assert_eq!(read(&[text.as_bytes()], 10), [ten.clone(), ten]);
    }
}
