//! The compiled code of a servlet.
//!
//! A module that was never compiled is compiled by the baseline compiler first. Later its code is replaced by optimized
//! code, which new instances use.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, Weak},
    time::Duration,
};

use bytes::Bytes;
use mcp_servlet_common::lock;
use sha2::{Digest as _, Sha256};
use tokio::{sync::Semaphore, time::timeout};
use wasmtime::{Engine, InstancePre, Module, Result};

use super::{
    HostFunction,
    artifact::{self, Artifacts},
    compile::{catch_panic, compile, compile_first, within},
    settings::{self, Host, Metering},
};
use crate::{
    error::LoadError,
    inspect::{self, bounds},
    options::{LoadOptions, Quality},
    runtime::{self, RUNTIME},
    state::State,
};

/// How long a servlet is in use before it is compiled again. Most commands that make one call end earlier.
const OPTIMIZE_AFTER: Duration = Duration::from_secs(1);

/// The order in which stored code is tried.
const BEST_FIRST: [Quality; 3] = [Quality::Optimized, Quality::Quick, Quality::Baseline];

/// The permit to optimize a module.
static TURN: Semaphore = Semaphore::const_new(1);

/// The code that is in use.
static IN_USE: LazyLock<Mutex<HashMap<Key, Vec<Weak<Code>>>>> = LazyLock::new(Mutex::default);

/// Servlets with the same key can share a compiled module.
type Key = ([u8; 32], Metering);

/// The compiled code of a servlet.
pub(super) struct Code {
    linked: Mutex<Linked>,
    /// The SHA-256 digest of the module.
    pub(super) digest: [u8; 32],
    metering: Metering,
    /// The code for instances for which the pool has no room; `None` until it is needed.
    outside_pool: Mutex<Option<InstancePre<State>>>,
    /// What the module can import in addition to the functions of servlets.
    functions: Vec<HostFunction>,
}

/// A compiled module, linked with the functions that it imports.
struct Linked {
    host: &'static Host,
    quality: Quality,
    instance_pre: InstancePre<State>,
}

/// The source of code.
struct Source {
    name: String,
    wasm: Bytes,
    module: inspect::Module,
    digest: [u8; 32],
    artifacts: Artifacts,
    metering: Metering,
}

impl Code {
    /// Loads or compiles a module.
    pub(super) fn load(
        name: &str,
        wasm: &Bytes,
        module: &inspect::Module,
        options: &LoadOptions,
        functions: Vec<HostFunction>,
    ) -> Result<Arc<Self>, LoadError> {
        let digest: [u8; 32] = Sha256::digest(wasm).into();
        let source = Source {
            name: name.to_owned(),
            artifacts: Artifacts::open(&options.cache, &digest)?,
            digest,
            wasm: wasm.clone(),
            module: module.clone(),
            metering: if options.counts_fuel() {
                Metering::On
            } else {
                Metering::Off
            },
        };
        let stored = match options.quality {
            Some(quality) => source.stored(&[quality]),
            None => source.in_use().or_else(|| source.stored(&BEST_FIRST)),
        };
        if stored.is_none() {
            bounds::check_all(wasm).map_err(|source| LoadError::Unreadable {
                servlet: name.to_owned(),
                source,
            })?;
        }
        let code = match stored {
            Some((host, module, quality)) => source.link(host, quality, &module, functions),
            None => Self::compile(&source, options, functions),
        }
        .map_err(|error| LoadError::Compile {
            servlet: name.to_owned(),
            message: format!("{error:#}"),
        })?;
        let code = Arc::new(code);
        source.share(&code);
        if options.quality.is_none() && code.quality() != Quality::Optimized {
            let (code, limit) = (Arc::downgrade(&code), options.compile);
            runtime::spawn(async move {
                tokio::time::sleep(OPTIMIZE_AFTER).await;
                in_turn(limit, move || improve(&code, &source)).await;
            });
        }
        Ok(code)
    }

    /// The code for the next instance.
    pub(super) fn get(&self) -> InstancePre<State> {
        lock(&self.linked).instance_pre.clone()
    }

    fn quality(&self) -> Quality {
        lock(&self.linked).quality
    }

    /// The code for the next instance, if the pool has no room for it.
    pub(super) fn outside_pool(&self) -> Result<InstancePre<State>> {
        // Locked to the end, so that code from before `replace` is not kept after it.
        let mut outside_pool = lock(&self.outside_pool);
        if let Some(linked) = &*outside_pool {
            return Ok(linked.clone());
        }
        let host = settings::outside_pool(self.metering, Quality::Optimized)
            .ok_or_else(|| wasmtime::Error::msg("there is no engine"))?;
        let code = self.get().module().serialize()?;
        let module = artifact::module(&host.engine, &code)?;
        let linked = host.link(&module, &self.functions)?;
        Ok(outside_pool.insert(linked).clone())
    }

