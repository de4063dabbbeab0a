//! An Extism plugin with any exports: the renderer of a bundle, a test module, a plugin under test.

use super::{
    HostFunction, Stop,
    instance::Instance,
    runner::{Run, Runner},
    schedule::{self, Slice},
};
use crate::{
    call::Call, error::LoadError, options::LoadOptions, runtime::block_on, source::read_module,
};

/// A plugin with one instance, which keeps its state until [`reset`](Self::reset).
pub struct Plugin {
    runner: Runner,
    instance: Option<Instance>,
}

impl Plugin {
    /// Compiles a module. It can import `functions` in addition to the host functions of servlets.
    ///
    /// # Errors
    /// [`LoadError`] says which step failed.
    pub fn load(
        name: &str,
        wasm: Vec<u8>,
        options: &LoadOptions,
        functions: Vec<HostFunction>,
    ) -> Result<Self, LoadError> {
        let module = read_module(name, &wasm)?;
        Ok(Self {
            runner: Runner::load(name, &wasm.into(), &module, options, functions)?,
            instance: None,
        })
    }

    /// Runs an export and copies its output. It blocks the thread, because host functions call plugins, and they are not
    /// asynchronous.
    ///
    /// # Errors
    /// A message for people.
    pub fn call(&mut self, export: &str, input: &[u8]) -> Result<Vec<u8>, String> {
        let run = Run {
            export,
            input,
            call: Call::new(self.runner.shared.options.call_limits()),
            instance: self.instance.take(),
        };
        let slice = Slice::default();
        let done =
            block_on(schedule::run_here(self.runner.run(run, &slice))).unwrap_or_else(Into::into);
        self.instance = done.instance;
        done.output.map_err(|stop| self.explain(stop))
    }

    /// Drops the instance and all variables. The next call makes a new instance.
    pub fn reset(&mut self) {
        self.instance = None;
        self.runner.shared.variables.clear();
    }

    fn explain(&self, stop: Stop) -> String {
        match stop {
            Stop::Error(text) | Stop::Panic(text) | Stop::Trap(text) | Stop::Start(text) => text,
            Stop::Denied(denied) => denied.to_string(),
            Stop::Deadline(limit) => format!("it did not finish within {limit:?}"),
            Stop::OutOfMemory => format!(
                "it takes more than {} bytes of memory",
                self.runner
                    .shared
                    .options
                    .call_limits()
                    .memory
                    .value()
                    .unwrap_or(u64::MAX)
            ),
            Stop::OutOfFuel => "it ran out of fuel".to_owned(),
            Stop::TooLarge(length) => format!("its output of {length} bytes exceeds the limit"),
            Stop::QueueFull(_) | Stop::Waited(_) => "it was cancelled".to_owned(),
        }
    }
}
