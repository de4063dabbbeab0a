//! Ends the time slices of calls. The ticker only runs while calls do.

use std::{
    io,
    sync::{
        LazyLock,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread::{self, Thread},
    time::Duration,
};

use super::settings;

/// A time slice ends with the next tick, so it lasts at most this long.
const TICK: Duration = Duration::from_millis(2);

/// After how many ticks without a call the ticker stops. Waking it costs more than a few ticks.
const LINGER: u32 = 20;

/// How many threads run a call at the moment.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
static IS_PARKED: AtomicBool = AtomicBool::new(false);

static TICKER: LazyLock<io::Result<Thread>> = LazyLock::new(|| {
    let thread = thread::Builder::new().name("servlet-ticker".to_owned());
    Ok(thread.spawn(tick)?.thread().clone())
});

/// A call runs on this thread until this is dropped.
pub(super) struct Running(());

/// Keeps the ticker running.
///
/// # Errors
/// The system refused the thread of the ticker. Without it, nothing would end a call.
pub(super) fn running() -> Result<Running, &'static io::Error> {
    let ticker = LazyLock::force(&TICKER).as_ref()?;
    RUNNING.fetch_add(1, SeqCst);
    if IS_PARKED.swap(false, SeqCst) {
        ticker.unpark();
    }
    Ok(Running(()))
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, SeqCst);
    }
}

fn tick() {
    let mut idle = 0;
    loop {
        thread::sleep(TICK);
        settings::end_slices();
        idle = if RUNNING.load(SeqCst) == 0 {
            idle + 1
        } else {
            0
        };
        if idle > LINGER {
            park();
            idle = 0;
        }
    }
}

/// Waits for the next call.
fn park() {
    IS_PARKED.store(true, SeqCst);
    // A call that began before it could see the flag does not wake this thread.
    while RUNNING.load(SeqCst) == 0 && IS_PARKED.load(SeqCst) {
        thread::park();
    }
    IS_PARKED.store(false, SeqCst);
}
