//! The standard error of a process.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use mcp_servlet_common::LogRate;
use mcp_servlet_common::lock;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::on_stderr::OnStderr;

/// How many lines an error quotes.
const QUOTED_LINES: usize = 20;
/// How much of such a line is kept, in bytes.
const QUOTED_LENGTH: usize = 1000;
/// How much of a line is passed on, in bytes. The rest is another line.
const LINE: usize = 4 << 10;

/// Reads to the end. Keeps the last lines for errors, and passes on all lines as far as the limit allows.
pub(super) async fn read(
    mut stderr: impl AsyncRead + Unpin,
    tail: Arc<Mutex<Tail>>,
    on_stderr: OnStderr,
) {
    let mut buffer = vec![0; 8 << 10];
    let mut lines = Lines::new(on_stderr);
    while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
        let bytes = &buffer[..length];
        lock(&tail).push(bytes);
        lines.push(bytes, Instant::now());
    }
    lines.end();
}

/// The last lines of an output.
#[derive(Debug, Default)]
pub(super) struct Tail {
    lines: VecDeque<Vec<u8>>,
    /// Whether the last line goes on.
    is_open: bool,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !self.is_open {
                self.lines.push_back(Vec::new());
                if self.lines.len() > QUOTED_LINES {
                    self.lines.pop_front();
                }
            }
            self.is_open = !piece.ends_with(b"\n");
            if let Some(line) = self.lines.back_mut() {
                let room = QUOTED_LENGTH.saturating_sub(line.len());
                line.extend(piece.iter().take(room));
            }
        }
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let lines = self.lines.iter();
        lines
            .map(|line| String::from_utf8_lossy(line).trim_end().to_owned())
            .collect()
    }
}

/// Passes on the lines of an output.
struct Lines {
    on_stderr: OnStderr,
    /// The line that is not complete yet.
    open: Vec<u8>,
    rate: LogRate,
}

impl Lines {
    fn new(on_stderr: OnStderr) -> Self {
        Self {
            on_stderr,
            open: Vec::new(),
            rate: LogRate::default(),
        }
    }

    fn push(&mut self, bytes: &[u8], now: Instant) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            for part in piece.chunks(LINE) {
                if self.open.len() + part.len() > LINE {
                    self.complete(now);
                }
                self.open.extend(part);
            }
            if piece.ends_with(b"\n") {
                self.complete(now);
            }
        }
    }

    /// Passes on the line that is open, unless the limit is reached.
    fn complete(&mut self, now: Instant) {
        let line = std::mem::take(&mut self.open);
        let text = visible(&line);
        if text.is_empty() || !self.rate.admits(line.len(), now) {
            return;
        }
        if let Some(note) = self.rate.note(now) {
            (self.on_stderr.0)(&note);
        }
        (self.on_stderr.0)(&text);
    }

    fn end(mut self) {
        self.complete(Instant::now());
        if let Some(note) = self.rate.last_note() {
            (self.on_stderr.0)(&note);
        }
    }
}

/// A line without control characters. Terminals act on some of them.
fn visible(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end().replace('\t', " ");
    text.chars().filter(|one| !one.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Lines, and what they pass on.
    fn lines() -> (Lines, Arc<Mutex<Vec<String>>>) {
        let passed = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&passed);
        let keep = move |line: &str| kept.lock().expect("no panic").push(line.to_owned());
        (Lines::new(OnStderr(Arc::new(keep))), passed)
    }

    #[test]
    fn a_tail_keeps_the_last_lines_and_cuts_long_ones() {
        let mut tail = Tail::default();
        for number in 0..30 {
            tail.push(format!("line {number}").as_bytes());
            tail.push(b"\n");
        }
        let lines = tail.lines();
        assert_eq!((lines.len(), lines[0].as_str()), (QUOTED_LINES, "line 10"));
        tail.push(&vec![b'x'; 10_000]);
        tail.push(b"y\nlast");
        let lines = tail.lines();
        assert_eq!(lines[QUOTED_LINES - 2].len(), QUOTED_LENGTH);
        assert_eq!(lines[QUOTED_LINES - 1], "last");
    }

    #[test]
    fn lines_are_passed_on_without_control_characters() {
        let (mut lines, passed) = lines();
        let now = Instant::now();
        lines.push(b"one\ntw", now);
        lines.push(b"o\r\n\n\x1b[31mthree\x07\tfour\n", now);
        lines.push(&[vec![b'x'; LINE + 1], b"y".to_vec()].concat(), now);
        lines.end();
        let long = "x".repeat(LINE);
        let expected = ["one", "two", "[31mthree four", &long, "xy"];
        assert_eq!(*passed.lock().expect("no panic"), expected);
    }

    #[test]
    fn a_process_that_writes_too_much_is_cut_for_the_rest_of_the_second() {
        let (mut lines, passed) = lines();
        let now = Instant::now();
        let line = [vec![b'x'; 1023], b"\n".to_vec()].concat();
        for _ in 0..100 {
            lines.push(&line, now);
        }
        let count = || passed.lock().expect("no panic").len();
        assert_eq!(count(), 64);
        lines.push(b"later\n", now + Duration::from_secs(1));
        let later = passed.lock().expect("no panic")[64..].to_vec();
        let note = "36864 bytes left out: the limit is 65536 bytes per second";
        assert_eq!(later, [note, "later"]);
    }
}
