//! Compiles modules within a time limit.

use std::{
    sync::{
        Arc,
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use wasmtime::{Engine, Error, Module, Result};

use super::merge::merge;

/// Adds the kernel to a module and compiles it.
pub(super) fn compile(engine: &Engine, wasm: &[u8]) -> Result<Vec<u8>> {
    // An error in a module has the offset in its own bytes.
    Module::validate(engine, wasm)?;
    engine.precompile_module(&merge(wasm)?)
}

/// Compiles a module on its own thread and waits for it.
///
/// A compiler cannot be stopped. After the time limit it continues to the end, and its result is
/// dropped. How long that can take depends on [`bounds`](crate::inspect::bounds).
pub(super) fn compile_within(
    limit: Option<Duration>,
    engine: Engine,
    wasm: Arc<[u8]>,
) -> Result<Vec<u8>> {
    let (done, outcome) = channel();
    let thread = thread::Builder::new().name("servlet-compiler".to_owned());
    thread.spawn(move || {
        // The receiver is gone if the time limit was reached.
        let _ = done.send(compile(&engine, &wasm));
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
