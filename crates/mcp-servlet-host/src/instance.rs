//! One instance of a servlet, replaced whenever it stopped in the middle of something.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use extism::{CompiledPlugin, Plugin, PluginBuilder};

use crate::{LoadError, LoadOptions, http, inspect::Module, log};

/// What code that runs before the first call may spend; the deadline of a call does not cover it.
const START_FUEL: u64 = 1_000_000_000;

/// A place for one instance.
///
/// An instance that trapped or ran out of time would go on with its state half changed, so it is thrown away and
/// the next call gets a fresh one.
pub(crate) struct Slot {
    compiled: CompiledPlugin,
    plugin: Mutex<Option<Plugin>>,
    timeout: Option<Duration>,
}

/// How a call ended that gave no output.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The servlet returned an error text and can go on.
    Error(String),
    /// The servlet set an error text and then trapped.
    Panic(String),
    /// The runtime or a host function stopped the servlet.
    Trap(String),
    Timeout(Duration),
    OutOfMemory,
}

impl Slot {
    /// Compiles a module and makes the first instance.
    pub(crate) fn new(
        name: &str,
        wasm: Vec<u8>,
        module: &Module,
        options: &LoadOptions,
    ) -> Result<Self, LoadError> {
        let mut builder = PluginBuilder::new(options.manifest(wasm))
            .with_wasi(module.uses_wasi())
            .with_functions(log::functions(name, module))
            .with_functions(http::functions(module));
        if module.runs_at_start() {
            builder = builder
                .with_fuel_limit(u64::MAX)
                .with_initialization_fuel_limit(START_FUEL);
        }
        let refused = |error| refused(name, &error);
        let compiled = builder.compile().map_err(refused)?;
        let plugin = Plugin::new_from_compiled(&compiled).map_err(refused)?;
        Ok(Self {
            compiled,
            plugin: Mutex::new(Some(plugin)),
            timeout: options.timeout,
        })
    }

    /// Runs one export and copies its output. Blocks, also while another call is running.
    pub(crate) fn call(&self, export: &str, input: &[u8]) -> Result<Vec<u8>, Stop> {
        let mut slot = self.plugin.lock().unwrap_or_else(PoisonError::into_inner);
        let mut plugin = match slot.take() {
            Some(plugin) => plugin,
            None => Plugin::new_from_compiled(&self.compiled)
                .map_err(|error| Stop::Trap(error.root_cause().to_string()))?,
        };
        let start = Instant::now();
        let output = plugin
            .call::<_, &[u8]>(export, input)
            .map(<[u8]>::to_vec)
            .map_err(|error| self.stop(&error, start.elapsed()));
        if matches!(output, Ok(_) | Err(Stop::Error(_))) {
            *slot = Some(plugin);
        }
        output
    }

    /// Sorts an error of Extism, which has one type for all of them.
    fn stop(&self, error: &extism::Error, elapsed: Duration) -> Stop {
        let cause = error.root_cause().to_string();
        // Around a text that the servlet had set, Extism puts what stopped the servlet after that.
        let stopper = error.downcast_ref::<wasmtime::Error>();
        let interrupted = stopper
            .is_some_and(|error| matches!(error.downcast_ref(), Some(wasmtime::Trap::Interrupt)));
        match (cause.as_str(), self.timeout) {
            (_, Some(limit)) if interrupted => Stop::Timeout(limit),
            ("timeout", Some(limit)) if elapsed >= limit => Stop::Timeout(limit),
            ("oom", _) => Stop::OutOfMemory,
            _ if stopper.is_some() => Stop::Panic(cause),
            _ if error.chain().count() > 1 => Stop::Trap(cause),
            _ => Stop::Error(cause),
        }
    }
}

/// Why a module was not compiled, or did not survive the code that it runs before the first call.
fn refused(servlet: &str, error: &extism::Error) -> LoadError {
    let servlet = servlet.to_owned();
    match error.downcast_ref::<wasmtime::Trap>() {
        Some(wasmtime::Trap::OutOfFuel) => LoadError::Start {
            servlet,
            message: "the code that it runs before the first call does not end".into(),
        },
        Some(trap) => LoadError::Start {
            servlet,
            message: trap.to_string(),
        },
        None => LoadError::Compile {
            servlet,
            message: format!("{error:#}"),
        },
    }
}
