//! The standard error of a process.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use mcp_servlet_common::LogRate;
use mcp_servlet_common::lock;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::on_stderr::OnStderr;
use crate::quote::without_escapes;

/// How many of the first lines an error quotes.
const FIRST_LINES: usize = 5;
/// How many of the last lines an error quotes.
const LAST_LINES: usize = 15;
/// How much of such a line is kept, in bytes.
const MAX_QUOTED_BYTES: usize = 1000;
/// How much of a line is passed on, in bytes. The rest is another line.
const MAX_LINE_BYTES: usize = 4 << 10;

/// Reads to the end. Keeps the last lines for errors, and passes on all lines as far as the limit allows.
pub(super) async fn read(
    mut stderr: impl AsyncRead + Unpin,
    tail: Arc<Mutex<Tail>>,
    on_stderr: OnStderr,
) {
    let mut buffer = vec![0; 8 << 10];
    let mut lines = StderrLines::new(on_stderr);
    while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
        let bytes = &buffer[..length];
        lock(&tail).push(bytes);
        lines.push(bytes, Instant::now());
    }
    lines.end();
}

/// The lines of an output that an error quotes: the first and the last ones, and between them the first one that looks like an
/// error.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    first: Vec<String>,
    error: Option<(usize, String)>,
    last: VecDeque<(usize, String)>,
    /// How many lines are complete.
    count: usize,
    /// The line that is not complete.
    open: Vec<u8>,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = MAX_QUOTED_BYTES.saturating_sub(self.open.len());
            self.open.extend(piece.iter().take(room));
            if piece.ends_with(b"\n") {
                self.complete();
            }
        }
    }

    fn complete(&mut self) {
        let line = visible(&mem::take(&mut self.open));
        let number = self.count;
        self.count += 1;
        if number < FIRST_LINES {
            self.first.push(line);
            return;
        }
        let is_first_error = self.error.is_none() && looks_like_error(&line);
        if is_first_error && !self.first.iter().any(|line| looks_like_error(line)) {
            self.error = Some((number, line.clone()));
        }
        self.last.push_back((number, line));
        if self.last.len() > LAST_LINES {
            self.last.pop_front();
        }
    }

    /// The lines, with `…` for those between them.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = self.first.clone();
        let mut next = lines.len();
        let open = visible(&self.open);
        let open = (!open.is_empty()).then_some((self.count, open));
        let from = self.last.front().map_or(self.count, |(number, _)| *number);
        let error = self.error.iter().filter(|(number, _)| *number < from);
        for (number, line) in error.chain(&self.last).chain(&open) {
            if *number > next {
                lines.push("…".to_owned());
            }
            lines.push(line.clone());
            next = number + 1;
        }
        lines
    }
}

/// Whether a line most likely has the reason for the end of a program.
pub(crate) fn looks_like_error(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let words = [
        "error",
        "exception",
        "fatal",
        "panic",
        "cannot ",
        "not found",
        "not set",
        "required",
    ];
    words.iter().any(|word| line.contains(word))
}

/// Passes on the lines of an output.
struct StderrLines {
    on_stderr: OnStderr,
    /// The line that is not complete yet.
    open: Vec<u8>,
    rate: LogRate,
}

impl StderrLines {
    fn new(on_stderr: OnStderr) -> Self {
        Self {
            on_stderr,
            open: Vec::new(),
            rate: LogRate::default(),
        }
    }

    fn push(&mut self, bytes: &[u8], now: Instant) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            for part in piece.chunks(MAX_LINE_BYTES) {
                if self.open.len() + part.len() > MAX_LINE_BYTES {
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
        let line = mem::take(&mut self.open);
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

/// A line without control characters and the codes for colours. Terminals act on some of them.
fn visible(line: &[u8]) -> String {
    let text = without_escapes(&String::from_utf8_lossy(line))
        .trim_end()
        .replace('\t', " ");
    text.chars().filter(|one| !one.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Lines, and what they pass on.
    fn lines() -> (StderrLines, Arc<Mutex<Vec<String>>>) {
        let passed = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&passed);
        let keep = move |line: &str| kept.lock().expect("no panic").push(line.to_owned());
        (StderrLines::new(OnStderr(Arc::new(keep))), passed)
    }

    /// What an error quotes of an output.
    fn quoted(output: &str) -> Vec<String> {
        let mut tail = Tail::default();
        tail.push(output.as_bytes());
        tail.lines()
    }

    #[test]
    fn a_tail_keeps_the_first_and_last_lines_and_cuts_long_ones() {
        let numbers =
            |range: std::ops::Range<usize>| range.map(|number| format!("line {number}\n"));
        let all: String = numbers(0..30).collect();
        let lines = quoted(&all);
        let expected = [&lines[..1], &lines[5..7], &lines[20..]].concat();
        assert_eq!(expected, ["line 0", "…", "line 15", "line 29"]);
        assert_eq!(quoted(&numbers(0..20).collect::<String>()).len(), 20);
        let long = quoted(&format!("{}y\nlast", "x".repeat(10_000)));
        assert_eq!((long[0].len(), &*long[1]), (MAX_QUOTED_BYTES, "last"));
    }

    #[test]
    fn a_tail_keeps_the_first_error() {
        let line = |text: &str, count| format!("{text}\n").repeat(count);
        let help = format!(
            "{}Error: no token\nError: later\n{}",
            line("help", 10),
            line("help", 60)
        );
        let lines = quoted(&help);
        assert_eq!(lines[4..8], ["help", "…", "Error: no token", "…"]);
        assert_eq!(lines.len(), 5 + 3 + LAST_LINES);
    }

    #[test]
    fn a_tail_has_no_colours() {
        let lines = quoted("\x1b[31mred\x1b[0m \x1b]8;;https://a.example\x07link\x1b]8;;\x1b\\\n");
        assert_eq!(lines, ["red link"]);
    }

    #[test]
    fn lines_are_passed_on_without_control_characters() {
        let (mut lines, passed) = lines();
        let now = Instant::now();
        lines.push(b"one\ntw", now);
        lines.push(b"o\r\n\n\x1b[31mthree\x07\tfour\n", now);
        lines.push(
            &[vec![b'x'; MAX_LINE_BYTES + 1], b"y".to_vec()].concat(),
            now,
        );
        lines.end();
        let long = "x".repeat(MAX_LINE_BYTES);
        let expected = ["one", "two", "three four", &long, "xy"];
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
