//! The compiled code of a servlet.
//!
//! A module that was never compiled is compiled by the baseline compiler first. Later its code is replaced by optimized
//! code, which new instances use.

use std::{
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;
use wasmtime::{InstancePre, Module, Result};

use super::{
    HostFunction,
    artifact::{self, Artifacts, Quality},
    compile::{compile, compile_first, within},
    settings::{self, Host, Metering},
};
use crate::{
    error::LoadError,
    inspect::{self, bounds},
    lock::lock,
    options::LoadOptions,
    runtime::RUNTIME,
    state::State,
};

/// How long a servlet is in use before it is compiled again. Most commands that make one call end earlier.
const SOON: Duration = Duration::from_secs(1);

/// The permit to optimize a module.
static TURN: Semaphore = Semaphore::const_new(1);

/// The compiled code of a servlet.
pub(super) struct Code {
    linked: Mutex<InstancePre<State>>,
    /// The SHA-256 digest of the module.
    pub(super) digest: [u8; 32],
    metering: Metering,
    /// The code for instances for which the pool has no room; `None` until it is needed.
    outside_pool: Mutex<Option<InstancePre<State>>>,
    /// What the module can import in addition to the functions of servlets.
    functions: Vec<HostFunction>,
}

/// The source of code.
struct Source {
    name: String,
    wasm: Arc<[u8]>,
    module: inspect::Module,
    digest: [u8; 32],
    artifacts: Artifacts,
    metering: Metering,
}

impl Code {
    /// Loads or compiles a module.
    pub(super) fn load(
        name: &str,
        wasm: &Arc<[u8]>,
        module: &inspect::Module,
        options: &LoadOptions,
        functions: Vec<HostFunction>,
    ) -> Result<Arc<Self>, LoadError> {
        let digest: [u8; 32] = Sha256::digest(wasm).into();
        let source = Source {
            name: name.to_owned(),
            artifacts: Artifacts::open(&options.cache, &digest)?,
            digest,
            wasm: Arc::clone(wasm),
            module: module.clone(),
            metering: if options.counts_fuel() {
                Metering::On
            } else {
                Metering::Off
            },
        };
        let stored = source.stored();
        if stored.is_none() {
            bounds::check_all(wasm).map_err(|source| LoadError::Unreadable {
                servlet: name.to_owned(),
                source,
            })?;
        }
        let code = match stored {
            Some((host, module, quality)) => {
                let code = source.link(host, &module, functions);
                code.map(|code| (code, quality))
            }
            None => Self::compile(&source, options, functions),
        };
        let (code, quality) = code.map_err(|error| LoadError::Compile {
            servlet: name.to_owned(),
            message: format!("{error:#}"),
        })?;
        let code = Arc::new(code);
        if quality != Quality::Optimized {
            let code = Arc::downgrade(&code);
            RUNTIME.spawn(async move {
                tokio::time::sleep(SOON).await;
                // One module at a time, so that calls have a processor, too. Without a turn, nothing is improved.
                let Ok(_turn) = TURN.acquire().await else {
                    return;
                };
                let _ = RUNTIME
                    .spawn_blocking(move || improve(&code, &source))
                    .await;
            });
        }
        Ok(code)
    }

    /// The code for the next instance.
    pub(super) fn get(&self) -> InstancePre<State> {
        lock(&self.linked).clone()
    }

    /// The code for the next instance, if the pool has no room for it.
    pub(super) fn outside_pool(&self) -> Result<InstancePre<State>> {
        // Locked to the end, so that code from before `replace` is not kept after it.
        let mut outside_pool = lock(&self.outside_pool);
        if let Some(linked) = &*outside_pool {
            return Ok(linked.clone());
        }
        let host = settings::outside_pool(self.metering);
        let host = host.ok_or_else(|| wasmtime::Error::msg("there is no engine"))?;
        let code = self.get().module().serialize()?;
        let module = artifact::module(&host.engine, &code)?;
        let linked = host.link(&module, &self.functions)?;
        Ok(outside_pool.insert(linked).clone())
    }

    fn compile(
        source: &Source,
        options: &LoadOptions,
        functions: Vec<HostFunction>,
    ) -> Result<(Self, Quality)> {
        let (wasm, metering) = (Arc::clone(&source.wasm), source.metering);
        let (quality, code) = within(options.compile, move || compile_first(&wasm, metering))?;
        let (host, module) = source.fitting(quality, &code)?;
        source.artifacts.store(&host.engine, quality, &code);
        Ok((source.link(host, &module, functions)?, quality))
    }

    fn replace(&self, source: &Source) -> Result<()> {
        let quality = Quality::Optimized;
        let engine = settings::compiler(quality, source.metering)?;
        let code = compile(&engine, &source.wasm)?;
        let (host, module) = source.fitting(quality, &code)?;
        source.artifacts.store(&host.engine, quality, &code);
        let linked = host.link(&module, &self.functions)?;
        *lock(&self.linked) = linked;
        *lock(&self.outside_pool) = None;
        Ok(())
    }
}

impl Source {
    fn hosts(&self, quality: Quality) -> impl Iterator<Item = &'static Host> + use<> {
        settings::hosts(&self.module, self.metering, quality)
    }

    fn link(&self, host: &Host, module: &Module, functions: Vec<HostFunction>) -> Result<Code> {
        Ok(Code {
            linked: Mutex::new(host.link(module, &functions)?),
            digest: self.digest,
            metering: self.metering,
            outside_pool: Mutex::default(),
            functions,
        })
    }

    /// The best code that was compiled before. The module was checked then.
    fn stored(&self) -> Option<(&'static Host, Module, Quality)> {
        [Quality::Optimized, Quality::Quick, Quality::Baseline]
            .into_iter()
            .find_map(|quality| {
                let mut hosts = self.hosts(quality);
                hosts.find_map(|host| {
                    let module = self.artifacts.load(&host.engine, quality)?;
                    Some((host, module, quality))
                })
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

/// Replaces the code by optimized code, if it is still in use.
fn improve(code: &Weak<Code>, source: &Source) {
    if let Some(code) = code.upgrade()
        && let Err(error) = code.replace(source)
    {
        tracing::warn!(
            servlet = source.name,
            "the servlet stays slow: its code cannot be optimized: {error:#}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::CompileCache;

    fn source(metering: Metering) -> Source {
        let wasm = wat::parse_str("(module (func (export \"call\") (result i32) i32.const 0))");
        let wasm = wasm.expect("valid WebAssembly text");
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

    fn compile(source: &Source) -> (Code, Quality) {
        Code::compile(source, &LoadOptions::default(), Vec::new()).expect("code")
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_baseline_compiler_is_first_unless_fuel_is_counted() {
        let first = |metering| compile(&source(metering)).1;
        assert_eq!(first(Metering::Off), Quality::Baseline);
        assert_eq!(first(Metering::On), Quality::Quick);
    }

    #[test]
    fn optimized_code_replaces_the_code_outside_the_pool() {
        // Code of the baseline compiler has no pool.
        let source = source(Metering::On);
        let (code, _) = compile(&source);
        let outside = || {
            let linked = code.outside_pool().expect("an engine");
            linked.module().serialize().expect("bytes")
        };
        let quick = outside();
        assert!(quick == outside());
        code.replace(&source).expect("optimized code");
        assert!(quick != outside());
    }
}
