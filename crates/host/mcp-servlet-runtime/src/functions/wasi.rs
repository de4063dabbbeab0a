//! WASI output and sleep: standard output and standard error go to the log, and a sleep ends with its call.
//!
//! Extism's WASI discards output (<https://github.com/extism/extism/pull/446>), and its sleep cannot
//! be interrupted. A host function of Extism cannot read the memory of a module. So
//! [`prepare`](crate::engine) adds functions to the module that read its memory and call
//! [`functions`] with what they found.

use std::{
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use extism::{CurrentPlugin, Error, Function, UserData, Val, ValType};

use crate::{call::Current, lock::lock};

/// The module name of these functions in the imports of prepared modules.
pub(crate) const MODULE: &str = "mcp-servlet:wasi";
/// `(stream: i32, length: i32, bytes: i64)`: up to eight bytes, the first one in the lowest byte.
pub(crate) const WRITE: &str = "write";
/// `(nanoseconds: i64)`.
pub(crate) const SLEEP: &str = "sleep";

const STDERR: i32 = 2;

/// Longer lines are split. Otherwise a servlet that never ends a line would fill the memory.
const LINE: usize = 8 << 10;
/// How much of standard error is searched for the reason of a trap.
const TAIL: usize = 16 << 10;

/// What a servlet writes to standard output and standard error.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streams(Arc<Mutex<Written>>);

#[derive(Debug, Default)]
struct Written {
    out: Vec<u8>,
    err: Vec<u8>,
    /// The end of standard error in this call.
    tail: String,
}

impl Streams {
    fn lock(&self) -> MutexGuard<'_, Written> {
        lock(&self.0)
    }

    fn write(&self, servlet: &str, stream: i32, bytes: &[u8]) {
        let mut written = self.lock();
        for byte in bytes {
            let line = written.line(stream);
            if *byte != b'\n' {
                line.push(*byte);
            }
            if *byte == b'\n' || line.len() >= LINE {
                written.log(servlet, stream);
            }
        }
    }

    /// Logs incomplete lines. Returns the reason for a failed call, if standard error has one.
    pub(crate) fn end(&self, servlet: &str) -> Option<String> {
        let mut written = self.lock();
        for stream in [1, STDERR] {
            if !written.line(stream).is_empty() {
                written.log(servlet, stream);
            }
        }
        reason(&std::mem::take(&mut written.tail))
    }
}

impl Written {
    fn line(&mut self, stream: i32) -> &mut Vec<u8> {
        if stream == STDERR {
            &mut self.err
        } else {
            &mut self.out
        }
    }

    fn log(&mut self, servlet: &str, stream: i32) {
        let line = std::mem::take(self.line(stream));
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches('\r');
        if stream != STDERR {
            tracing::info!(target: "servlet", servlet, stream = "stdout", "{text}");
            return;
        }
        tracing::warn!(target: "servlet", servlet, stream = "stderr", "{text}");
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

/// The functions that prepared modules import.
pub(crate) fn functions(servlet: &str, streams: &Streams, current: &Current) -> [Function; 2] {
    let (servlet, streams, current) = (servlet.to_owned(), streams.clone(), current.clone());
    let write = move |_: &mut CurrentPlugin, inputs: &[Val], _: &mut [Val], _: UserData<()>| {
        if let [Val::I32(stream), Val::I32(length), Val::I64(bytes)] = inputs {
            let length = usize::try_from(*length).unwrap_or_default().min(8);
            streams.write(&servlet, *stream, &bytes.to_le_bytes()[..length]);
        }
        Ok(())
    };
    let sleep = move |_: &mut CurrentPlugin, inputs: &[Val], _: &mut [Val], _: UserData<()>| {
        let [Val::I64(nanoseconds)] = inputs else {
            return Ok(());
        };
        let time = Duration::from_nanos(nanoseconds.cast_unsigned());
        match current.get() {
            Some(call) if !call.sleep(time) => Err(Error::msg("the call was stopped")),
            _ => Ok(()),
        }
    };
    let none = UserData::default;
    let write_types = [ValType::I32, ValType::I32, ValType::I64];
    [
        Function::new(WRITE, write_types, [], none(), write).with_namespace(MODULE),
        Function::new(SLEEP, [ValType::I64], [], none(), sleep).with_namespace(MODULE),
    ]
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
