//! The two runtimes, and what a call results in.

use std::{convert::identity, fmt, fs, path::Path};

use extism::{CompiledPlugin, Function, Manifest, Plugin, PluginBuilder, Wasm};
use mcp_servlet_call::{CallError, CallErrorKind, Limit};
use mcp_servlet_runtime::{
    CompileCache, Guest, Instances, Isolation, LoadError, LoadOptions, Quality, Source, block_on,
};
use tempfile::TempDir;

/// What a call results in.
#[derive(Clone)]
pub(crate) enum Outcome {
    Output(Vec<u8>),
    Failed(Class, String),
}

/// The kinds of errors that both runtimes have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The module returned an error, or there is no such export.
    Error,
    /// The module set an error and then trapped.
    Panic,
    /// The module trapped, or a host function failed.
    Trap,
    /// The module sent an HTTP request that is not allowed.
    Denied,
    OutOfMemory,
    Timeout,
}

use Class::{Denied, OutOfMemory, Panic, Timeout, Trap};

/// The code of a module in this runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// The code that the first calls run: from the baseline compiler, or optimised code where that compiler cannot be used.
    First,
    /// The code of later calls.
    Optimized,
    /// The code that counts fuel.
    Metered,
}

impl Code {
    pub(crate) const ALL: [Self; 3] = [Self::First, Self::Optimized, Self::Metered];

    /// The names that the cache gives to this code.
    fn quality(self, has_baseline: bool) -> (Quality, &'static str) {
        match self {
            Self::First if has_baseline => (Quality::Baseline, "baseline"),
            Self::First | Self::Metered => (Quality::Quick, "quick"),
            Self::Optimized => (Quality::Optimized, "optimized"),
        }
    }
}

/// A module in both runtimes.
pub(crate) struct Module {
    wasm: Vec<u8>,
    options: LoadOptions,
    compiled: CompiledPlugin,
    /// The caches of this runtime, one for each [`Code`].
    caches: TempDir,
    /// False if it has a feature that the baseline compiler does not know.
    pub(crate) has_baseline: bool,
    /// Whether its calls recurse without end.
    pub(crate) is_endless: bool,
}

/// A call of an export with an input.
pub(crate) type Call<'a> = (&'static str, &'a [u8]);

impl Module {
    /// Compiles a module for Extism with host functions that this runtime has anyway.
    ///
    /// # Errors
    /// The error of Extism.
    pub(crate) fn compile(
        wasm: &[u8],
        options: &LoadOptions,
        functions: Vec<Function>,
    ) -> Result<Self, extism::Error> {
        let uses_wasi =
            mcp_servlet_runtime::Module::read(wasm).is_ok_and(|module| module.uses_wasi());
        let builder = PluginBuilder::new(manifest(wasm, options))
            .with_wasi(uses_wasi)
            .with_functions(functions)
            .with_http_response_headers(true);
        Ok(Self {
            wasm: wasm.to_owned(),
            options: options.clone(),
            compiled: builder.compile()?,
            caches: tempfile::tempdir()?,
            has_baseline: cfg!(target_arch = "x86_64"),
            is_endless: false,
        })
    }

    /// Makes an instance in Extism.
    ///
    /// # Errors
    /// The outcome of each call, if the start function fails. Extism runs it when it links the module.
    pub(crate) fn plugin(&self) -> Result<Plugin, Outcome> {
        Plugin::new_from_compiled(&self.compiled).map_err(|error| Outcome::of_extism(&error))
    }

    /// Loads the module into this runtime.
    ///
    /// # Errors
    /// The outcome of each call, if the module does not start. The runtime may notice it here or in
    /// the first call.
    pub(crate) fn guest(&self, isolation: Isolation, code: Code) -> Result<Guest, Outcome> {
        let cache = self.caches.path().join(format!("{code:?}"));
        let (quality, name) = code.quality(self.has_baseline);
        let mut options = self.options.clone();
        options.quality = Some(quality);
        options.cache = CompileCache::Directory(cache.clone());
        let fuel = (code == Code::Metered).then_some(Limit::At(u64::MAX));
        options.limits.fuel = fuel.unwrap_or_default();
        options.instances = Instances::ONE.into();
        options.isolation = Some(isolation);
        let guest = load(&self.wasm, &options).map_err(|error| match error {
            LoadError::Start { message, .. } => Outcome::Failed(Trap, message),
            error => panic!("cannot load the module, {code:?}: {error:?}"),
        });
        assert_eq!(files(&cache), [name], "{code:?}");
        guest
    }

