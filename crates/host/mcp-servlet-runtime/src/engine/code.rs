//! The compiled code of a servlet.
//!
//! A module that was never compiled is compiled quickly first. Later its code is replaced by optimized code, which new
//! instances use.

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
    compile::{compile, compile_within},
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
            None => Self::compile(&source, options, functions).map(|code| (code, Quality::Quick)),
        };
        let (code, quality) = code.map_err(|error| LoadError::Compile {
            servlet: name.to_owned(),
            message: format!("{error:#}"),
        })?;
        let code = Arc::new(code);
        if quality == Quality::Quick {
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
    ) -> Result<Self> {
        let code = compile_within(
            options.compile,
            settings::compiler(Quality::Quick, source.metering)?,
            Arc::clone(&source.wasm),
        )?;
        let (host, module) = source.fitting(&code)?;
        source.artifacts.store(&host.engine, Quality::Quick, &code);
        source.link(host, &module, functions)
    }

    fn replace(&self, source: &Source) -> Result<()> {
        let engine = settings::compiler(Quality::Optimized, source.metering)?;
        let code = compile(&engine, &source.wasm)?;
        let (host, module) = source.fitting(&code)?;
        source
            .artifacts
            .store(&host.engine, Quality::Optimized, &code);
        let linked = host.link(&module, &self.functions)?;
        *lock(&self.linked) = linked;
        *lock(&self.outside_pool) = None;
        Ok(())
    }
}

impl Source {
    fn hosts(&self) -> impl Iterator<Item = &'static Host> + use<> {
        settings::hosts(&self.module, self.metering)
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
        [Quality::Optimized, Quality::Quick]
            .into_iter()
            .find_map(|quality| {
                let mut hosts = self.hosts();
                hosts.find_map(|host| {
                    let module = self.artifacts.load(&host.engine, quality)?;
                    Some((host, module, quality))
                })
            })
    }

    /// A compiled module in the first engine that it fits.
    fn fitting(&self, code: &[u8]) -> Result<(&'static Host, Module)> {
        let mut last = wasmtime::Error::msg("there is no engine");
        for host in self.hosts() {
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

    #[test]
    fn optimized_code_replaces_the_code_outside_the_pool() {
        let wasm = wat::parse_str("(module (func (export \"call\") (result i32) i32.const 0))");
        let wasm = wasm.expect("valid WebAssembly text");
        let digest: [u8; 32] = Sha256::digest(&wasm).into();
        let source = Source {
            name: "test".to_owned(),
            module: inspect::Module::read(&wasm).expect("a module"),
            artifacts: Artifacts::open(&CompileCache::Off, &digest).expect("no folder"),
            wasm: wasm.into(),
            digest,
            metering: Metering::Off,
        };
        let code = Code::compile(&source, &LoadOptions::default(), Vec::new()).expect("code");
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
