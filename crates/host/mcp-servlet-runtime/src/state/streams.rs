//! Standard output and standard error of a servlet. They go to the log line by line.

use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use mcp_servlet_common::lock;
use tokio::io::AsyncWrite;
use tracing::Level;
use wasmtime_wasi::{
    cli::{IsTerminal, StdoutStream},
    p2::{OutputStream, Pollable, StreamResult},
};

use super::Shared;

/// Longer lines are split. Otherwise a servlet that never ends a line would fill the memory.
const LINE: usize = 8 << 10;
/// How much of standard error is searched for the reason of a trap.
const TAIL: usize = 16 << 10;
/// After how many bytes a call lets other tasks run, so that its time limit can end it in the middle of a long text.
const BURST: usize = 4 << 10;

/// What a servlet writes to standard output and standard error.
#[derive(Clone, Debug, Default)]
pub(super) struct Streams(Arc<Mutex<Written>>);

#[derive(Debug, Default)]
struct Written {
    out: Vec<u8>,
    err: Vec<u8>,
    /// The end of standard error in this call.
    tail: String,
}

/// One of the streams.
#[derive(Clone)]
pub(super) struct Stream {
    shared: Arc<Shared>,
    streams: Streams,
    is_error: bool,
    /// How many bytes were written since other tasks could run.
    burst: usize,
}

impl Stream {
    pub(super) fn out(shared: &Arc<Shared>, streams: &Streams) -> Self {
        Self {
            shared: Arc::clone(shared),
            streams: streams.clone(),
            is_error: false,
            burst: 0,
        }
    }

    pub(super) fn err(shared: &Arc<Shared>, streams: &Streams) -> Self {
        Self {
            is_error: true,
            ..Self::out(shared, streams)
        }
    }
}

impl IsTerminal for Stream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Stream {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }

    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }
}

impl OutputStream for Stream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.streams.write(&self.shared, self.is_error, &bytes);
        self.burst += bytes.len();
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(usize::MAX)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Stream {
    async fn ready(&mut self) {
        if self.burst >= BURST {
            self.burst = 0;
            tokio::task::yield_now().await;
        }
    }
}

impl Streams {
    fn lock(&self) -> MutexGuard<'_, Written> {
        lock(&self.0)
    }

    fn write(&self, shared: &Shared, is_error: bool, bytes: &[u8]) {
        let mut written = self.lock();
        for byte in bytes {
            let line = written.line(is_error);
            if *byte != b'\n' {
                line.push(*byte);
            }
            if *byte == b'\n' || line.len() >= LINE {
                written.log(shared, is_error);
            }
        }
    }

    /// Logs incomplete lines. Returns the reason for a failed call, if standard error has one.
    pub(super) fn end(&self, shared: &Shared) -> Option<String> {
        let mut written = self.lock();
        for is_error in [false, true] {
            if !written.line(is_error).is_empty() {
                written.log(shared, is_error);
            }
        }
        reason(&std::mem::take(&mut written.tail))
    }
}

impl Written {
    fn line(&mut self, is_error: bool) -> &mut Vec<u8> {
        if is_error {
            &mut self.err
        } else {
            &mut self.out
        }
    }

    fn log(&mut self, shared: &Shared, is_error: bool) {
        let line = std::mem::take(self.line(is_error));
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches('\r');
        if !is_error {
            shared.log(Level::INFO, Some("stdout"), text.as_bytes());
            return;
        }
        shared.log(Level::WARN, Some("stderr"), text.as_bytes());
        if self.tail.len() + text.len() > TAIL {
            self.tail.clear();
        }
        self.tail.push_str(text);
        self.tail.push('\n');
    }
}

/// The reason in the text of standard error: the message of a panic as one line, or else the last line.
fn reason(stderr: &str) -> Option<String> {
    let starts = ["panicked at ", "panic: ", "fatal error: ", "Traceback "];
    let start = starts.iter().filter_map(|start| stderr.rfind(start)).min();
    let text = match start {
        Some(at) => stderr[at..].to_owned(),
        None => stderr.trim_end().lines().next_back()?.to_owned(),
    };
    // Rust's note names an environment variable that servlets do not have.
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("note: run with `RUST_BACKTRACE"));
    let text = lines.collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_a_panic_from_its_first_line() {
        let rust = "working\n\nthread '<unnamed>' (1) panicked at src/lib.rs:3:5:\nout of cheese\n\
            note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        let expected = "panicked at src/lib.rs:3:5: out of cheese";
        assert_eq!(reason(rust).as_deref(), Some(expected));
        assert_eq!(
            reason("a\npanic: nil map\n").as_deref(),
            Some("panic: nil map")
        );
        assert_eq!(reason("a\nb\n").as_deref(), Some("b"));
        assert_eq!(reason(""), None);
    }
}
