//! What belongs to an instance: its servlet, its call, its messages and its limits.

pub(crate) mod limiter;
mod log;
pub(crate) mod messages;
mod streams;
pub(crate) mod variables;

use std::sync::{Arc, Mutex};

use mcp_servlet_common::LogRate;
use mcp_servlet_types::HTTP_ERRORS;
use wasmtime_wasi::{FsPerms, WasiCtxBuilder, p1::WasiP1Ctx};

use crate::{call::Call, http_client::Client, inspect::Module, options::LoadOptions};
use limiter::Limiter;
use messages::Messages;
use streams::{Stream, Streams};
use variables::Variables;

/// The exports that languages use for what runs before everything else.
pub(crate) const INITIALISERS: [&str; 3] = ["hs_init", "__wasm_call_ctors", "_initialize"];

/// What all instances of a servlet share.
pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) options: LoadOptions,
    pub(crate) variables: Variables,
    pub(crate) uses_wasi: bool,
    /// Whether the servlet has one of the [`INITIALISERS`].
    pub(crate) initialises: bool,
    /// Whether the servlet can read why an HTTP request failed. If not, a failure ends the call.
    pub(crate) reads_failures: bool,
    pub(crate) http: Client,
    log_rate: Mutex<LogRate>,
}

impl Shared {
    pub(crate) fn new(name: &str, module: &Module, options: &LoadOptions) -> Self {
        let mut sections = module.sections.iter();
        let mut exports = module
            .exports
            .iter()
            .filter(|export| export.function)
            .map(|export| export.name.as_str());
        let mut options = options.clone();
        options.allowed_hosts = module.needs().allowed_hosts(&options);
        Self {
            name: name.to_owned(),
            variables: Variables::default(),
            uses_wasi: module.uses_wasi(),
            initialises: exports.any(|name| INITIALISERS.contains(&name)),
            reads_failures: sections.any(|section| section.name == HTTP_ERRORS),
            http: Client::new(&options),
            options,
            log_rate: Mutex::default(),
        }
    }
}

/// The state of an instance, which host functions read and change.
pub(crate) struct State {
    pub(crate) shared: Arc<Shared>,
    pub(crate) call: Call,
    pub(crate) messages: Messages,
    pub(crate) limiter: Limiter,
    streams: Streams,
    wasi: Option<WasiP1Ctx>,
}

impl State {
    /// The state of a new instance, for its first call.
    pub(crate) fn new(shared: &Arc<Shared>, call: Call) -> wasmtime::Result<Self> {
        let streams = Streams::default();
        Ok(Self {
            limiter: Limiter::new(call.limits.memory.value(), &call.progress),
            call,
            messages: Messages::default(),
            wasi: shared
                .uses_wasi
                .then(|| wasi(shared, &streams))
                .transpose()?,
            streams,
            shared: Arc::clone(shared),
        })
    }

    /// WASI of the instance. Only functions that a servlet imports ask for it.
    pub(crate) fn wasi(&mut self) -> &mut WasiP1Ctx {
        self.wasi.as_mut().expect("the servlet imports WASI")
    }

    /// Logs incomplete lines. Returns the reason for a failed call, if standard error has one.
    pub(crate) fn end_output(&self) -> Option<String> {
        let reason = self.streams.end(&self.shared);
        self.shared.end_log();
        reason
    }
}

/// Logs incomplete lines of a call that was stopped.
impl Drop for State {
    fn drop(&mut self) {
        self.end_output();
    }
}

fn wasi(shared: &Arc<Shared>, streams: &Streams) -> wasmtime::Result<WasiP1Ctx> {
    let mut wasi = WasiCtxBuilder::new();
    wasi.stdout(Stream::out(shared, streams))
        .stderr(Stream::err(shared, streams));
    for path in &shared.options.allowed_paths {
        let perms = if path.read_only {
            FsPerms::ReadOnly
        } else {
            FsPerms::ReadWrite
        };
        wasi.preopened_dir(&path.host, path.guest.to_string_lossy(), perms)?;
    }
    Ok(wasi.build_p1())
}
