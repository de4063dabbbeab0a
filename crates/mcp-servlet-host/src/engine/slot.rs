//! A place for one instance, which is replaced whenever it stopped in the middle of something.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
    thread,
};

use extism::{CompiledPlugin, Manifest, Plugin, PluginBuilder, Wasm};

use super::{
    Call, Current, Reason, Stop, bound, kept::Kept, pool::Job, stop::OUT_OF_MEMORY, threads,
    watchdog,
};
use crate::{
    Isolation, LoadError, LoadOptions, ask, http,
    inspect::{Module, Unreadable},
    log, notify, options,
};

/// What code that runs before the first call may spend; the deadline of a call does not cover it.
const START_FUEL: u64 = 1_000_000_000;

/// An export that no module has.
const NOTHING: &str = "";

/// Makes the slots of one servlet.
pub(super) struct Factory {
    name: String,
    module: Module,
    options: LoadOptions,
    wasm: Kept,
    manifest: Manifest,
    http: http::Client,
}

/// A compiled module, and its instance if there is one.
pub(super) struct Slot {
    compiled: CompiledPlugin,
    instance: Option<Plugin>,
    /// Whether code of its own runs when an instance is made.
    starts: bool,
    /// How many bytes the instance may take.
    memory: Option<u64>,
    current: Current,
    ear: notify::Ear,
    questions: ask::Questions,
}

impl Factory {
    pub(super) fn new(name: &str, wasm: Vec<u8>, module: &Module, options: &LoadOptions) -> Self {
        let wasm = Kept::new(wasm);
        Self {
            name: name.to_owned(),
            module: module.clone(),
            options: options.clone(),
            manifest: options.manifest(wasm.wasm()),
            wasm,
            http: http::Client::new(options),
        }
    }

    pub(super) fn options(&self) -> &LoadOptions {
        &self.options
    }

    pub(super) fn wasm(&self) -> Result<Cow<'_, [u8]>, LoadError> {
        self.wasm.bytes().map_err(|source| LoadError::Read {
            path: (&self.name).into(),
            source,
        })
    }

    /// Compiles the module, which takes a millisecond if it is in the cache, and makes an instance that may take that
    /// much memory.
    pub(super) fn slot(&self, memory: Option<u64>) -> Result<Slot, LoadError> {
        let manifest = self.manifest(memory)?;
        let starts = self.module.runs_at_start();
        let (module, current) = (&self.module, Current::default());
        let (ear, questions) = (notify::Ear::default(), ask::Questions::default());
        let mut builder = PluginBuilder::new(&*manifest)
            .with_wasi(module.uses_wasi())
            .with_functions(log::functions(&self.name, module))
            .with_functions(notify::functions(module, &ear))
            .with_functions(ask::functions(module, &questions))
            .with_functions(http::functions(module, &self.http, &current, &ear));
        if starts {
            builder = builder
                .with_fuel_limit(u64::MAX)
                .with_initialization_fuel_limit(START_FUEL);
        }
        let builder = self.options.cache.apply(builder)?;
        let refused = |error| refused(&self.name, &error);
        let compiled = builder.compile().map_err(refused)?;
        let instance = first_instance(&compiled);
        let instance = instance.and_then(|plugin| started(plugin, starts));
        let instance = instance.map_err(refused)?;
        Ok(Slot {
            compiled,
            instance: Some(instance),
            starts,
            memory,
            current,
            ear,
            questions,
        })
    }

    fn manifest(&self, memory: Option<u64>) -> Result<Cow<'_, Manifest>, LoadError> {
        let mut manifest = Cow::Borrowed(&self.manifest);
        let pages = options::pages(memory);
        if memory != self.options.memory {
            manifest.to_mut().memory.max_pages = pages;
        }
        let Some(pages) = pages.filter(|_| self.module.runs_at_start()) else {
            return Ok(manifest);
        };
        // One more than calls may have, so that what goes too far in one is told as that.
        let bounded = bound::memories(&self.wasm()?, u64::from(pages) + 1);
        let bounded = bounded.map_err(|error| LoadError::Unreadable {
            servlet: self.name.clone(),
            source: Unreadable::damaged(&error),
        })?;
        manifest.to_mut().wasm = vec![Wasm::data(bounded)];
        Ok(manifest)
    }
}

