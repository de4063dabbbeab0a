//! The crate `log`, with the host's log as its target; natively, the log of the context of the current request.

use log::{LevelFilter, Log, Metadata, Record};

use crate::host::level::Level;

struct Logger;

static LOGGER: Logger = Logger;

impl Log for Logger {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        // The compiler knows this constant, so that a level that is turned off is not imported either.
        if record.level() > log::STATIC_MAX_LEVEL {
            return;
        }
        let level = match record.level() {
            log::Level::Error => Level::Error,
            log::Level::Warn => Level::Warn,
            log::Level::Info => Level::Info,
            log::Level::Debug => Level::Debug,
            log::Level::Trace => Level::Trace,
        };
        write(level, &record.args().to_string());
    }

    fn flush(&self) {}
}

/// Installs itself as the program's logger, unless there is one. The host decides which levels it keeps.
pub(crate) fn take_place() {
    if log::set_logger(&LOGGER).is_ok() {
        log::set_max_level(LevelFilter::Trace);
    }
}

#[cfg(target_family = "wasm")]
pub(crate) use take_place as install;

#[cfg(target_family = "wasm")]
fn write(level: Level, text: &str) {
    crate::host::abi::log(level, text);
}

#[cfg(not(target_family = "wasm"))]
pub(crate) use native::install;
#[cfg(not(target_family = "wasm"))]
use native::write;

#[cfg(not(target_family = "wasm"))]
mod native {
    use std::cell::RefCell;
    use std::rc::Weak;

    use super::take_place;
    use crate::host::context::{Host, State};
    use crate::host::level::Level;

    thread_local! {
        /// The state of the latest request on this thread.
        static STATE: RefCell<Weak<RefCell<State>>> = const { RefCell::new(Weak::new()) };
    }

    pub(crate) fn install(host: &Host) {
        take_place();
        STATE.set(host.weak_state());
    }

    pub(super) fn write(level: Level, text: &str) {
        let state = STATE.with_borrow(Weak::upgrade);
        if let Some(state) = state {
            if let Ok(mut state) = state.try_borrow_mut() {
                state.logs.push((level, text.to_owned()));
            }
        }
    }
}
