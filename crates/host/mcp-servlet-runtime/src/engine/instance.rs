//! An instance of a module: its start and the calls of its exports.

use std::{
    sync::{Arc, OnceLock},
    thread,
};

use extism::{CancelHandle, CompiledPlugin, Error, Plugin};

use super::{Stop, prepare::START, threads};
use crate::{
    call::{Call, Current, Reason, watchdog},
    functions::wasi::Streams,
};

pub(super) struct Instance {
    plugin: Plugin,
    servlet: String,
    streams: Streams,
    /// Whether [`START`] has to run before the next call.
    starts: bool,
}

/// A run of an export in a call that has begun.
pub(super) struct Run<'a> {
    pub(super) call: &'a Arc<Call>,
    pub(super) export: &'a str,
    pub(super) input: &'a [u8],
}

impl Instance {
    pub(super) fn new(
        servlet: &str,
        compiled: &CompiledPlugin,
        starts: bool,
        streams: &Streams,
    ) -> Result<Self, Error> {
        Ok(Self {
            plugin: first_plugin(compiled)?,
            servlet: servlet.to_owned(),
            streams: streams.clone(),
            starts,
        })
    }

    pub(super) fn cancel_handle(&self) -> CancelHandle {
        self.plugin.cancel_handle()
    }

    /// Runs an export and copies its output. The second value is the reason if the run was stopped
    /// from outside.
    ///
    /// The first run also starts the instance. That counts towards the time limit of the call.
    pub(super) fn run(
        &mut self,
        run: &Run<'_>,
        current: &Current,
    ) -> (Result<Vec<u8>, Stop>, Option<Reason>) {
        current.set(Some(Arc::clone(run.call)));
        let watch = watchdog::watch(Arc::clone(run.call));
        let start = self.start();
        let is_started = start.is_ok();
        let output = start.and_then(|()| self.plugin.call::<_, &[u8]>(run.export, run.input));
        let stopped = run.call.end();
        drop(watch);
        current.set(None);
        let output = match output {
            Ok(output) => copy(output, run.call.limits().output),
            Err(error) => Err(
                match (Stop::sort(&error, stopped), run.call.take_denied()) {
                    (Stop::Trap(_), Some(denied)) => Stop::Denied(denied),
                    (stop, _) => stop,
                },
            ),
        };
        let reason = self.streams.end(&self.servlet);
        let output = output.map_err(|stop| {
            let stop = stop.because(reason);
            if is_started { stop } else { stop.at_start() }
        });
        (output, stopped)
    }

    fn start(&mut self) -> Result<(), Error> {
        if self.starts {
            self.plugin.call::<_, &[u8]>(START, "")?;
            self.starts = false;
        }
        Ok(())
    }
}

/// Makes a plugin. The first one is made on a separate thread that yields to others.
///
/// Extism starts its timer on the thread that makes the first instance, and the timer inherits the
/// scheduling of that thread. Every call sends a message to the timer.
fn first_plugin(compiled: &CompiledPlugin) -> Result<Plugin, Error> {
    static TIMER: OnceLock<()> = OnceLock::new();
    let mut first = None;
    TIMER.get_or_init(|| {
        let make = || {
            threads::yield_to_others();
            Plugin::new_from_compiled(compiled)
        };
        first = thread::scope(|scope| scope.spawn(make).join()).ok();
    });
    first.unwrap_or_else(|| Plugin::new_from_compiled(compiled))
}

/// Copies the output of an instance, if it is within the limit.
pub(super) fn copy(output: &[u8], limit: Option<u64>) -> Result<Vec<u8>, Stop> {
    match output.len() as u64 {
        length if limit.is_some_and(|limit| length > limit) => Err(Stop::TooLarge(length)),
        _ => Ok(output.to_vec()),
    }
}
