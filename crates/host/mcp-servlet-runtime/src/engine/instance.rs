//! An instance of a module: its start and the calls of its exports.

use std::sync::Arc;

use wasmtime::{Func, InstancePre, PoolConcurrencyLimitError, Result, Store, UpdateDeadline, Val};
use wasmtime_wasi::I32Exit;

use super::{Stop, address_space, code::Code, schedule::Slice};
use crate::{
    call::Call,
    fault,
    state::{Shared, State, messages},
};

/// An instance and its store.
pub(super) struct Instance {
    store: Store<State>,
    instance: wasmtime::Instance,
}

/// Why there is no instance.
enum Failed {
    /// The pool is full. The call has not begun.
    NoRoom(Box<Call>),
    Stopped(Stop),
}

impl From<Stop> for Failed {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

/// How a call ended.
pub(super) struct Ended {
    pub(super) output: Result<Vec<u8>, Stop>,
    /// Whether the instance can run another call. After a trap, its state is half changed.
    pub(super) is_whole: bool,
}

impl Instance {
    /// Makes an instance for its first call, within the limits of the call.
    pub(super) async fn start(
        code: &Code,
        shared: &Arc<Shared>,
        call: Call,
        slice: &Slice,
    ) -> Result<Self, Stop> {
        let started = Self::start_in(&code.get(), shared, call, slice).await;
        let call = match started {
            Err(Failed::NoRoom(call)) => call,
            Err(Failed::Stopped(stop)) => return Err(stop),
            Ok(instance) => return Ok(instance),
        };
        let code = code.outside_pool().map_err(|error| Stop::start(&error))?;
        let started = Self::start_in(&code, shared, *call, slice).await;
        started.map_err(|failed| match failed {
            Failed::NoRoom(_) => Stop::Start("there is no room for another instance".to_owned()),
            Failed::Stopped(stop) => stop,
        })
    }

    async fn start_in(
        pre: &InstancePre<State>,
        shared: &Arc<Shared>,
        call: Call,
        slice: &Slice,
    ) -> Result<Self, Failed> {
        let state = State::new(shared, call).map_err(|error| Stop::start(&error))?;
        let mut store = Store::new(pre.module().engine(), state);
        let tables = pre.module().resources_required().num_tables;
        store.data_mut().limiter.expect_tables(tables);
        store.limiter(|state| &mut state.limiter);
        begin(&mut store, slice);
        let instance = match pre.instantiate_async(&mut store).await {
            Ok(instance) => instance,
            Err(error) if error.is::<PoolConcurrencyLimitError>() => {
                let empty = Call::new(store.data().call.limits);
                let call = std::mem::replace(&mut store.data_mut().call, empty);
                return Err(Failed::NoRoom(Box::new(call)));
            }
            Err(error) => {
                let stop = match address_space::limited(&error, pre.module()) {
                    Some(limit) => Stop::Start(limit),
                    None => stopped(&mut store, &error).at_start(),
                };
                return Err(stop.into());
            }
        };
        let mut started = Self { store, instance };
        #[cfg(unix)]
        if super::settings::is_pooled(started.store.engine()) {
            started.read_memories();
        }
        if !shared.initialises {
            return Ok(started);
        }
        match started.initialise().await {
            Ok(()) => Ok(started),
            Err(error) => Err(stopped(&mut started.store, &error).at_start().into()),
        }
    }

    /// Reads all pages of its memories, so that the reset after its call skips those that were not written (see [`super::untouched`]).
    #[cfg(unix)]
    fn read_memories(&mut self) {
        let Self { store, instance } = self;
        for name in ["memory", "kernel.memory"] {
            if let Some(memory) = instance.get_memory(&mut *store, name) {
                super::untouched::read(memory.data(&*store));
            }
        }
    }

    /// Prepares an instance for its next call.
    pub(super) fn begin(&mut self, call: Call, slice: &Slice) {
        let state = self.store.data_mut();
        state.limiter.begin(&call.progress);
        state.call = call;
        begin(&mut self.store, slice);
    }

    /// The fuel that its call has taken so far, if it is counted.
    pub(super) fn fuel(&self) -> Option<u64> {
        let left = self.store.get_fuel().ok()?;
        Some(fuel_of(self.store.data()) - left)
    }

    /// Calls the [`INITIALISERS`](crate::state::INITIALISERS), as Extism does.
    async fn initialise(&mut self) -> Result<()> {
        let Self { store, instance } = self;
        if let Ok(haskell) = instance.get_typed_func::<(i32, i32), ()>(&mut *store, "hs_init") {
            self.call_if_there("_initialize").await?;
            return haskell.call_async(&mut self.store, (0, 0)).await;
        }
        if let Ok(haskell) = instance.get_typed_func::<(i32, i32), i32>(&mut *store, "hs_init") {
            self.call_if_there("_initialize").await?;
            return haskell.call_async(&mut self.store, (0, 0)).await.map(drop);
        }
        match instance.get_func(&mut *store, "__wasm_call_ctors") {
            Some(_) => self.call_if_there("__wasm_call_ctors").await,
            None => self.call_if_there("_initialize").await,
        }
    }

