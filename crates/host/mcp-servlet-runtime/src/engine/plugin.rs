//! An Extism plugin with any exports: the renderer of a bundle, a test module, a plugin under test.

use extism::{CompiledPlugin, Function, PluginBuilder, Wasm};

use super::{
    Stop, cache,
    compile::compile,
    instance::{Instance, Run},
    slot::prepare,
};
use crate::{
    call::{Call, Current, Reason},
    error::LoadError,
    functions::{
        http, log, notify,
        wasi::{self, Streams},
    },
    options::{Limits, LoadOptions},
    source::read_module,
};

/// A plugin with one instance, which keeps its state until [`reset`](Self::reset).
pub struct Plugin {
    compiled: CompiledPlugin,
    instance: Instance,
    name: String,
    streams: Streams,
    starts: bool,
    current: Current,
    options: LoadOptions,
}

impl Plugin {
    /// Compiles a module. It can import `functions` in addition to the host functions of servlets.
    pub fn load(
        name: &str,
        wasm: Vec<u8>,
        options: &LoadOptions,
        functions: Vec<Function>,
    ) -> Result<Self, LoadError> {
        let module = read_module(name, &wasm)?;
        let refused = |error: extism::Error| LoadError::Compile {
            servlet: name.to_owned(),
            message: format!("{error:#}"),
        };
        let prepared = prepare(name, &wasm, options)?;
        let starts = prepared.starts;
        let wasm = prepared.wasm.unwrap_or(wasm);
        let current = Current::default();
        let streams = Streams::default();
        let builder = PluginBuilder::new(options.manifest(Wasm::data(wasm)))
            .with_wasi(module.uses_wasi())
            .with_functions(wasi::functions(name, &streams, &current))
            .with_functions(log::functions(name, &module))
            .with_functions(http::functions(
                &module,
                &http::Client::new(options),
                &current,
                &notify::CurrentListener::default(),
            ))
            .with_functions(functions);
        let builder = cache::apply(&options.cache, builder)?;
        let compiled = compile(builder, options.compile).map_err(refused)?;
        let instance = Instance::new(name, &compiled, starts, &streams).map_err(refused)?;
        Ok(Self {
            compiled,
            instance,
            name: name.to_owned(),
            streams,
            starts,
            current,
            options: options.clone(),
        })
    }

    /// Runs an export and copies its output. The error is a message for people.
    pub fn call(&mut self, export: &str, input: &[u8]) -> Result<Vec<u8>, String> {
        let call = Call::new(Limits::of(&self.options));
        let run = Run {
            call: &call,
            export,
            input,
        };
        let (output, stopped) = match call.begin(self.instance.cancel_handle()) {
            Ok(()) => self.instance.run(&run, &self.current),
            Err(reason) => (Err(Stop::Stopped(reason)), None),
        };
        if stopped.is_some() {
            // The interrupt may still be on its way and would stop the next call.
            self.reset()?;
        }
        output.map_err(|stop| self.explain(stop))
    }

    /// Replaces the instance by a new one without its state.
    pub fn reset(&mut self) -> Result<(), String> {
        self.instance = Instance::new(&self.name, &self.compiled, self.starts, &self.streams)
            .map_err(|error| format!("{error:#}"))?;
        Ok(())
    }

    fn explain(&self, stop: Stop) -> String {
        match stop {
            Stop::Error(text) | Stop::Panic(text) | Stop::Trap(text) | Stop::Start(text) => text,
            Stop::Denied(denied) => denied.to_string(),
            Stop::Stopped(Reason::Deadline(limit)) => format!("it did not finish within {limit:?}"),
            Stop::OutOfMemory => format!(
                "it takes more than {} bytes of memory",
                self.options.memory.unwrap_or(u64::MAX)
            ),
            Stop::TooLarge(length) => format!("its output of {length} bytes exceeds the limit"),
            Stop::Stopped(Reason::Cancelled) | Stop::QueueFull(_) | Stop::Waited(_) => {
                "it was cancelled".to_owned()
            }
        }
    }
}
