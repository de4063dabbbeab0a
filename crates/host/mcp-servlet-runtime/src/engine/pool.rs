//! The instances of one servlet and the queue in front of them.

use std::{
    borrow::Cow,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError, oneshot};
use tracing::dispatcher::{self, Dispatch};

use super::{
    Stop,
    slot::{Factory, Slot},
    threads,
};
use crate::{
    call::{
        Call, Place, Reason,
        watchdog::{self, Garbage},
    },
    error::LoadError,
    inspect::Module,
    json::JsonObject,
    listener::Listener,
    lock::lock,
    options::{Instances, Limits, LoadOptions},
    request_meta::RequestMeta,
    text::chain,
};

/// A bug in this crate.
const BROKEN: &str = "the host panicked during the call; its standard error says where";

/// A run of an export, with its input and its limits.
#[derive(Clone, Debug)]
pub struct Job {
    /// The export to run.
    pub export: &'static str,
    /// Its input.
    pub input: Vec<u8>,
    /// Its limits.
    pub limits: Limits,
    /// Receives the notifications of the run.
    pub listener: Option<Arc<dyn Listener>>,
    /// The client's answers to input requests so far; `None` if there is no client.
    pub answers: Option<JsonObject>,
}

impl Job {
    /// A run without a client.
    pub(crate) fn new(export: &'static str, input: Vec<u8>, limits: Limits) -> Self {
        Self {
            export,
            input,
            limits,
            listener: None,
            answers: None,
        }
    }

    /// The same run for a client, which receives notifications and answers input requests.
    pub(crate) fn of(self, request_meta: &RequestMeta) -> Self {
        Self {
            listener: request_meta.listener.clone(),
            answers: Some(request_meta.answers()),
            ..self
        }
    }
}

/// The instances of one servlet.
///
/// The number of permits limits how many calls run. Each call takes the most recently used idle
/// instance, or a new one. So the other instances stay idle and can expire.
///
/// A call that was stopped but does not end, because a host function blocks, returns its permit and
/// takes one from `abandoned`, which has the same number of permits.
pub(crate) struct Pool {
    factory: Factory,
    instances: Instances,
    permits: Arc<Semaphore>,
    abandoned: Arc<Semaphore>,
    waiting: AtomicUsize,
    /// The most recently used instance is the last one.
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    slot: Slot,
    since: Instant,
}

/// Counts a call as waiting until dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Stops a call when the future that waits for it is dropped.
struct StopOnDrop(Arc<Call>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop(Reason::Cancelled);
    }
}

/// Runs work on a thread that may block. The result is dropped if the caller stops waiting.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Stop> {
    let (done, outcome) = oneshot::channel();
    let run = move || {
        let _ = done.send(work());
    };
    threads::run(run).map_err(|error| Stop::Start(format!("cannot start a thread: {error}")))?;
    outcome.await.map_err(|_| Stop::Trap(BROKEN.to_owned()))
}

impl Pool {
    /// Compiles a module and makes the first instances.
    pub(crate) fn new(
        name: &str,
        wasm: Vec<u8>,
        module: &Module,
        options: &LoadOptions,
    ) -> Result<Arc<Self>, LoadError> {
        let factory = Factory::new(name, wasm, module, options)?;
        let instances = options.instances_for(module);
        let slots = (0..instances.min.max(1)).map(|_| factory.slot(options.memory));
        let since = Instant::now();
        let idle = slots
            .map(|slot| slot.map(|slot| Idle { slot, since }))
            .collect::<Result<_, _>>()?;
        let places = instances.max.min(Semaphore::MAX_PERMITS);
        let pool = Arc::new(Self {
            permits: Arc::new(Semaphore::new(places)),
            abandoned: Arc::new(Semaphore::new(places)),
            factory,
            instances,
            waiting: AtomicUsize::new(0),
            idle: Mutex::new(idle),
        });
        let idle: Weak<Self> = Arc::downgrade(&pool);
        watchdog::watch_pool(idle);
        Ok(pool)
    }