    fn compile(
        source: &Source,
        options: &LoadOptions,
        functions: Vec<HostFunction>,
    ) -> Result<Self> {
        let (wasm, metering) = (source.wasm.clone(), source.metering);
        let quality = options.quality;
        let first = move || compile_first(&wasm, metering, quality);
        let (quality, code) = within(options.compile, first)?;
        let (host, module) = source.fitting(quality, &code)?;
        source.store(quality, &code);
        source.link(host, quality, &module, functions)
    }

    fn replace(&self, source: &Source) -> Result<()> {
        let quality = Quality::Optimized;
        let engine = settings::compiler(quality, source.metering)?;
        let code = compile(&engine, &source.wasm)?;
        let (host, module) = source.fitting(quality, &code)?;
        source.store(quality, &code);
        *lock(&self.linked) = Linked::new(host, quality, &module, &self.functions)?;
        *lock(&self.outside_pool) = None;
        Ok(())
    }
}

impl Source {
    fn hosts(&self, quality: Quality) -> impl Iterator<Item = &'static Host> + use<> {
        settings::hosts(&self.module, self.metering, quality)
    }

    /// The engine whose settings are in the names of the files for code of this quality. It has no pool.
    fn engine(&self, quality: Quality) -> Option<&'static Engine> {
        settings::outside_pool(self.metering, quality).map(|host| &host.engine)
    }

    fn store(&self, quality: Quality, code: &[u8]) {
        if let Some(engine) = self.engine(quality) {
            self.artifacts.store(engine, quality, code);
        }
    }

    fn link(
        &self,
        host: &'static Host,
        quality: Quality,
        module: &Module,
        functions: Vec<HostFunction>,
    ) -> Result<Code> {
        Ok(Code {
            linked: Mutex::new(Linked::new(host, quality, module, &functions)?),
            digest: self.digest,
            metering: self.metering,
            outside_pool: Mutex::default(),
            functions,
        })
    }

    fn key(&self) -> Key {
        (self.digest, self.metering)
    }

    /// Lets servlets that are loaded from now on share the module of this code.
    fn share(&self, code: &Arc<Code>) {
        let mut in_use = lock(&IN_USE);
        in_use.retain(|_, codes| {
            codes.retain(|code| code.strong_count() > 0);
            !codes.is_empty()
        });
        let codes = in_use.entry(self.key()).or_default();
        codes.push(Arc::downgrade(code));
    }

    /// The optimized code of another servlet with this module, such as the previous version of one that is loaded with another
    /// configuration. The pool keeps memory for each compiled module, so a new one would not use what the previous one left.
    fn in_use(&self) -> Option<(&'static Host, Module, Quality)> {
        let in_use = lock(&IN_USE);
        let mut codes = in_use.get(&self.key())?.iter().filter_map(Weak::upgrade);
        codes.find_map(|code| {
            let linked = lock(&code.linked);
            let module = linked.instance_pre.module().clone();
            (linked.quality == Quality::Optimized).then_some((linked.host, module, linked.quality))
        })
    }

    /// The first of these kinds of code that was compiled before. The module was checked then.
    fn stored(&self, qualities: &[Quality]) -> Option<(&'static Host, Module, Quality)> {
        qualities.iter().find_map(|&quality| {
            // The file comes first: creating the engine with the pool takes more than a millisecond.
            let file = self.artifacts.find(self.engine(quality)?, quality)?;
            let mut hosts = self.hosts(quality);
            hosts.find_map(|host| Some((host, file.load(&host.engine)?, quality)))
        })
    }

    /// A compiled module in the first engine that it fits.
    fn fitting(&self, quality: Quality, code: &[u8]) -> Result<(&'static Host, Module)> {
        let mut last = wasmtime::Error::msg("there is no engine");
        for host in self.hosts(quality) {
            match artifact::module(&host.engine, code) {
                Ok(module) => return Ok((host, module)),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

impl Linked {
    fn new(
        host: &'static Host,
        quality: Quality,
        module: &Module,
        functions: &[HostFunction],
    ) -> Result<Self> {
        Ok(Self {
            host,
            quality,
            instance_pre: host.link(module, functions)?,
        })
    }
}

/// Compiles one module after the other, so that calls have a processor, too.
///
/// A compiler cannot be stopped, and [`bounds`] refuses modules for which it takes more than minutes. So after the time limit its
/// code is still used, but the next module no longer waits for it.
async fn in_turn(limit: Option<Duration>, compile: impl FnOnce() + Send + 'static) {
    // Nothing closes the semaphore.
    let Ok(_turn) = TURN.acquire().await else {
        return;
    };
    let compiling = RUNTIME.spawn_blocking(compile);
    // `compile` logs its own failures.
    let _ = timeout(limit.unwrap_or(Duration::MAX), compiling).await;
}

/// Replaces the code by optimized code, if it is still in use.
fn improve(code: &Weak<Code>, source: &Source) {
    if let Some(code) = code.upgrade() {
        log_failure(&source.name, || code.replace(source));
    }
}

/// Compiles, and logs why that fails, even if the compiler panics.
fn log_failure(servlet: &str, compile: impl FnOnce() -> Result<()>) {
    if let Err(error) = catch_panic(compile) {
        tracing::warn!(
            servlet,
            "the servlet stays slow: its code cannot be optimized: {error:#}"
        );
    }
}

#[cfg(test)]
mod tests {
    use std::{io, sync::mpsc::channel};

    use mcp_servlet_call::Limit;

    use super::*;
    use crate::options::CompileCache;

    fn source(metering: Metering) -> Source {
        let wasm = wat::parse_str("(module (func (export \"call\") (result i32) i32.const 0))")
            .expect("valid WebAssembly text");
        let digest: [u8; 32] = Sha256::digest(&wasm).into();
        Source {
            name: "test".to_owned(),
            module: inspect::Module::read(&wasm).expect("a module"),
            artifacts: Artifacts::open(&CompileCache::Off, &digest).expect("no folder"),
            wasm: wasm.into(),
            digest,
            metering,
        }
    }

    fn compile(source: &Source) -> Code {
        Code::compile(source, &LoadOptions::default(), Vec::new()).expect("code")
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_baseline_compiler_is_first_unless_fuel_is_counted() {
        let first = |metering| compile(&source(metering)).quality();
        assert_eq!(first(Metering::Off), Quality::Baseline);
        assert_eq!(first(Metering::On), Quality::Quick);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn tests_can_ask_for_a_quality() {
        let source = source(Metering::Off);
        let folder = tempfile::tempdir().expect("a folder");
        let mut options = LoadOptions {
            cache: CompileCache::Directory(folder.path().to_owned()),
            ..LoadOptions::default()
        };
        let load = |options: &LoadOptions| {
            Code::load("test", &source.wasm, &source.module, options, Vec::new())
        };
        // All of them are in the cache the second time.
        for quality in [BEST_FIRST, BEST_FIRST].concat() {
            options.quality = Some(quality);
            assert_eq!(load(&options).expect("code").quality(), quality);
        }
        options.quality = Some(Quality::Baseline);
        options.limits.fuel = Limit::At(1);
        let error = load(&options).map(drop).expect_err("it counts no fuel");
        assert!(error.to_string().contains("no baseline"), "{error}");
    }

    #[test]
    fn a_compiler_that_takes_long_does_not_hold_up_the_next_one() {
        let (end, ended) = channel::<()>();
        let (next, is_next) = channel();
        let turns = async {
            let slow = move || assert!(ended.recv().is_err());
            in_turn(Some(Duration::from_millis(10)), slow).await;
            in_turn(None, move || next.send(()).expect("a receiver")).await;
        };
        let turns = RUNTIME.block_on(async { timeout(Duration::from_mins(1), turns).await });
        turns.expect("the first turn ends");
        is_next.try_recv().expect("the next one had its turn");
        drop(end);
    }

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            lock(&self.0).extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_log_says_why_code_is_not_optimized() {
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone());
        tracing::subscriber::with_default(subscriber.with_ansi(false).finish(), || {
            log_failure("one", || panic!("a bug of the compiler"));
            log_failure("two", || Err(wasmtime::Error::msg("too large")));
            log_failure("three", || Ok(()));
        });
        let log = String::from_utf8(lock(&log.0).clone()).expect("text");
        let lines: Vec<_> = log.lines().collect();
        let [panic, failure] = lines[..] else {
            panic!("{log}");
        };
        assert!(
            panic.ends_with("cannot be optimized: the compiler panicked servlet=\"one\""),
            "{log}"
        );
        assert!(
            failure.ends_with("cannot be optimized: too large servlet=\"two\""),
            "{log}"
        );
    }

    #[test]
    fn servlets_with_the_same_module_share_its_optimized_code() {
        let source = source(Metering::On);
        let code = Arc::new(compile(&source));
        source.share(&code);
        assert!(source.in_use().is_none(), "it is not optimized yet");
        code.replace(&source).expect("optimized code");
        let (_, module, quality) = source.in_use().expect("the module");
        assert_eq!(quality, Quality::Optimized);
        assert_eq!(module.image_range(), code.get().module().image_range());
        let other = Arc::new(compile(&source));
        source.share(&other);
        assert!(source.in_use().is_some(), "the first one is still in use");
        drop(other);
        assert!(source.in_use().is_some(), "the first one is still in use");
        drop(code);
        assert!(source.in_use().is_none(), "it is not in use any more");
    }

    #[test]
    fn optimized_code_replaces_the_code_outside_the_pool() {
        // Code of the baseline compiler has no pool.
        let source = source(Metering::On);
        let code = compile(&source);
        let outside = || {
            let linked = code.outside_pool().expect("an engine");
            linked.module().serialize().expect("bytes")
        };
        let quick = outside();
        assert_eq!(quick, outside());
        code.replace(&source).expect("optimized code");
        assert_ne!(quick, outside());
    }
}
