//! Lines of a stream.

use std::{io, mem};

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

/// As much as a pipe of Linux holds.
const BUFFER: usize = 64 << 10;

/// Reads lines of a limited length.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    /// The start of a line whose end has not arrived. It survives a read that is cancelled.
    partial: Vec<u8>,
    limit: usize,
}

/// Why there are no more lines.
pub(super) enum End {
    Closed,
    /// A line is longer than this many bytes.
    TooLong(usize),
    Failed(io::Error),
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, limit: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(BUFFER, reader),
            partial: Vec::new(),
            limit,
        }
    }

    /// The next line, without its end. The last one may have no end.
    pub(super) async fn next(&mut self) -> Result<Vec<u8>, End> {
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
        if line.len() > self.limit {
            return Err(End::TooLong(self.limit));
        }
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncWriteExt as _, duplex};
    use tokio::time::timeout;

    use super::*;

    /// The lines of a text, and how they end.
    async fn lines(text: &[u8], limit: usize) -> (Vec<String>, End) {
        let mut reader = Lines::new(text, limit);
        let mut lines = Vec::new();
        loop {
            match reader.next().await {
                Ok(line) => lines.push(String::from_utf8_lossy(&line).into_owned()),
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
    async fn the_limit_does_not_count_the_end_of_a_line() {
        let (short, end) = lines(b"abc\nabc", 3).await;
        assert_eq!(short, ["abc", "abc"]);
        assert!(matches!(end, End::Closed));
        for text in ["abc\nabcd\n", "abc\nabcd", "abc\nabcdefgh"] {
            let (long, end) = lines(text.as_bytes(), 3).await;
            assert_eq!(long, ["abc"], "{text:?}");
            assert!(matches!(end, End::TooLong(3)), "{text:?}");
        }
        let (unlimited, _) = lines(b"abc", usize::MAX).await;
        assert_eq!(unlimited, ["abc"]);
    }

    #[tokio::test]
    async fn a_cancelled_read_loses_nothing() {
        let (mut writer, reader) = duplex(64);
        let mut lines = Lines::new(reader, 4);
        writer.write_all(b"ab").await.expect("space in the pipe");
        let read = timeout(Duration::from_millis(20), lines.next()).await;
        assert!(read.is_err(), "the line has no end yet");
        writer.write_all(b"cd\n").await.expect("space in the pipe");
        assert_eq!(lines.next().await.ok().as_deref(), Some(&b"abcd"[..]));
    }
}
