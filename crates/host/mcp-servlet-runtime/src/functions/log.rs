//! The functions with which servlets log.

use std::sync::Arc;

use tracing::Level;
use wasmtime::{Caller, Error, Linker, Result};

use super::offset;
use crate::{
    inspect::EXTISM,
    state::{State, messages},
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
                let shared = Arc::clone(&caller.data().shared);
                let text = messages::view(&mut caller, offset(at))
                    .ok_or_else(|| Error::msg("log message is not in memory"))?;
                shared.log(level, None, text);
                messages::free(&mut caller, offset(at))
            },
        )?;
    }
    Ok(())
}