    /// Makes these calls in one instance of Extism, and in one with each code of this runtime. Returns what they
    /// result in.
    pub(crate) fn in_one_instance(&self, calls: &[Call<'_>]) -> Vec<Outcome> {
        let plugin = self.plugin();
        let mut plugin = plugin.expect("Extism links it");
        let guests = Code::ALL.map(|code| {
            let guest = self.guest(Isolation::Shared, code);
            (code, guest.expect("the module starts"))
        });
        let all = |(export, input): &Call<'_>| {
            let theirs = in_extism(&mut plugin, export, input);
            for (code, guest) in &guests {
                let ours = in_ours(guest, export, input);
                self.compare(*code, export, input, &theirs, &ours);
            }
            theirs
        };
        calls.iter().map(all).collect()
    }

    /// Makes each of these calls in a new instance of Extism, and in one with each code of this runtime. Returns what
    /// they result in.
    pub(crate) fn in_new_instances(&self, calls: &[Call<'_>]) -> Vec<Outcome> {
        let guests = Code::ALL.map(|code| (code, self.guest(Isolation::Call, code)));
        let all = |(export, input): &Call<'_>| {
            let plugin = self.plugin();
            let theirs =
                plugin.map_or_else(identity, |mut plugin| in_extism(&mut plugin, export, input));
            for (code, guest) in &guests {
                let ours = match guest {
                    Ok(guest) => in_ours(guest, export, input),
                    Err(outcome) => outcome.clone(),
                };
                self.compare(*code, export, input, &theirs, &ours);
            }
            theirs
        };
        calls.iter().map(all).collect()
    }

    /// # Panics
    ///
    /// If the outcomes differ.
    fn compare(&self, code: Code, export: &str, input: &[u8], extism: &Outcome, ours: &Outcome) {
        let input = String::from_utf8_lossy(&input[..input.len().min(80)]);
        let is_same = extism.is(ours)
            || (self.is_endless && code == Code::Metered && extism.is_full_stack(ours));
        assert!(
            is_same,
            "`{export}` with {input:?}, {code:?}\nextism: {extism:?}\n  ours: {ours:?}"
        );
    }
}

/// The kinds of code in a cache.
fn files(cache: &Path) -> Vec<String> {
    let files = fs::read_dir(cache.join("modules")).expect("a folder");
    let names = files.map(|file| file.expect("a file").file_name());
    let kinds = names.map(|name| {
        let name = name.to_string_lossy();
        name.rsplit('.').next().unwrap_or_default().to_owned()
    });
    kinds.collect()
}

/// Loads a module into this runtime.
pub(crate) fn load(wasm: &[u8], options: &LoadOptions) -> Result<Guest, LoadError> {
    let source = Source::Bytes {
        name: "module".to_owned(),
        wasm: wasm.to_owned(),
    };
    Guest::load(source, options)
}

/// The manifest with the same limits as these options.
fn manifest(wasm: &[u8], options: &LoadOptions) -> Manifest {
    const PAGE: u64 = 65_536;
    let mut manifest = Manifest::new([Wasm::data(wasm)])
        .with_config(options.config.clone().into_iter())
        .with_allowed_hosts([].into_iter());
    manifest.memory.max_pages = options
        .call_limits()
        .memory
        .value()
        .map(|memory| u32::try_from(memory / PAGE).expect("a memory limit of wasm32"));
    manifest.memory.max_var_bytes = Some(options.vars);
    manifest.timeout_ms = options
        .call_limits()
        .timeout
        .value()
        .map(|timeout| u64::try_from(timeout.as_millis()).expect("a short time"));
    manifest
}

