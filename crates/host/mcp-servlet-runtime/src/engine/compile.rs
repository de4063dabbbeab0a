//! Compiles modules within a time limit.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use wasmtime::{Engine, Error, Module, Result};

use super::{
    merge::merge,
    settings::{self, Metering},
};
use crate::options::Quality;

/// Adds the kernel to a module and compiles it.
pub(super) fn compile(engine: &Engine, wasm: &[u8]) -> Result<Vec<u8>> {
    // An error in a module has the offset in its own bytes.
    Module::validate(engine, wasm)?;
    engine.precompile_module(&merge(wasm)?)
}

/// Compiles a module for its first calls, as fast as possible unless they need a certain quality.
pub(super) fn compile_first(
    wasm: &[u8],
    metering: Metering,
    quality: Option<Quality>,
) -> Result<(Quality, Vec<u8>)> {
    let compile = |quality| {
        let engine = settings::compiler(quality, metering)?;
        Ok((quality, compile(&engine, wasm)?))
    };
    if let Some(quality) = quality {
        return compile(quality);
    }
    match catch_panic(|| compile(Quality::Baseline)) {
        Ok(code) => return Ok(code),
        Err(error) => tracing::debug!("there is no code of the baseline compiler: {error:#}"),
    }
    // The other compiler knows all features. If it refuses the module, too, its error counts.
    compile(Quality::Quick)
}

/// Runs a compiler. If it panics, that is its error.
pub(super) fn catch_panic<T>(compile: impl FnOnce() -> Result<T>) -> Result<T> {
    let compiled = catch_unwind(AssertUnwindSafe(compile));
    compiled.unwrap_or_else(|_| Err(Error::msg("the compiler panicked")))
}

/// Compiles on its own thread and waits for it.
///
/// A compiler cannot be stopped. After the time limit it continues to the end, and its result is
/// dropped. How long that can take depends on [`bounds`](crate::inspect::bounds).
pub(super) fn within<T: Send + 'static>(
    limit: Option<Duration>,
    compile: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (done, outcome) = channel();
    let thread = thread::Builder::new().name("servlet-compiler".to_owned());
    thread.spawn(move || {
        // The receiver is gone if the time limit was reached.
        let _ = done.send(compile());
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
