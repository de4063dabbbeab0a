//! A module that is loaded, compiled and ready to run.

mod failure;

use std::{collections::BTreeSet, sync::Arc};

use mcp_servlet_call::{CallError, JsonObject, RequestMeta};
use sha2::{Digest as _, Sha256};

use crate::{
    abi::Abi,
    call::{Job, journal::own_request},
    engine::{self, Pool, Stop},
    error::LoadError,
    inspect::Module,
    options::{Instances, Isolation, LoadOptions},
    runtime::block_on,
    source::{Fetched, Source, check_abi, check_paths, missing_exports, read_module},
};

/// A loaded module. Clones share its instances.
///
/// It can be called from any number of threads and tasks. [`LoadOptions::instances`] limits how
/// many calls run at the same time; the others wait in order.
#[derive(Clone)]
pub struct Guest {
    name: String,
    origin: String,
    image: Option<String>,
    signed_with: BTreeSet<String>,
    module: Module,
    abi: Abi,
    options: LoadOptions,
    code: Code,
}

/// What answers calls.
#[derive(Clone)]
enum Code {
    /// The instances of the module.
    Compiled(Arc<Pool>),
    /// The contract in the module, which is not compiled.
    Contract { wasm: Arc<[u8]> },
}

impl std::fmt::Debug for Guest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guest")
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

impl Guest {
    /// Reads, checks and compiles a module.
    ///
    /// Loading blocks the thread, because it computes: most of its time goes into compiling. In asynchronous code, load on another
    /// thread, for example with [`run_blocking`](crate::run_blocking).
    ///
    /// # Errors
    /// [`LoadError`] says which step failed.
    pub fn load(source: impl Into<Source>, options: &LoadOptions) -> Result<Self, LoadError> {
        Self::from_fetched(source.into().fetch()?, options)
    }

    /// Checks and compiles a module. With [`LoadOptions::from_contract`], a module that has a contract is not compiled.
    ///
    /// # Errors
    /// See [`Guest::load`].
    pub fn from_fetched(fetched: Fetched, options: &LoadOptions) -> Result<Self, LoadError> {
        let Fetched {
            name,
            origin,
            image,
            signed_with,
            wasm,
        } = fetched;
        let module = read_module(&name, &wasm)?;
        let abi = check_abi(&name, &module)?;
        check_paths(&name, &module, options)?;
        let code = if options.from_contract && module.contract().is_some() {
            Code::Contract { wasm: wasm.into() }
        } else {
            Code::Compiled(Pool::new(&name, wasm, &module, options)?)
        };
        Ok(Self {
            name,
            origin,
            image,
            signed_with,
            module,
            abi,
            options: options.clone(),
            code,
        })
    }

    /// The module with its name and origin, to load it again.
    pub fn to_fetched(&self) -> Fetched {
        Fetched {
            name: self.name.clone(),
            origin: self.origin.clone(),
            image: self.image.clone(),
            signed_with: self.signed_with.clone(),
            wasm: self.wasm().to_owned(),
        }
    }

    /// The name in logs and errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file or URL that the module was loaded from, or its name.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The digest of the image, such as `sha256:…`, if the module comes from a registry.
    pub fn image(&self) -> Option<&str> {
        self.image.as_deref()
    }

    /// The fingerprints of the keys that have signed the module, if its source names keys.
    pub fn signed_with(&self) -> &BTreeSet<String> {
        &self.signed_with
    }

    /// The SHA-256 digest of the module.
    pub fn digest(&self) -> [u8; 32] {
        match &self.code {
            Code::Compiled(pool) => pool.digest(),
            Code::Contract { wasm } => Sha256::digest(wasm).into(),
        }
    }

    /// The exports, imports and sections of the module.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The ABI of the servlet.
    pub fn abi(&self) -> Abi {
        self.abi
    }

    /// The options of the servlet.
    pub fn options(&self) -> &LoadOptions {
        &self.options
    }

    /// How many instances the servlet may have.
    pub fn instances(&self) -> Instances {
        self.options.instances_for(&self.module)
    }

    /// What the calls of the servlet share.
    pub fn isolation(&self) -> Isolation {
        self.options.isolation_for(&self.module)
    }

    /// A tool with its own memory limit, if all calls share one instance. Such a limit would need a
    /// second instance.
    pub fn tool_without_memory(&self) -> Option<&str> {
        self.options
            .tool_without_memory(self.instances(), self.isolation())
    }

    /// The error for a module that lacks this export.
    pub fn missing_export(&self, export: &str) -> LoadError {
        missing_exports(&self.name, &self.module, &[export])
    }

    /// A run of an export, within the limits of the servlet.
    pub fn job(&self, export: &'static str, input: Vec<u8>) -> Job {
        Job::new(export, input, self.options.call_limits())
    }

