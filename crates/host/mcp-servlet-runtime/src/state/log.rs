//! The log lines of a servlet. They go to `tracing`, with the servlet's name, and within a rate.

use std::time::Instant;

use mcp_servlet_common::lock;
use tracing::Level;

use super::Shared;
use crate::text::Excerpt;

/// Logs an event, if it is enabled and within the rate. `tracing` needs the level at compile time.
macro_rules! event {
    ($level:ident, $shared:ident, $stream:ident, $text:ident) => {
        if tracing::enabled!(target: "servlet", Level::$level) && $shared.may_log($text.len()) {
            let (servlet, text) = (&*$shared.name, Excerpt::of($text).to_lossy());
            tracing::event!(target: "servlet", Level::$level, servlet, stream = $stream, "{text}");
        }
    };
}

impl Shared {
    /// Logs a line of the servlet, with the stream that it was written to, if there is one.
    pub(crate) fn log(&self, level: Level, stream: Option<&str>, text: &[u8]) {
        match level {
            Level::TRACE => event!(TRACE, self, stream, text),
            Level::DEBUG => event!(DEBUG, self, stream, text),
            Level::INFO => event!(INFO, self, stream, text),
            Level::WARN => event!(WARN, self, stream, text),
            Level::ERROR => event!(ERROR, self, stream, text),
        }
    }

    /// Says how much was left out, if nothing has said so in the last second.
    pub(super) fn end_log(&self) {
        let note = lock(&self.log_rate).note(Instant::now());
        self.log_note(note);
    }

    fn may_log(&self, length: usize) -> bool {
        let now = Instant::now();
        let mut rate = lock(&self.log_rate);
        if !rate.admits(length, now) {
            return false;
        }
        let note = rate.note(now);
        drop(rate);
        self.log_note(note);
        true
    }

    fn log_note(&self, note: Option<String>) {
        if let Some(note) = note {
            tracing::warn!(target: "servlet", servlet = self.name, "{note}");
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let note = lock(&self.log_rate).last_note();
        self.log_note(note);
    }
}
