//! Lines of a stream.

use std::{io, mem};

use rmcp::model::RequestId;
use serde::de::{DeserializeOwned, IgnoredAny};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

use crate::message::as_sent;

/// As much as a pipe of Linux holds.
const READ_BUFFER: usize = 64 << 10;

/// Reads lines of a limited length.
pub(super) struct LineReader<R> {
    reader: BufReader<R>,
    /// The start of a line whose end has not arrived. It survives a read that is cancelled.
    partial: Vec<u8>,
    /// A line that is too long, whose end has not arrived.
    too_long: Option<Ends>,
    limit: usize,
}

/// A line, or what is known of one that is too long.
pub(super) enum Line {
    Whole(Vec<u8>),
    TooLong(Ends),
}

/// Why there are no more lines.
pub(super) enum End {
    Closed,
    /// A line goes on and on.
    Endless,
    Failed(io::Error),
}

/// How many bytes are kept of both ends of a line that is too long.
const KEPT_AT_EACH_END: usize = 4 << 10;
/// A line of this many times the limit has no end, for all that is known.
const ENDLESS_TIMES_LIMIT: usize = 16;

/// The beginning and the end of a line that is too long.
#[derive(Default)]
pub(super) struct Ends {
    head: Vec<u8>,
    tail: Vec<u8>,
    length: usize,
}

impl Ends {
    fn push(&mut self, bytes: &[u8]) {
        self.length = self.length.saturating_add(bytes.len());
        let room = KEPT_AT_EACH_END - self.head.len();
        self.head.extend(bytes.iter().take(room));
        self.tail
            .extend(&bytes[bytes.len().saturating_sub(KEPT_AT_EACH_END)..]);
        self.tail
            .drain(..self.tail.len().saturating_sub(KEPT_AT_EACH_END));
    }

    /// The id of the response that the line is, unless it is in the part that was left out.
    pub(super) fn id(&self) -> Option<RequestId> {
        let id = id_before_result(&self.head).or_else(|| id_at_end(&self.tail));
        id.map(as_sent)
    }
}

/// The id of the response that a text would be if it were JSON.
pub(super) fn response_id(text: &[u8]) -> Option<RequestId> {
    let mut ends = Ends::default();
    ends.push(text);
    ends.id()
}

/// The id of a response, from the first members of the message. None for requests and notifications.
fn id_before_result(head: &[u8]) -> Option<RequestId> {
    let mut rest = head.trim_ascii_start().strip_prefix(b"{")?;
    loop {
        let (key, after) = value::<String>(rest)?;
        rest = after.trim_ascii_start().strip_prefix(b":")?;
        if key == "id" {
            return value(rest).map(|(id, _)| id);
        }
        let (IgnoredAny, after) = value(rest).filter(|_| key != "method")?;
        rest = after.trim_ascii_start().strip_prefix(b",")?;
    }
}

/// The id that is the last member of a message.
fn id_at_end(tail: &[u8]) -> Option<RequestId> {
    const KEY: &[u8] = b"\"id\"";
    let at = tail.windows(KEY.len()).rposition(|bytes| bytes == KEY)?;
    let rest = tail[at + KEY.len()..].trim_ascii_start();
    let (id, after) = value(rest.strip_prefix(b":")?)?;
    (after.trim_ascii() == b"}").then_some(id)
}