    async fn call_if_there(&mut self, export: &str) -> Result<()> {
        match self
            .instance
            .get_typed_func::<(), ()>(&mut self.store, export)
        {
            Ok(function) => function.call_async(&mut self.store, ()).await,
            Err(_) => Ok(()),
        }
    }

    /// Calls an export and copies its output.
    pub(super) async fn call(&mut self, export: &str, input: &[u8]) -> Ended {
        let (output, is_whole) = match self.function(export) {
            Ok(function) => match self.invoke(function, input).await {
                // A program ends with its `_start`.
                Ok(code) => (self.output(code), export != "_start"),
                Err(error) if self.is_success(&error) => (self.output(0), false),
                Err(error) => (Err(stopped(&mut self.store, &error)), false),
            },
            Err(problem) => (Err(Stop::Error(problem)), true),
        };
        self.store.data().end_output();
        let State { call, shared, .. } = self.store.data_mut();
        // The listener belongs to the call, and its end can have consequences.
        call.listener = None;
        let (output, is_whole) = match call.input_requests.end() {
            Some(request) => (bounded(&request, call.limits.output.value()), false),
            None => (output, is_whole),
        };
        let journal = std::mem::take(&mut call.journal);
        Ended {
            output: journal.end(&shared.name, output),
            is_whole,
        }
    }

    /// The function that an export is, if a host can call it.
    fn function(&mut self, export: &str) -> Result<Func, String> {
        let function = self
            .instance
            .get_func(&mut self.store, export)
            .ok_or_else(|| format!("Function not found: {export}"))?;
        let ty = function.ty(&self.store);
        match (ty.params().len(), ty.results().len()) {
            (0, 0 | 1) => Ok(function),
            (0, results) => Err(format!(
                "Function {export} has {results} results, expected 0 or 1"
            )),
            (parameters, _) => Err(format!("expected {parameters} arguments, got 0")),
        }
    }

    /// Calls a function and returns its code.
    async fn invoke(&mut self, function: Func, input: &[u8]) -> Result<i32> {
        let Self { store, instance } = self;
        messages::begin(store, instance, input)?;
        if let Ok(function) = function.typed::<(), i32>(&store) {
            return function.call_async(store, ()).await;
        }
        let results = function.ty(&store).results().len();
        let mut results = vec![Val::I32(0); results];
        function.call_async(store, &[], &mut results).await?;
        Ok(results.first().map_or(0, |code| code.i32().unwrap_or(-1)))
    }

    /// Whether the servlet ended itself with success.
    fn is_success(&mut self, error: &wasmtime::Error) -> bool {
        matches!(error.downcast_ref(), Some(I32Exit(0)))
            && messages::error(&mut self.store).is_none()
    }

    /// The output of a call that returned this code.
    fn output(&mut self, code: i32) -> Result<Vec<u8>, Stop> {
        if let Some(text) = error_text(&mut self.store) {
            return Err(Stop::Error(text.unwrap_or_else(|problem| problem)));
        }
        if code != 0 {
            return Err(Stop::Error(format!("Returned non-zero exit code: {code}")));
        }
        let limit = self.store.data().call.limits.output.value();
        let output = messages::output(&mut self.store)
            .ok_or_else(|| Stop::Trap("the output is not in memory".to_owned()))?;
        bounded(output, limit)
    }
}

/// The fuel of the call. Without a limit, it is more than a call can take.
fn fuel_of(state: &State) -> u64 {
    state.call.limits.fuel.value().unwrap_or(u64::MAX)
}

/// Gives a call its fuel, and begins its time slice.
fn begin(store: &mut Store<State>, slice: &Slice) {
    let fuel = fuel_of(store.data());
    // An error means that this engine does not count fuel.
    let _ = store.set_fuel(fuel);
    let slice = slice.clone();
    store.epoch_deadline_callback(move |_| {
        slice.end();
        Ok(UpdateDeadline::Yield(1))
    });
    store.set_epoch_deadline(1);
}

fn bounded(output: &[u8], limit: Option<u64>) -> Result<Vec<u8>, Stop> {
    match output.len() as u64 {
        length if limit.is_some_and(|limit| length > limit) => Err(Stop::TooLarge(length)),
        _ => Ok(output.to_vec()),
    }
}

/// The beginning of the error text that the servlet has set, or why it cannot be read.
fn error_text(store: &mut Store<State>) -> Option<Result<String, String>> {
    let text = fault::excerpt(messages::error(store)?);
    Some(text.map_err(|error| format!("unable to load error message from memory: {error}")))
}

/// How a call ended with an error of wasmtime. The servlet may have said why.
fn stopped(store: &mut Store<State>, error: &wasmtime::Error) -> Stop {
    let stop = Stop::of(error);
    // A servlet cannot hide that it has reached a limit.
    if !matches!(stop, Stop::Trap(_)) {
        return stop;
    }
    match error_text(store) {
        Some(Ok(text)) => Stop::Panic(text),
        Some(Err(problem)) => Stop::Error(problem),
        None => store.data().end_output().map_or(stop, Stop::Panic),
    }
}
