//! Sends log lines of servlets to `tracing`, with the servlet's name.

use tracing::Level;
use wasmtime::{Caller, Error, Linker, Result};

use super::offset;
use crate::{
    inspect::EXTISM,
    state::{State, messages},
    text::Excerpt,
};

const FUNCTIONS: [(&str, Level); 5] = [
    ("log_trace", Level::TRACE),
    ("log_debug", Level::DEBUG),
    ("log_info", Level::INFO),
    ("log_warn", Level::WARN),
    ("log_error", Level::ERROR),
];

pub(super) fn link(linker: &mut Linker<State>) -> Result<()> {
    for (name, level) in FUNCTIONS {
        linker.func_wrap(
            EXTISM,
            name,
            move |mut caller: Caller<'_, State>, at: i64| {
                let text = messages::view(&mut caller, offset(at));
                let text = text.ok_or_else(|| Error::msg("log message is not in memory"))?;
                let text = Excerpt::of(text).to_lossy();
                event(level, &caller.data().shared.name, &text);
                messages::free(&mut caller, offset(at))
            },
        )?;
    }
    Ok(())
}

/// Logs one event. `tracing` needs the level at compile time.
fn event(level: Level, servlet: &str, text: &str) {
    match level {
        Level::TRACE => tracing::trace!(target: "servlet", servlet, "{text}"),
        Level::DEBUG => tracing::debug!(target: "servlet", servlet, "{text}"),
        Level::INFO => tracing::info!(target: "servlet", servlet, "{text}"),
        Level::WARN => tracing::warn!(target: "servlet", servlet, "{text}"),
        Level::ERROR => tracing::error!(target: "servlet", servlet, "{text}"),
    }
}