/// The JSON value at the beginning of a text, and the rest.
fn value<T: DeserializeOwned>(text: &[u8]) -> Option<(T, &[u8])> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter();
    let value = values.next()?.ok()?;
    Some((value, &text[values.byte_offset()..]))
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(reader: R, limit: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(READ_BUFFER, reader),
            partial: Vec::new(),
            too_long: None,
            limit,
        }
    }

    /// The next line, without its end. The last one may have no end.
    pub(super) async fn next(&mut self) -> Result<Line, End> {
        if self.too_long.is_none() {
            // One byte more than a line may have: its end, or the proof that it is too long.
            let rest = self.limit.saturating_add(1) - self.partial.len();
            let mut reader = (&mut self.reader).take(rest as u64);
            let read = reader.read_until(b'\n', &mut self.partial).await;
            read.map_err(End::Failed)?;
            let mut line = mem::take(&mut self.partial);
            if line.last() == Some(&b'\n') {
                line.pop();
            } else if line.is_empty() {
                return Err(End::Closed);
            }
            if line.len() <= self.limit {
                return Ok(Line::Whole(line));
            }
            self.too_long.get_or_insert_default().push(&line);
        }
        self.skip().await
    }

    /// Reads to the end of a line that is too long.
    async fn skip(&mut self) -> Result<Line, End> {
        loop {
            let ends = self.too_long.get_or_insert_default();
            if ends.length / ENDLESS_TIMES_LIMIT > self.limit {
                return Err(End::Endless);
            }
            let bytes = self.reader.fill_buf().await.map_err(End::Failed)?;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let length = end.unwrap_or(bytes.len());
            ends.push(&bytes[..length]);
            let is_over = end.is_some() || bytes.is_empty();
            self.reader.consume(length + usize::from(end.is_some()));
            if is_over {
                return Ok(Line::TooLong(self.too_long.take().unwrap_or_default()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncWriteExt as _, duplex};
    use tokio::time::timeout;

    use super::*;

    /// The lines of a text, `…` for each that is too long, and how they end.
    async fn lines(text: &[u8], limit: usize) -> (Vec<String>, End) {
        let mut reader = LineReader::new(text, limit);
        let mut lines = Vec::new();
        loop {
            match reader.next().await {
                Ok(Line::Whole(line)) => lines.push(String::from_utf8_lossy(&line).into_owned()),
                Ok(Line::TooLong(_)) => lines.push("…".to_owned()),
                Err(end) => return (lines, end),
            }
        }
    }

    #[tokio::test]
    async fn the_last_line_needs_no_end() {
        let (lines, end) = lines(b"a\n\nbc", 10).await;
        assert_eq!(lines, ["a", "", "bc"]);
        assert!(matches!(end, End::Closed));
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped() {
        let (short, end) = lines(b"abc\nabc", 3).await;
        assert_eq!(short, ["abc", "abc"]);
        assert!(matches!(end, End::Closed));
        for text in ["abc\nabcd\nabc", "abc\nabcdefgh\nabc"] {
            let (skipped, end) = lines(text.as_bytes(), 3).await;
            assert_eq!(skipped, ["abc", "…", "abc"], "{text:?}");
            assert!(matches!(end, End::Closed), "{text:?}");
        }
        let (skipped, _) = lines(b"abcd", 3).await;
        assert_eq!(skipped, ["…"]);
        let (unlimited, _) = lines(b"abc", usize::MAX).await;
        assert_eq!(unlimited, ["abc"]);
        let (_, end) = lines(&vec![b'x'; 1 << 20], 3).await;
        assert!(matches!(end, End::Endless));
    }

    #[test]
    fn the_id_is_found_at_both_ends() {
        let long = format!(
            "{{\"text\":\"{}\",\"id\":5}}",
            "x".repeat(3 * KEPT_AT_EACH_END)
        );
        for (message, expected) in [
            (
                format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{long}}}"),
                Some(RequestId::Number(7)),
            ),
            (
                format!(" {{ \"id\" : \"a\" , \"result\":{long}}}"),
                Some(RequestId::String("a".into())),
            ),
            (
                format!("{{\"result\":{long},\"id\": 8 }}"),
                Some(RequestId::Number(8)),
            ),
            (
                format!("{{\"result\":{long},\"id\":\"8\"}}"),
                Some(RequestId::Number(8)),
            ),
            (
                format!("{{\"result\":{long},\"id\":8,\"jsonrpc\":\"2.0\"}}"),
                None,
            ),
            (
                format!("{{\"method\":\"x\",\"id\":9,\"params\":{long}}}"),
                None,
            ),
            ("x".repeat(3 * KEPT_AT_EACH_END), None),
        ] {
            let mut ends = Ends::default();
            message
                .as_bytes()
                .chunks(1000)
                .for_each(|bytes| ends.push(bytes));
            assert_eq!(ends.id(), expected, "{}", &message[..20]);
        }
    }

    #[tokio::test]
    async fn a_cancelled_read_loses_nothing() {
        let (mut writer, reader) = duplex(64);
        let mut lines = LineReader::new(reader, 4);
        writer.write_all(b"ab").await.expect("space in the pipe");
        let read = timeout(Duration::from_millis(20), lines.next()).await;
        assert!(read.is_err(), "the line has no end yet");
        writer.write_all(b"cd\n").await.expect("space in the pipe");
        let line = lines.next().await.ok();
        assert!(matches!(line, Some(Line::Whole(line)) if line == b"abcd"));
    }
}
