//! Polling with a deadline, for tests that have no event to wait for.

use std::{
    fmt::Display,
    panic::Location,
    thread,
    time::{Duration, Instant},
};

use tokio::time::timeout;

/// How long a test waits for something that must happen. Only a test that fails takes this long: a busy machine can be slow.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// The time between two polls.
const INTERVAL: Duration = Duration::from_millis(5);

/// The outcome of one poll. `false`, `None` and `Err` mean that it must be polled again.
pub trait Polled {
    /// What the last poll returns.
    type Value;

    /// The value, or what a panic adds about this poll.
    fn into_result(self) -> Result<Self::Value, String>;
}

impl Polled for bool {
    type Value = ();

    fn into_result(self) -> Result<(), String> {
        if self { Ok(()) } else { Err(String::new()) }
    }
}

impl<T> Polled for Option<T> {
    type Value = T;

    fn into_result(self) -> Result<T, String> {
        self.ok_or_else(String::new)
    }
}

impl<T, E: Display> Polled for Result<T, E> {
    type Value = T;

    fn into_result(self) -> Result<T, String> {
        self.map_err(|error| format!("; the last poll: {error}"))
    }
}

/// Polls until there is a value. It is not for a paused clock, on which the time is over at once.
///
/// # Panics
/// After [`PATIENCE`], even while a poll waits for something. The message has the place of the call, `what`, and the error of the last
/// poll.
#[track_caller]
pub fn eventually<P: Polled>(
    what: impl Display,
    mut poll: impl AsyncFnMut() -> P,
) -> impl Future<Output = P::Value> {
    let caller = Location::caller();
    async move {
        let mut last = String::new();
        let polling = async {
            loop {
                match poll().await.into_result() {
                    Ok(value) => return value,
                    Err(error) => last = error,
                }
                tokio::time::sleep(INTERVAL).await;
            }
        };
        let value = timeout(PATIENCE, polling).await;
        value.unwrap_or_else(|_| panic!("{caller}: waited {PATIENCE:?} for: {what}{last}"))
    }
}

/// Like [`eventually`], but blocks the thread.
///
/// # Panics
/// After [`PATIENCE`], but not during a poll. The message has `what` and the error of the last poll.
#[track_caller]
pub fn eventually_blocking<P: Polled>(what: impl Display, mut poll: impl FnMut() -> P) -> P::Value {
    let start = Instant::now();
    loop {
        match poll().into_result() {
            Ok(value) => return value,
            Err(last) if start.elapsed() > PATIENCE => {
                panic!("waited {PATIENCE:?} for: {what}{last}")
            }
            Err(_) => thread::sleep(INTERVAL),
        }
    }
}
