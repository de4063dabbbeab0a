//! The instances of one servlet and the queue in front of them.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use mcp_servlet_call::Usage;
use mcp_servlet_common::lock;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

use super::{
    Stop,
    instance::Instance,
    runner::{Done, Run, Runner},
    schedule::{self, Slice},
};
use crate::{
    call::{Call, Job},
    error::LoadError,
    inspect::Module,
    options::{Instances, Isolation, LoadOptions},
    runtime,
};

/// The instances of one servlet.
///
/// The number of permits limits how many calls run. Each call takes the most recently used idle
/// instance, or a new one. So the other instances stay idle and can expire.
pub(crate) struct Pool {
    runner: Runner,
    wasm: Bytes,
    instances: Instances,
    isolation: Isolation,
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    /// The most recently used instance is the last one.
    instances: Vec<IdleInstance>,
    /// Whether a task waits until instances expire.
    is_watched: bool,
}

/// An idle instance.
struct IdleInstance {
    instance: Instance,
    since: Instant,
    /// The memory limit of the instance in bytes.
    memory: Option<u64>,
}

impl IdleInstance {
    /// When it has been idle for this long. `None` if that is too far away.
    fn expires(&self, limit: Duration) -> Option<Instant> {
        self.since.checked_add(limit)
    }
}

/// A running job.
type Execution = Pin<Box<dyn Future<Output = Result<Vec<u8>, Stop>> + Send>>;

