//! A slot: one instance, which is replaced if a run does not end cleanly.

use std::{borrow::Cow, sync::Arc};

use extism::{CompiledPlugin, Manifest, PluginBuilder};

use super::{
    Stop, cache,
    compile::compile,
    instance::{Instance, Run, copy},
    pool::Job,
    prepare::{self, Prepared},
    stored_module::StoredModule,
};
use crate::{
    call::{Call, Current},
    error::LoadError,
    functions::{
        ask, http, log, notify,
        wasi::{self, Streams},
    },
    inspect::{Module, Unreadable},
    options::{self, Isolation, LoadOptions},
};

/// Makes the slots of one servlet.
pub(super) struct Factory {
    name: String,
    module: Module,
    options: LoadOptions,
    /// The module that is compiled.
    prepared: StoredModule,
    /// The module before it was prepared; `None` if it did not change.
    original: Option<StoredModule>,
    /// Whether an instance has to run the start export before its first call.
    starts: bool,
    /// How many bytes of the memory the tables may use.
    tables: u64,
    manifest: Manifest,
    http: http::Client,
}

/// A compiled module and its instance, if there is one.
pub(super) struct Slot {
    compiled: CompiledPlugin,
    instance: Option<Instance>,
    name: String,
    streams: Streams,
    /// Whether an instance has to run the start export before its first call.
    starts: bool,
    /// The memory limit of the instance in bytes.
    memory: Option<u64>,
    current: Current,
    listener: notify::CurrentListener,
    input_requests: ask::InputRequests,
}

impl Factory {
    pub(super) fn new(
        name: &str,
        wasm: Vec<u8>,
        module: &Module,
        options: &LoadOptions,
    ) -> Result<Self, LoadError> {
        let prepared = prepare(name, &wasm, options)?;
        let (runs, original) = match prepared.wasm {
            Some(changed) => (StoredModule::new(changed), Some(StoredModule::new(wasm))),
            None => (StoredModule::new(wasm), None),
        };
        Ok(Self {
            name: name.to_owned(),
            module: module.clone(),
            options: options.clone(),
            manifest: options.manifest(runs.wasm()),
            prepared: runs,
            original,
            starts: prepared.starts,
            tables: prepared.tables_maximum,
            http: http::Client::new(options),
        })
    }

    pub(super) fn options(&self) -> &LoadOptions {
        &self.options
    }

    pub(super) fn wasm(&self) -> Result<Cow<'_, [u8]>, LoadError> {
        let wasm = self.original.as_ref().unwrap_or(&self.prepared);
        wasm.bytes().map_err(|source| LoadError::Read {
            path: (&self.name).into(),
            source,
        })
    }

    /// Compiles the module and makes an instance with this memory limit. It takes about a
    /// millisecond if the compiled module is in the cache.
    pub(super) fn slot(&self, memory: Option<u64>) -> Result<Slot, LoadError> {
        let (module, current) = (&self.module, Current::default());
        let (listener, input_requests) = (
            notify::CurrentListener::default(),
            ask::InputRequests::default(),
        );
        let streams = Streams::default();
        let builder = PluginBuilder::new(self.manifest(memory))
            .with_wasi(module.uses_wasi())
            .with_functions(wasi::functions(&self.name, &streams, &current))
            .with_functions(log::functions(&self.name, module))
            .with_functions(notify::functions(module, &listener))
            .with_functions(ask::functions(module, &input_requests))
            .with_functions(http::functions(module, &self.http, &current, &listener));
        let builder = cache::apply(&self.options.cache, builder)?;
        let refused = |error| refused(&self.name, &error);
        let compiled = compile(builder, self.options.compile).map_err(refused)?;
        let instance =
            Instance::new(&self.name, &compiled, self.starts, &streams).map_err(refused)?;
        Ok(Slot {
            compiled,
            instance: Some(instance),
            name: self.name.clone(),
            streams,
            starts: self.starts,
            memory,
            current,
            listener,
            input_requests,
        })
    }

    /// The manifest for instances with this memory limit, which includes the tables.
    fn manifest(&self, memory: Option<u64>) -> Manifest {
        let mut manifest = self.manifest.clone();
        manifest.memory.max_pages =
            options::pages(memory.map(|memory| memory.saturating_sub(whole_pages(self.tables))));
        manifest
    }
}

impl Slot {
    pub(super) fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// Runs an export and copies its output. Returns the slot if it can be used again.
    pub(super) fn run(
        mut self,
        call: &Arc<Call>,
        job: &Job,
        isolation: Isolation,
    ) -> (Result<Vec<u8>, Stop>, Option<Self>) {
        let mut instance = match self.instance() {
            Ok(instance) => instance,
            Err(error) => return (Err(Stop::Start(format!("{error:#}"))), None),
        };
        if let Err(reason) = call.begin(instance.cancel_handle()) {
            self.instance = Some(instance);
            return (Err(Stop::Stopped(reason)), Some(self));
        }
        let run = Run {
            call,
            export: job.export,
            input: &job.input,
        };
        self.listener.set(job.listener.clone());
        self.input_requests.begin(job.answers.clone());
        let (output, stopped) = instance.run(&run, &self.current);
        let input_request = self.input_requests.end();
        self.listener.set(None);
        if stopped.is_some() {
            // The interrupt may still be on its way to the engine and would stop the next call.
            return (output, None);
        }
        if let Some(input_request) = input_request {
            // The instance is dropped: it stopped in the middle of its call.
            return (copy(&input_request, call.limits().output), Some(self));
        }
        // After a trap, the state of an instance is half changed. The same is true after WASI's
        // `proc_exit`, which looks like success.
        let whole = match &output {
            Ok(output) => !output.is_empty(),
            Err(stop) => matches!(stop, Stop::Error(_) | Stop::TooLarge(_)),
        };
        if whole && isolation == Isolation::Shared {
            self.instance = Some(instance);
        }
        (output, Some(self))
    }

    /// Takes the instance or makes a new one.
    fn instance(&mut self) -> Result<Instance, extism::Error> {
        match self.instance.take() {
            Some(instance) => Ok(instance),
            None => Instance::new(&self.name, &self.compiled, self.starts, &self.streams),
        }
    }
}

/// Prepares a module for these options.
pub(super) fn prepare(
    name: &str,
    wasm: &[u8],
    options: &LoadOptions,
) -> Result<Prepared, LoadError> {
    let tools = options.tools.values();
    let tools = tools.map(|tool| tool.memory.resolve(options.memory));
    let memory = tools.chain([options.memory]).flatten().min();
    let prepared = prepare::prepare(wasm, memory).map_err(|error| LoadError::Unreadable {
        servlet: name.to_owned(),
        source: Unreadable::damaged(&error),
    })?;
    match memory {
        Some(memory) if prepared.tables_initial > memory => Err(LoadError::Start {
            servlet: name.to_owned(),
            message: format!(
                "its tables begin with {} bytes; the memory limit is {memory} bytes",
                prepared.tables_initial
            ),
        }),
        _ => Ok(prepared),
    }
}

/// How many bytes of the tables count as memory. Only whole pages count, so the small tables of
/// most modules are free.
fn whole_pages(tables: u64) -> u64 {
    tables - tables % options::WASM_PAGE
}

/// The error for a module that cannot be compiled, or whose instance cannot be made.
fn refused(servlet: &str, error: &extism::Error) -> LoadError {
    let servlet = servlet.to_owned();
    match error.downcast_ref::<wasmtime::Trap>() {
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