    /// The bytes of the module.
    pub(crate) fn wasm(&self) -> Result<Cow<'_, [u8]>, LoadError> {
        self.factory.wasm()
    }

    /// The limits for the number of instances and for their idle time.
    pub(crate) fn instances(&self) -> &Instances {
        &self.instances
    }

    /// Runs a job and blocks this thread until it is done. It waits for an instance even if the
    /// queue is full.
    pub(crate) fn run(self: &Arc<Self>, job: Job) -> Result<Vec<u8>, Stop> {
        futures_executor::block_on(async {
            let permit = self.permit().await;
            // `tracing` may have a subscriber for this thread only.
            let dispatch = dispatcher::get_default(Clone::clone);
            let call = Call::new(job.limits);
            self.run_apart(call, permit, job, Some(dispatch)).await
        })
    }

    /// Runs a job on a thread that may block. Dropping the future stops this job and no other.
    pub(crate) async fn run_async(self: &Arc<Self>, job: Job) -> Result<Vec<u8>, Stop> {
        let call = Call::new(job.limits);
        let _stop = StopOnDrop(Arc::clone(&call));
        let permit = self.admit().await?;
        self.run_apart(call, permit, job, None).await
    }

    /// Runs a job on another thread. Stops waiting if the job was stopped but does not end.
    async fn run_apart(
        self: &Arc<Self>,
        call: Arc<Call>,
        permit: OwnedSemaphorePermit,
        job: Job,
        dispatch: Option<Dispatch>,
    ) -> Result<Vec<u8>, Stop> {
        call.enter(Place {
            permit,
            abandoned: Arc::clone(&self.abandoned),
        });
        let (pool, running) = (Arc::clone(self), Arc::clone(&call));
        let span = tracing::Span::current();
        let work = move || {
            // Log lines of the servlet belong to the span of the caller.
            let _within = span.enter();
            let execute = || pool.execute(&job, &running);
            let output = match &dispatch {
                Some(dispatch) => dispatcher::with_default(dispatch, execute),
                None => execute(),
            };
            // The thread holds its place until it is done, even if the caller no longer waits.
            running.leave();
            output
        };
        tokio::select! {
            output = run_blocking(work) => output?,
            reason = call.given_up() => Err(Stop::Stopped(reason)),
        }
    }

    async fn admit(&self) -> Result<OwnedSemaphorePermit, Stop> {
        let _waiting = match self.try_admit()? {
            Ok(permit) => return Ok(permit),
            Err(waiting) => waiting,
        };
        let Some(limit) = self.factory.options().wait else {
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
        if before >= self.factory.options().queue {
            return Err(Stop::QueueFull(before));
        }
        Ok(Err(waiting))
    }

    async fn permit(&self) -> OwnedSemaphorePermit {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        permit.expect("the semaphore is never closed")
    }

    /// Runs a job. The caller must hold a permit.
    fn execute(&self, job: &Job, call: &Arc<Call>) -> Result<Vec<u8>, Stop> {
        if let Some(reason) = call.stopping() {
            return Err(Stop::Stopped(reason));
        }
        let memory = job.limits.memory;
        let slot = match self.take_idle(memory) {
            Some(slot) => slot,
            None => self
                .factory
                .slot(memory)
                .map_err(|error| Stop::Start(chain(&error)))?,
        };
        let (output, slot) = slot.run(call, job, self.factory.options().isolation);
        if let Some(slot) = slot {
            self.put_back(slot);
        }
        output
    }

    /// Takes an idle instance with this memory limit. If there is none and the pool is full, the
    /// oldest idle instance is dropped.
    fn take_idle(&self, memory: Option<u64>) -> Option<Slot> {
        let mut idle = lock(&self.idle);
        if let Some(at) = idle.iter().rposition(|idle| idle.slot.memory() == memory) {
            return Some(idle.remove(at).slot);
        }
        let is_full = self.running() + idle.len() > self.instances.max;
        let _eldest = is_full.then(|| idle.remove(0));
        // Unlock first: freeing the memory of an instance takes time, and no call should wait for it.
        drop(idle);
        None
    }

    /// How many calls run.
    fn running(&self) -> usize {
        let free = self.permits.available_permits();
        self.instances.max.saturating_sub(free)
    }

    fn put_back(&self, slot: Slot) {
        let since = Instant::now();
        lock(&self.idle).push(Idle { slot, since });
        if let Some(idle) = self.instances.idle {
            watchdog::wake_by(since + idle);
        }
    }
}

impl watchdog::Idle for Pool {
    /// Moves instances that were idle for too long to `garbage`. Returns when to check again.
    fn evict(&self, now: Instant, garbage: &mut Garbage) -> Option<Instant> {
        let limit = self.instances.idle?;
        let mut idle = lock(&self.idle);
        let spare = (self.running() + idle.len()).saturating_sub(self.instances.min);
        let too_long = idle
            .iter()
            .take_while(|idle| idle.since + limit <= now)
            .count();
        let drained = idle.drain(..too_long.min(spare));
        garbage.extend(drained.map(|idle| Box::new(idle.slot) as Box<dyn Send>));
        // At the minimum, nothing can expire before a call ends, and that wakes the watchdog.
        if too_long >= spare {
            return None;
        }
        idle.first().map(|idle| idle.since + limit)
    }
}
