//! The threads that run servlets.
//!
//! Each call has its own thread, because a servlet may compute or wait for as long as its limits
//! allow. Waking a thread costs more than most calls, so only one thread is woken at a time. Until
//! it runs, threads that are done take work from the queue. If the queue still has work by then,
//! the woken thread wakes the next one before it begins. A thread ends after some time without
//! work.

use std::{
    collections::VecDeque,
    io,
    sync::{Mutex, MutexGuard},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use crate::lock::lock;

/// How long a thread waits for work before it ends.
const IDLE: Duration = Duration::from_secs(10);

type Work = Box<dyn FnOnce() + Send>;

static STATE: Mutex<State> = Mutex::new(State {
    queue: VecDeque::new(),
    idle: Vec::new(),
    is_one_coming: false,
    threads: 0,
});

struct State {
    queue: VecDeque<Work>,
    /// The last thread was idle for the shortest time, so its caches are the warmest.
    idle: Vec<Thread>,
    /// Whether a thread was started or woken and has not looked at the queue yet.
    is_one_coming: bool,
    threads: usize,
}

/// Runs work on a thread that may block. The error says why no thread could be started.
pub(super) fn run(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut state = lock(&STATE);
    state.queue.push_back(Box::new(work));
    let Err(error) = call_one(state) else {
        return Ok(());
    };
    let mut state = lock(&STATE);
    if state.threads > 0 {
        tracing::warn!(%error, "cannot start another thread, so calls wait for a free one");
        return Ok(());
    }
    state.queue.clear();
    Err(error)
}

/// Wakes or starts a thread for the queue, unless one is on its way.
fn call_one(mut state: MutexGuard<'_, State>) -> io::Result<()> {
    if state.is_one_coming || state.queue.is_empty() {
        return Ok(());
    }
    state.is_one_coming = true;
    if let Some(idle) = state.idle.pop() {
        drop(state);
        idle.unpark();
        return Ok(());
    }
    state.threads += 1;
    drop(state);
    let thread = thread::Builder::new().name("servlet".to_owned());
    let started = thread.spawn(live);
    started.map(drop).inspect_err(|_| {
        let mut state = lock(&STATE);
        state.is_one_coming = false;
        state.threads -= 1;
    })
}

/// Counts a thread until dropped. A panic therefore ends the thread and nothing else.
struct Alive;

impl Drop for Alive {
    fn drop(&mut self) {
        lock(&STATE).threads -= 1;
    }
}

/// The main loop of a thread.
fn live() {
    let _alive = Alive;
    yield_to_others();
    let mut state = lock(&STATE);
    state.is_one_coming = false;
    loop {
        while let Some(work) = state.queue.pop_front() {
            // If no other thread can be started, this one takes the rest of the queue.
            let _ = call_one(state);
            work();
            state = lock(&STATE);
        }
        match wait(state) {
            Some(locked) => state = locked,
            None => return,
        }
    }
}

/// Waits until this thread is woken. Returns `None` after [`IDLE`] without work.
fn wait(mut state: MutexGuard<'static, State>) -> Option<MutexGuard<'static, State>> {
    let this = thread::current();
    let id = this.id();
    state.idle.push(this);
    let since = Instant::now();
    loop {
        drop(state);
        thread::park_timeout(IDLE.saturating_sub(since.elapsed()));
        state = lock(&STATE);
        let Some(at) = state.idle.iter().position(|idle| idle.id() == id) else {
            state.is_one_coming = false;
            return Some(state);
        };
        if since.elapsed() >= IDLE {
            state.idle.remove(at);
            return None;
        }
    }
}

/// Gives this thread, and threads that it starts, a scheduling policy for computation. When such a
/// thread gets work, it does not preempt a thread that talks to clients.
///
/// This has no effect on systems other than Linux, or if the system refuses it.
pub(super) fn yield_to_others() {
    #[cfg(target_os = "linux")]
    if let Err(error) = batch::become_one() {
        tracing::debug!(
            error,
            "cannot set the scheduling policy of a thread that runs servlets"
        );
    }
}

/// The scheduling policy for computation, `SCHED_BATCH` of sched(7).
#[cfg(target_os = "linux")]
mod batch {
    use rustix::process::getpriority_process;
    use thread_priority::{
        NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
        set_thread_priority_and_policy, thread_native_id,
    };

    pub(super) const POLICY: ThreadSchedulePolicy =
        ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Batch);

    pub(super) fn become_one() -> Result<(), String> {
        let nice = getpriority_process(None).map_err(|error| error.to_string())?;
        set_thread_priority_and_policy(thread_native_id(), priority(nice)?, POLICY)
            .map_err(|error| error.to_string())
    }

    /// Converts a nice value (19 to -20) to the scale of `thread_priority`, which is 0 to 99 and
    /// rounds down.
    pub(super) fn priority(nice: i32) -> Result<ThreadPriority, String> {
        let value = u8::try_from((99 * (19 - nice) - 1) / 39).map_err(|error| error.to_string())?;
        ThreadPriority::try_from(value).map_err(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn what_waits_does_not_keep_others_from_running() {
        let (done, is_done) = channel();
        let (go_on, wait) = channel::<()>();
        let first = done.clone();
        run(move || {
            let _ = wait.recv();
            let _ = first.send("first");
        })
        .expect("a thread");
        run(move || done.send("second").unwrap_or_default()).expect("a thread");
        assert_eq!(is_done.recv(), Ok("second"));
        go_on.send(()).expect("the first one waits");
        assert_eq!(is_done.recv(), Ok("first"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn they_compute_and_are_as_nice_as_others() {
        /// The fields 19 and 41 of `proc_pid_stat(5)`.
        fn nice_and_policy() -> (String, String) {
            let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("Linux has it");
            let (_, fields) = stat.rsplit_once(')').expect("it has a name");
            let fields: Vec<_> = fields.split_whitespace().map(str::to_owned).collect();
            (fields[16].clone(), fields[38].clone())
        }
        let (nice, _) = nice_and_policy();
        let (done, is_done) = channel();
        run(move || drop(done.send(nice_and_policy()))).expect("a thread");
        let batch = "3".to_owned();
        assert_eq!(is_done.recv(), Ok((nice, batch)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn no_niceness_changes() {
        for nice in -20..20 {
            let priority = batch::priority(nice).expect("a niceness");
            assert_eq!(priority.to_posix(batch::POLICY).ok(), Some(nice));
        }
    }

    #[test]
    fn many_that_wait_all_run_at_once() {
        let barrier = std::sync::Arc::new(std::sync::Barrier::new(21));
        for _ in 0..20 {
            let barrier = std::sync::Arc::clone(&barrier);
            run(move || {
                barrier.wait();
            })
            .expect("a thread");
        }
        barrier.wait();
    }

    #[test]
    fn a_panic_ends_nothing_else() {
        let (done, is_done) = channel();
        for number in 0..20 {
            let done = done.clone();
            run(move || {
                // The panic message is part of the output of the tests.
                assert!(number % 2 == 0, "{number} is odd");
                done.send(number).unwrap_or_default();
            })
            .expect("a thread");
        }
        drop(done);
        assert_eq!(is_done.iter().count(), 10);
    }
}