/// Counts a call as waiting until dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Pool {
    /// Loads or compiles a module.
    pub(crate) fn new(
        name: &str,
        wasm: Vec<u8>,
        module: &Module,
        options: &LoadOptions,
    ) -> Result<Arc<Self>, LoadError> {
        let wasm = wasm.into();
        let instances = options.instances_for(module);
        Ok(Arc::new(Self {
            runner: Runner::load(name, &wasm, module, options, Vec::new())?,
            wasm,
            instances,
            isolation: options.isolation_for(module),
            permits: Arc::new(Semaphore::new(instances.max.min(Semaphore::MAX_PERMITS))),
            waiting: AtomicUsize::new(0),
            idle: Mutex::default(),
        }))
    }

    /// The bytes of the module.
    pub(crate) fn wasm(&self) -> &[u8] {
        &self.wasm
    }

    /// The SHA-256 digest of the module.
    pub(crate) fn digest(&self) -> [u8; 32] {
        self.runner.digest()
    }

    /// Runs a job on the thread that polls it. It waits for an instance even if the queue is full.
    pub(crate) async fn run_here(self: &Arc<Self>, job: Job) -> Result<Vec<u8>, Stop> {
        let run = async {
            let permit = self.permit().await;
            self.execute(job, permit, &Slice::default()).await
        };
        // Boxed, because the future is large.
        Box::pin(schedule::run_here(run)).await?
    }

    /// Runs a job. Dropping the future stops this job and no other.
    pub(crate) async fn run(self: &Arc<Self>, job: Job) -> Result<Vec<u8>, Stop> {
        let permit = self.admit().await?;
        let slice = Slice::default();
        let run = self.execute_boxed(job, permit, slice.clone());
        schedule::run(run, slice).await?
    }

    /// A job as a trait object, so that crates that await it do not compile the code for instances again.
    fn execute_boxed(
        self: &Arc<Self>,
        job: Job,
        permit: OwnedSemaphorePermit,
        slice: Slice,
    ) -> Execution {
        let pool = Arc::clone(self);
        Box::pin(async move { pool.execute(job, permit, &slice).await })
    }

    async fn execute(
        self: &Arc<Self>,
        job: Job,
        _permit: OwnedSemaphorePermit,
        slice: &Slice,
    ) -> Result<Vec<u8>, Stop> {
        let memory = job.limits.memory.value();
        let call = Call::of(&job);
        let progress = Arc::clone(&call.progress);
        let run = Run {
            export: job.export,
            input: &job.input,
            call,
            instance: self.take_idle(memory),
        };
        let begin = Instant::now();
        let Done {
            output,
            instance,
            fuel,
        } = self.runner.run(run, slice).await;
        let mut usage = Usage::default();
        usage.time = begin.elapsed();
        usage.memory = progress.memory();
        usage.fuel = fuel;
        usage.input = job.input.len() as u64;
        usage.output = output.as_ref().map_or(0, |output| output.len() as u64);
        tracing::debug!(?usage, "the servlet ran");
        if let Some(listener) = &job.listener {
            listener.ended(&usage);
        }
        if let Some(instance) = instance.filter(|_| self.isolation == Isolation::Shared) {
            self.put_back(IdleInstance {
                instance,
                since: Instant::now(),
                memory,
            });
        }
        output
    }

    async fn admit(&self) -> Result<OwnedSemaphorePermit, Stop> {
        let _waiting = match self.try_admit()? {
            Ok(permit) => return Ok(permit),
            Err(waiting) => waiting,
        };
        let Some(limit) = self.runner.shared.options.wait else {
            return Ok(self.permit().await);
        };
        let permit = tokio::time::timeout(limit, self.permit()).await;
        permit.map_err(|_| Stop::Waited(limit))
    }

    /// A permit if one is free, or else a place in the queue. An error means that the queue is full.
    fn try_admit(&self) -> Result<Result<OwnedSemaphorePermit, Waiting<'_>>, Stop> {
        match Arc::clone(&self.permits).try_acquire_owned() {
            Ok(permit) => return Ok(Ok(permit)),
            Err(TryAcquireError::Closed | TryAcquireError::NoPermits) => {}
        }
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let waiting = Waiting(&self.waiting);
        if before >= self.runner.shared.options.queue {
            return Err(Stop::QueueFull(before));
        }
        Ok(Err(waiting))
    }

    async fn permit(&self) -> OwnedSemaphorePermit {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        permit.expect("the semaphore is never closed")
    }

    /// Takes an idle instance with this memory limit. If there is none and the pool is full, the
    /// oldest idle instance is dropped.
    fn take_idle(&self, memory: Option<u64>) -> Option<Instance> {
        let mut idle = lock(&self.idle);
        if let Some(at) = idle
            .instances
            .iter()
            .rposition(|kept| kept.memory == memory)
        {
            return Some(idle.instances.remove(at).instance);
        }
        let is_full = self.running() + idle.instances.len() > self.instances.max;
        let _eldest = is_full.then(|| idle.instances.remove(0));
        // Unlock first: freeing the memory of an instance takes time, and no call should wait for it.
        drop(idle);
        None
    }

    /// How many calls run.
    fn running(&self) -> usize {
        let free = self.permits.available_permits();
        self.instances.max.saturating_sub(free)
    }

    fn put_back(self: &Arc<Self>, kept: IdleInstance) {
        let mut idle = lock(&self.idle);
        idle.instances.push(kept);
        // The call of this instance still counts as running.
        let instances = self.running().saturating_sub(1) + idle.instances.len();
        if idle.is_watched || self.instances.idle.is_none() || instances <= self.instances.min {
            return;
        }
        idle.is_watched = true;
        drop(idle);
        runtime::spawn(watch(Arc::downgrade(self)));
    }

    /// Drops instances that were idle for too long. Returns when to check again, if instances can expire until the next
    /// call ends.
    fn evict(&self, now: Instant) -> Option<Instant> {
        let limit = self.instances.idle?;
        let mut idle = lock(&self.idle);
        let spare = (self.running() + idle.instances.len()).saturating_sub(self.instances.min);
        let kept = idle.instances.iter();
        let too_long = kept
            .take_while(|kept| kept.expires(limit).is_some_and(|at| at <= now))
            .count();
        let expired: Vec<_> = idle.instances.drain(..too_long.min(spare)).collect();
        let next = (too_long < spare)
            .then(|| idle.instances.first().and_then(|kept| kept.expires(limit)))
            .flatten();
        idle.is_watched = next.is_some();
        drop(idle);
        drop(expired);
        next
    }
}

/// Drops idle instances of a pool until there are none to drop.
async fn watch(pool: Weak<Pool>) {
    while let Some(next) = pool.upgrade().and_then(|pool| pool.evict(Instant::now())) {
        tokio::time::sleep_until(next.into()).await;
    }
}