/// An instance, made where Extism may start its timer.
///
/// Extism does so on the thread that makes the first instance, and tells the timer of every call. It is scheduled as
/// that thread is.
fn first_instance(compiled: &CompiledPlugin) -> Result<Plugin, extism::Error> {
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

impl Slot {
    pub(super) fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// Runs one export and copies its output. The slot comes back if it can be used again.
    pub(super) fn run(
        mut self,
        call: &Arc<Call>,
        job: &Job,
        isolation: Isolation,
    ) -> (Result<Vec<u8>, Stop>, Option<Self>) {
        let mut plugin = match self.instance() {
            Ok(plugin) => plugin,
            Err(error) => return (Err(Stop::Start(format!("{error:#}"))), None),
        };
        if let Err(reason) = call.begin(plugin.cancel_handle()) {
            self.instance = Some(plugin);
            return (Err(Stop::Stopped(reason)), Some(self));
        }
        let run = Run {
            call,
            export: job.export,
            input: &job.input,
        };
        self.ear.set(job.listener.clone());
        self.questions.begin(job.answers.clone());
        let (output, stopped) = run.on(&mut plugin, &self.current);
        let question = self.questions.end();
        self.ear.set(None);
        if stopped.is_some() {
            // The interrupt may still be on its way to the engine, and would hit the next call.
            return (output, None);
        }
        if let Some(question) = question {
            // The instance stands in the middle of its call.
            return (copy(&question, call.limits().output), Some(self));
        }
        // An instance that trapped would go on with its state half changed, and so would one that ended itself by WASI's
        // `proc_exit`, which looks like success.
        let whole = match &output {
            Ok(output) => !output.is_empty(),
            Err(stop) => matches!(stop, Stop::Error(_) | Stop::TooLarge(_)),
        };
        if whole && isolation == Isolation::Shared {
            self.instance = Some(plugin);
        }
        (output, Some(self))
    }

    /// The instance, or a new one.
    fn instance(&mut self) -> Result<Plugin, extism::Error> {
        match self.instance.take() {
            Some(plugin) => Ok(plugin),
            None => started(Plugin::new_from_compiled(&self.compiled)?, self.starts),
        }
    }
}

/// An instance in which what runs at its start has run: it cannot be interrupted as a call can, and has its fuel.
///
/// Extism starts an instance with its first call, whatever that is of.
fn started(mut plugin: Plugin, starts: bool) -> Result<Plugin, extism::Error> {
    if starts
        && let Err(error) = plugin.call::<_, &[u8]>(NOTHING, "")
        && !error.to_string().starts_with("Function not found")
    {
        return Err(error);
    }
    Ok(plugin)
}

/// One run of one export, for which the call has begun.
pub(super) struct Run<'a> {
    pub(super) call: &'a Arc<Call>,
    pub(super) export: &'a str,
    pub(super) input: &'a [u8],
}

impl Run<'_> {
    /// Runs and copies the output; also tells what stopped the run from outside.
    pub(super) fn on(
        self,
        plugin: &mut Plugin,
        current: &Current,
    ) -> (Result<Vec<u8>, Stop>, Option<Reason>) {
        current.set(Some(Arc::clone(self.call)));
        let watch = watchdog::watch(Arc::clone(self.call));
        let output = plugin.call::<_, &[u8]>(self.export, self.input);
        let stopped = self.call.end();
        drop(watch);
        current.set(None);
        let output = match output {
            Ok(output) => copy(output, self.call.limits().output),
            Err(error) => Err(Stop::sort(&error, stopped)),
        };
        (output, stopped)
    }
}

fn copy(output: &[u8], limit: Option<u64>) -> Result<Vec<u8>, Stop> {
    match output.len() as u64 {
        length if limit.is_some_and(|limit| length > limit) => Err(Stop::TooLarge(length)),
        _ => Ok(output.to_vec()),
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
        None if error.root_cause().to_string() == OUT_OF_MEMORY => LoadError::Start {
            servlet,
            message: "it takes more memory than it may".into(),
        },
        None => LoadError::Compile {
            servlet,
            message: format!("{error:#}"),
        },
    }
}