pub(crate) fn in_extism(plugin: &mut Plugin, export: &str, input: &[u8]) -> Outcome {
    match plugin.call::<_, &[u8]>(export, input) {
        Ok(output) => Outcome::Output(output.to_vec()),
        Err(error) => Outcome::of_extism(&error),
    }
}

/// The class of an error of Extism, which has one type for all errors.
fn class(error: &extism::Error, text: &str) -> Class {
    match text {
        "oom" => OutOfMemory,
        "timeout" => Timeout,
        _ if text.ends_with("is not allowed") => Denied,
        // Extism adds the trap to the error that the module has set.
        _ if error.is::<extism_wasmtime::Error>() => Panic,
        // A trap outside of any function has no backtrace.
        _ if error.is::<extism_wasmtime::Trap>() || error.chain().count() > 1 => Trap,
        _ => Class::Error,
    }
}

pub(crate) fn in_ours(guest: &Guest, export: &'static str, input: &[u8]) -> Outcome {
    match block_on(guest.run(guest.job(export, input.to_owned()))) {
        Ok(output) => Outcome::Output(output),
        Err(CallError { kind, .. }) => Outcome::of(kind),
    }
}

impl Outcome {
    fn of_extism(error: &extism::Error) -> Self {
        let text = error.root_cause().to_string();
        Self::Failed(class(error, &text), text)
    }

    fn of(kind: CallErrorKind) -> Self {
        match kind {
            CallErrorKind::Fault { fault } => Self::Failed(Class::Error, fault.message),
            CallErrorKind::Panic { message } => Self::Failed(Panic, message),
            CallErrorKind::Trap { message } | CallErrorKind::Start { message } => {
                Self::Failed(Trap, message)
            }
            CallErrorKind::HostDenied { .. } => Self::Failed(Denied, String::new()),
            CallErrorKind::OutOfMemory { .. } => Self::Failed(OutOfMemory, String::new()),
            CallErrorKind::Timeout { .. } => Self::Failed(Timeout, String::new()),
            kind => panic!("unexpected error: {kind:?}"),
        }
    }

    /// Whether a recursion has filled the module's own stack in Extism, and the stack of the processor here. Unoptimised code
    /// has larger frames, so the second stack is full first.
    fn is_full_stack(&self, ours: &Self) -> bool {
        let (Self::Failed(Trap, theirs), Self::Failed(Trap, ours)) = (self, ours) else {
            return false;
        };
        theirs == "wasm trap: out of bounds memory access"
            && ours.starts_with("wasm trap: call stack exhausted")
    }

    /// Whether this outcome in Extism and the other one in this runtime are the same.
    pub(crate) fn is(&self, ours: &Self) -> bool {
        match (self, ours) {
            (Self::Output(theirs), Self::Output(ours)) => theirs == ours,
            (Self::Failed(class, theirs), Self::Failed(other, ours)) if class == other => {
                matches!(class, Denied | OutOfMemory | Timeout) || is_text(theirs, ours)
            }
            // In Extism, an error that the module has set hides the limit that stopped it.
            (Self::Failed(Class::Error | Panic, _), Self::Failed(Denied | OutOfMemory, _)) => true,
            _ => false,
        }
    }
}

/// Whether these texts are the same, except for what this runtime adds or reads from it.
fn is_text(theirs: &str, ours: &str) -> bool {
    let theirs = match theirs.rsplit_once("\nmcp-fault: ") {
        Some((text, _)) => text,
        None => theirs,
    };
    // Errors are cut after 64 KiB.
    let theirs = &theirs[..theirs.floor_char_boundary(64 << 10)];
    let rest = ours.strip_prefix(theirs);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '…']))
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output(output) if output.len() > 4_000 => write!(f, "{} bytes", output.len()),
            Self::Output(output) => match std::str::from_utf8(output) {
                Ok(text) if !text.contains('\0') => write!(f, "{text:?}"),
                _ => write!(f, "{output:x?}"),
            },
            Self::Failed(class, text) => write!(f, "{class:?}: {text}"),
        }
    }
}
