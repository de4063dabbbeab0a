//! Compiles modules within a time limit.

use std::{
    sync::mpsc::{RecvTimeoutError, channel},
    time::Duration,
};

use extism::{CompiledPlugin, Error, PluginBuilder};

use super::threads;

/// Compiles a module on its own thread and waits for it.
///
/// A compiler cannot be stopped. After the time limit it continues to the end, and its result is
/// dropped. How long that can take depends on [`bounds`](crate::inspect::bounds).
pub(super) fn compile(
    builder: PluginBuilder<'static>,
    limit: Option<Duration>,
) -> Result<CompiledPlugin, Error> {
    let (done, outcome) = channel();
    threads::run(move || {
        // The receiver is gone if the time limit was reached.
        let _ = done.send(builder.compile());
    })?;
    let compiled = match limit {
        Some(limit) => outcome.recv_timeout(limit),
        None => outcome.recv().map_err(RecvTimeoutError::from),
    };
    compiled.unwrap_or_else(|error| {
        Err(match (error, limit) {
            (RecvTimeoutError::Timeout, Some(limit)) => Error::msg(format!(
                "it takes longer than {limit:?}; make the module smaller, or raise `compile_timeout` (`--compile-timeout`)"
            )),
            _ => Error::msg("the compiler panicked"),
        })
    })
}