    /// A run that answers a client's request.
    pub fn request(
        &self,
        export: &'static str,
        params: &JsonObject,
        request_meta: &RequestMeta,
    ) -> Job {
        if !self.module.calls_tools() {
            let input = self.abi.request(params, request_meta);
            return self.job(export, input).for_client(request_meta);
        }
        let own = own_request(request_meta);
        let mut job = self
            .job(export, self.abi.request(params, &own))
            .for_client(&own);
        job.request_meta = Some(Box::new(request_meta.clone()));
        job
    }

    /// A run that calls a tool for a client, within the limits of the tool.
    pub fn tool_request(&self, tool: &str, params: &JsonObject, request_meta: &RequestMeta) -> Job {
        let mut job = self.request(self.abi.call_tool(), params, request_meta);
        job.limits = self.options.tool_limits(tool);
        job
    }

    /// Runs an export that lists what the servlet offers, such as `describe`, and blocks the thread until it ends: listing is a
    /// part of [loading](Self::load). It waits for an instance even if the queue is full, so that a busy servlet can list new tools.
    ///
    /// # Errors
    /// [`CallError`].
    pub fn list(&self, export: &'static str) -> Result<Vec<u8>, CallError> {
        let job = self.job(export, self.abi.list_request());
        let limits = job.limits;
        let output = match &self.code {
            Code::Compiled(pool) => block_on(pool.run_here(job)),
            Code::Contract { .. } => self.contract_output(export),
        };
        output.map_err(|stop| self.error(export, &limits, stop))
    }

    /// Runs an export. Dropping the future stops it. It does not block the thread for more than a
    /// moment, however long the export runs. Needs a tokio runtime with timers enabled, or [`block_on`].
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn run(&self, job: Job) -> Result<Vec<u8>, CallError> {
        let (export, limits) = (job.export, job.limits);
        let output = match &self.code {
            Code::Compiled(pool) => pool.run(job).await,
            Code::Contract { .. } => self.contract_output(export),
        };
        output.map_err(|stop| self.error(export, &limits, stop))
    }

    fn wasm(&self) -> &[u8] {
        match &self.code {
            Code::Compiled(pool) => pool.wasm(),
            Code::Contract { wasm } => wasm,
        }
    }

    /// Whether the module is compiled and can be called, and its lists do not just come from its
    /// [contract](LoadOptions::from_contract).
    pub fn is_compiled(&self) -> bool {
        matches!(self.code, Code::Compiled(_))
    }

    /// The output of an export, if the contract has it.
    fn contract_output(&self, export: &str) -> Result<Vec<u8>, Stop> {
        let contract = self.module.contract();
        let output = contract.and_then(|contract| contract.output(export));
        output.map(Vec::from).ok_or_else(|| {
            Stop::Start("it is not compiled, and its contract has no answer".to_owned())
        })
    }

    /// Runs work on a blocking thread, so that it does not delay other tasks.
    ///
    /// # Errors
    /// [`CallErrorKind::Trap`](mcp_servlet_call::CallErrorKind::Trap) if the work panics.
    pub async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, CallError> {
        let outcome = engine::run_blocking(work).await;
        outcome.map_err(|stop| self.error(self.abi.call_tool(), &self.options.call_limits(), stop))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;
    use crate::options::CompileCache;

    #[tokio::test]
    async fn lists_wait_even_if_the_queue_is_full() {
        let wasm = wat::parse_str(
            r#"(module
                (func (export "describe") (result i32) i32.const 0)
                (func (export "call") (result i32) (loop $l (br $l)) unreachable))"#,
        );
        let source = Source::Bytes {
            name: "spins".to_owned(),
            wasm: wasm.expect("valid text"),
        };
        let options = LoadOptions {
            instances: Instances::ONE.into(),
            queue: 0,
            cache: CompileCache::Off,
            ..LoadOptions::default()
        };
        let guest = Guest::load(source, &options).expect("a module");
        let Code::Compiled(pool) = &guest.code else {
            panic!("it is compiled");
        };
        let job = |export| guest.job(export, Vec::new());
        let moment = Duration::from_millis(1);
        let mut running = Box::pin(pool.run(job("call")));
        timeout(moment, &mut running)
            .await
            .expect_err("it takes the only instance");
        let refused = pool.run(job("describe")).await;
        assert!(matches!(refused, Err(Stop::QueueFull(_))), "{refused:?}");
        let mut listing = Box::pin(pool.run_here(job("describe")));
        timeout(moment, &mut listing)
            .await
            .expect_err("it waits for the instance");
        drop(running);
        assert!(listing.await.is_ok_and(|output| output.is_empty()));
    }
}
