//! Runs exports of a servlet in instances, each within the limits of its call.

use std::{pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::time::timeout;

use super::{
    HostFunction, Stop,
    code::Code,
    instance::{Ended, Instance},
    schedule::Slice,
};
use crate::{
    call::{Call, Progress},
    error::LoadError,
    inspect::Module,
    options::LoadOptions,
    state::Shared,
};

/// The code of a servlet, and what its instances share.
#[derive(Clone)]
pub(super) struct Runner {
    code: Arc<Code>,
    pub(super) shared: Arc<Shared>,
}

/// How a run ended.
pub(super) struct Done {
    pub(super) output: Result<Vec<u8>, Stop>,
    /// The instance, if it can run another export.
    pub(super) instance: Option<Instance>,
    /// The fuel that the call took. `None` if it was not counted, or if the call did not end by itself.
    pub(super) fuel: Option<u64>,
}

impl From<Stop> for Done {
    fn from(stop: Stop) -> Self {
        Self {
            output: Err(stop),
            instance: None,
            fuel: None,
        }
    }
}

/// A run of an export.
pub(super) struct Run<'a> {
    pub(super) export: &'a str,
    pub(super) input: &'a [u8],
    pub(super) call: Call,
    /// The instance that runs it; `None` makes a new one.
    pub(super) instance: Option<Instance>,
}

impl Runner {
    /// Loads or compiles a module.
    pub(super) fn load(
        name: &str,
        wasm: &Bytes,
        module: &Module,
        options: &LoadOptions,
        functions: Vec<HostFunction>,
    ) -> Result<Self, LoadError> {
        Ok(Self {
            code: Code::load(name, wasm, module, options, functions)?,
            shared: Arc::new(Shared::new(name, module, options)),
        })
    }

    /// The SHA-256 digest of the module.
    pub(super) fn digest(&self) -> [u8; 32] {
        self.code.digest
    }

    /// Runs an export within the limits of its call. A new instance starts as a part of the call.
    pub(super) async fn run(&self, run: Run<'_>, slice: &Slice) -> Done {
        let progress = Arc::clone(&run.call.progress);
        let limit = run.call.limits.timeout.value();
        // Pinned here, because each wrapper would contain the future once more.
        let run = pin!(self.run_to_the_end(run, slice, &progress));
        let Some(limit) = limit else {
            return run.await;
        };
        let done = timeout(limit, run).await;
        done.unwrap_or_else(|_| late(limit, &progress).into())
    }

    async fn run_to_the_end(&self, run: Run<'_>, slice: &Slice, progress: &Progress) -> Done {
        let mut instance = match run.instance {
            Some(mut instance) => {
                instance.begin(run.call, slice);
                instance
            }
            None => match Instance::start(&self.code, &self.shared, run.call, slice).await {
                Ok(instance) => instance,
                Err(stop) => return stop.into(),
            },
        };
        progress.start();
        let Ended { output, is_whole } = instance.call(run.export, run.input).await;
        let fuel = instance.fuel();
        Done {
            output,
            instance: is_whole.then_some(instance),
            fuel,
        }
    }
}

fn late(limit: Duration, progress: &Progress) -> Stop {
    let stop = Stop::Deadline(limit);
    if progress.has_started() {
        stop
    } else {
        stop.at_start()
    }
}
