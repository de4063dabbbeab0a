//! Compiles modules, for a limited time.

use std::{
    sync::mpsc::{RecvTimeoutError, channel},
    time::Duration,
};

use extism::{CompiledPlugin, Error, PluginBuilder};

use super::threads;

/// Compiles a module on a thread of its own and waits for it.
///
/// A compiler cannot be stopped: one that takes longer goes on until it is done, and its result is thrown away. How long
/// that can be is up to [`bounds`](crate::inspect::bounds).
pub(super) fn compile(
    builder: PluginBuilder<'static>,
    limit: Option<Duration>,
) -> Result<CompiledPlugin, Error> {
    let (done, outcome) = channel();
    threads::run(move || {
        // Nobody waits any more if it took too long.
        let _ = done.send(builder.compile());
    })?;
    let compiled = match limit {
        Some(limit) => outcome.recv_timeout(limit),
        None => outcome.recv().map_err(RecvTimeoutError::from),
    };
    compiled.unwrap_or_else(|error| {
        Err(match (error, limit) {
            (RecvTimeoutError::Timeout, Some(limit)) => Error::msg(format!(
                "it takes longer than {limit:?}; make it smaller, or raise `compile_timeout` (`--compile-timeout`)"
            )),
            _ => Error::msg("the compiler panicked"),
        })
    })
}
