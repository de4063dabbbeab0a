//! When the task that keeps a connection acts: a state machine without connections, on tokio's clock.

use std::{future::pending, time::Duration};

use tokio::time::{Instant, sleep, sleep_until};

/// The pause between a change and the new reading of the lists, which is one for all changes in that time. Also the pause between a
/// change of what clients want to know and the requests to the server.
const SETTLE_TIME: Duration = Duration::from_millis(20);
/// The pause before a new subscription, if the server has ended or refused one.
const RESUBSCRIBE_PAUSE: Duration = Duration::from_secs(10);
/// The longest pause before lists are read again that could not be read.
const MAX_REREAD_PAUSE: Duration = Duration::from_mins(10);
/// The interval between two requests that only show whether a server over HTTP still knows the session in which it reports
/// changes of resources.
const CHECK_INTERVAL: Duration = Duration::from_secs(30);
/// A connection that is over after less time does not count as a success.
const SHORT_LIFE: Duration = Duration::from_secs(1);

/// The attempts since the last success: to connect, or to read all lists.
#[derive(Debug)]
pub(crate) struct Attempts {
    failed: u32,
    every: Duration,
    longest: Duration,
}

impl Attempts {
    /// `every` is the pause after the first failure. Later ones are twice as long, up to `longest`.
    pub(crate) fn new(every: Duration, longest: Duration) -> Self {
        Self {
            failed: 0,
            every,
            longest,
        }
    }

    /// Notes an attempt that has failed, and returns their number.
    pub(crate) fn failed(&mut self) -> u32 {
        self.failed = self.failed.saturating_add(1);
        self.failed
    }

    /// Notes the end of a connection. A server that ends at once is not started again without a pause.
    pub(crate) fn ended(&mut self, began: Instant, was_lost: bool) {
        if was_lost && began.elapsed() < SHORT_LIFE {
            self.failed();
        } else {
            self.succeeded();
        }
    }

    /// Whether the next attempt begins without a pause.
    pub(crate) fn are_immediate(&self) -> bool {
        self.failed == 0
    }

    fn succeeded(&mut self) {
        self.failed = 0;
    }

    /// Waits until the next attempt. `jitter` between 0 and 1 makes the pause up to a quarter shorter, so that it stays below the limit.
    pub(crate) async fn wait(&self, jitter: f64) {
        sleep(self.pause(jitter)).await;
    }

    fn pause(&self, jitter: f64) -> Duration {
        let Some(doubled) = self.failed.checked_sub(1) else {
            return Duration::ZERO;
        };
        let factor = 2_u32.saturating_pow(doubled);
        let pause = self.every.saturating_mul(factor).min(self.longest);
        pause.mul_f64(1.0 - 0.25 * jitter)
    }
}

/// The next step of the task that keeps a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Reads the lists.
    Relist,
    /// Subscribes to changes of the lists.
    Subscribe,
    /// Brings the subscriptions to resources up to date.
    Watch,
    /// Finds out whether the server still knows the session.
    Check,
    /// Closes the connection, because nothing has used it.
    Close,
}

/// What uses a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    /// When the last request began or ended.
    pub(crate) last: Instant,
    /// How many requests run.
    pub(crate) running: usize,
    /// Whether clients watch resources.
    pub(crate) is_watched: bool,
}

/// The times of the next steps for one connection.
#[derive(Debug)]
pub(crate) struct Timetable {
    /// After what time without use the connection is closed.
    idle: Option<Duration>,
    /// Whether the server can forget the session without an end of the connection.
    can_forget: bool,
    relist: Option<Instant>,
    /// The readings since the last one in which all lists could be read.
    readings: Attempts,
    subscribe: Option<Instant>,
    watch: Option<Instant>,
    check: Instant,
    /// When the connection was last watched.
    watched: Option<Instant>,
}

impl Timetable {
    /// For a new connection, whose subscriptions to resources are made at once.
    /// `every` is the pause after lists could not be read.
    pub(crate) fn new(idle: Option<Duration>, can_forget: bool, every: Duration) -> Self {
        let now = Instant::now();
        Self {
            idle,
            can_forget,
            relist: None,
            readings: Attempts::new(every, MAX_REREAD_PAUSE),
            subscribe: None,
            watch: Some(now),
            check: now + CHECK_INTERVAL,
            watched: None,
        }
    }

    /// The server has reported that its lists have changed.
    pub(crate) fn lists_changed(&mut self) {
        let soon = Instant::now() + SETTLE_TIME;
        self.relist = Some(self.relist.map_or(soon, |at| at.min(soon)));
    }

    /// The lists were read. If one of them could not be, all are read again later.
    pub(crate) fn lists_read(&mut self, are_read: bool) {
        if are_read {
            self.readings.succeeded();
        } else {
            self.readings.failed();
            let pause = self.readings.pause(0.0);
            self.relist.get_or_insert(Instant::now() + pause);
        }
    }

    /// Another session has replaced the one that the server has forgotten, with its subscriptions.
    pub(crate) fn session_renewed(&mut self) {
        self.relist = Some(Instant::now() + SETTLE_TIME);
        self.subscriptions_lost();
    }

    /// The subscriptions to resources may have ended with their session.
    pub(crate) fn subscriptions_lost(&mut self) {
        self.watch = Some(Instant::now());
    }

    /// The server reports no more changes of its lists.
    pub(crate) fn reports_ended(&mut self) {
        self.subscribe = Some(Instant::now() + RESUBSCRIBE_PAUSE);
    }

    /// Clients want to know changes of other resources.
    pub(crate) fn wishes_changed(&mut self) {
        let soon = Instant::now() + SETTLE_TIME;
        self.watch = Some(self.watch.map_or(soon, |at| at.min(soon)));
    }

    /// Subscriptions to resources have failed, or the server has ended one.
    pub(crate) fn watch_again(&mut self) {
        self.watch.get_or_insert(Instant::now() + RESUBSCRIBE_PAUSE);
    }

    /// Waits until a step is due, and takes it out of the table. `current` returns the use of the connection. With `is_watching`,
    /// requests to subscribe run already, so the step [`Watch`](Step::Watch) waits for a later call.
    ///
    /// Nothing is lost if this is dropped before it returns.
    pub(crate) async fn next(&mut self, current: impl Fn() -> Use, is_watching: bool) -> Step {
        loop {
            let now = Instant::now();
            match self.earliest(current(), is_watching) {
                Some((at, step)) if at <= now => {
                    self.take(step);
                    return step;
                }
                // A use may begin or end without a sign.
                Some((at, _)) => sleep_until(at).await,
                None => pending().await,
            }
        }
    }

    /// The earliest step.
    fn earliest(&mut self, current: Use, is_watching: bool) -> Option<(Instant, Step)> {
        let now = Instant::now();
        if current.is_watched {
            self.watched = Some(now);
        }
        let steps = [
            (self.relist, Step::Relist),
            (self.subscribe, Step::Subscribe),
            (self.watch.filter(|_| !is_watching), Step::Watch),
            (self.checked_at(current, now), Step::Check),
            (self.closed_at(current, now), Step::Close),
        ];
        let due = steps.into_iter().filter_map(|(at, step)| Some((at?, step)));
        due.min_by_key(|(at, _)| *at)
    }

    /// When to look for the session: only a server that reports changes, while no request runs, could have forgotten it unnoticed.
    fn checked_at(&mut self, current: Use, now: Instant) -> Option<Instant> {
        let may_miss = self.can_forget && current.is_watched && current.running == 0;
        if !may_miss && self.check <= now {
            self.check = now + CHECK_INTERVAL;
        }
        self.can_forget.then_some(self.check)
    }

    /// When to close the connection, or to look again whether it is used.
    fn closed_at(&self, current: Use, now: Instant) -> Option<Instant> {
        let idle = self.idle?;
        let last = self.watched.map_or(current.last, |at| at.max(current.last));
        let at = last + idle;
        // A request that runs longer counts as a use until it ends.
        let is_used = current.running > 0 && at <= now;
        Some(if is_used { now + SETTLE_TIME / 2 } else { at })
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Relist => self.relist = None,
            Step::Subscribe => self.subscribe = None,
            Step::Watch => self.watch = None,
            Step::Check => self.check = Instant::now() + CHECK_INTERVAL,
            Step::Close => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tokio::time::{advance, timeout};

    use super::*;

    const IDLE: Duration = Duration::from_mins(1);
    const EVERY: Duration = Duration::from_millis(500);
    const HOUR: Duration = Duration::from_hours(1);

    fn unused() -> Use {
        Use {
            last: Instant::now(),
            running: 0,
            is_watched: false,
        }
    }

    /// The next step, and how long it took until it was due.
    async fn next(table: &mut Timetable, current: impl Fn() -> Use) -> (Step, Duration) {
        let start = Instant::now();
        let step = table.next(current, false).await;
        (step, start.elapsed())
    }

    /// A table whose first step, the subscriptions of a new connection, is done.
    async fn connected(idle: Option<Duration>, can_forget: bool) -> Timetable {
        let mut table = Timetable::new(idle, can_forget, EVERY);
        let first = next(&mut table, unused).await;
        assert_eq!(first, (Step::Watch, Duration::ZERO));
        table
    }

    /// How many milliseconds pass until the next attempt.
    async fn pause(attempts: &Attempts, jitter: f64) -> u128 {
        let start = Instant::now();
        attempts.wait(jitter).await;
        start.elapsed().as_millis()
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_double_up_to_the_longest_and_end_with_a_success() {
        let mut attempts = Attempts::new(Duration::from_millis(500), Duration::from_secs(2));
        assert_eq!(pause(&attempts, 0.0).await, 0);
        let mut pauses = Vec::new();
        for _ in 0..5 {
            attempts.failed();
            pauses.push(pause(&attempts, 0.0).await);
        }
        assert_eq!(pauses, [500, 1000, 2000, 2000, 2000]);
        assert_eq!(pause(&attempts, 1.0).await, 1500);
        attempts.ended(Instant::now(), true);
        assert_eq!(pause(&attempts, 0.0).await, 2000, "it ended at once");
        let began = Instant::now();
        advance(SHORT_LIFE).await;
        attempts.ended(began, true);
        assert_eq!(pause(&attempts, 0.0).await, 0);
        attempts.failed();
        attempts.ended(Instant::now(), false);
        assert_eq!(pause(&attempts, 0.0).await, 0, "it was idle");
    }

    #[tokio::test(start_paused = true)]
    async fn several_changes_are_one_reason_to_read_the_lists() {
        let mut table = connected(None, false).await;
        table.lists_changed();
        advance(SETTLE_TIME / 2).await;
        table.lists_changed();
        assert_eq!(
            next(&mut table, unused).await,
            (Step::Relist, SETTLE_TIME / 2)
        );
        let more = timeout(HOUR, table.next(unused, false)).await;
        more.expect_err("there is one reading");
        table.lists_changed();
        assert_eq!(next(&mut table, unused).await, (Step::Relist, SETTLE_TIME));
    }

    #[tokio::test(start_paused = true)]
    async fn lists_that_could_not_be_read_are_read_again_after_pauses_that_double() {
        let mut table = connected(None, false).await;
        for factor in [1, 2, 4] {
            table.lists_read(false);
            let again = (Step::Relist, EVERY * factor);
            assert_eq!(next(&mut table, unused).await, again);
        }
        table.lists_read(false);
        table.lists_changed();
        assert_eq!(next(&mut table, unused).await, (Step::Relist, SETTLE_TIME));
        table.lists_read(true);
        let more = timeout(HOUR, table.next(unused, false)).await;
        more.expect_err("they were read");
        table.lists_read(false);
        assert_eq!(next(&mut table, unused).await, (Step::Relist, EVERY));
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_lost_if_the_wait_is_cancelled() {
        let mut table = connected(None, false).await;
        table.lists_changed();
        for _ in 0..3 {
            let cancelled = timeout(SETTLE_TIME / 4, table.next(unused, false)).await;
            cancelled.expect_err("it is not due");
        }
        assert_eq!(
            next(&mut table, unused).await,
            (Step::Relist, SETTLE_TIME / 4)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_subscription_that_the_server_ends_is_made_again_later() {
        let mut table = connected(None, false).await;
        table.reports_ended();
        let again = (Step::Subscribe, RESUBSCRIBE_PAUSE);
        assert_eq!(next(&mut table, unused).await, again);
        table.watch_again();
        let again = (Step::Watch, RESUBSCRIBE_PAUSE);
        assert_eq!(next(&mut table, unused).await, again);
    }

    #[tokio::test(start_paused = true)]
    async fn other_wishes_of_clients_do_not_wait_for_the_pause_after_a_failure() {
        let mut table = connected(None, false).await;
        table.watch_again();
        table.wishes_changed();
        table.wishes_changed();
        assert_eq!(next(&mut table, unused).await, (Step::Watch, SETTLE_TIME));
    }

    #[tokio::test(start_paused = true)]
    async fn subscriptions_wait_for_those_that_are_being_made() {
        let mut table = connected(None, false).await;
        table.wishes_changed();
        let waits = timeout(HOUR, table.next(unused, true)).await;
        waits.expect_err("requests to subscribe run");
        assert_eq!(
            next(&mut table, unused).await,
            (Step::Watch, Duration::ZERO)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_session_is_subscribed_at_once_and_read_soon() {
        let mut table = connected(None, false).await;
        table.session_renewed();
        let first = next(&mut table, unused).await;
        assert_eq!(first, (Step::Watch, Duration::ZERO));
        assert_eq!(next(&mut table, unused).await, (Step::Relist, SETTLE_TIME));
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_watched_session_without_requests_is_checked() {
        let watched = || Use {
            is_watched: true,
            ..unused()
        };
        let mut table = connected(None, true).await;
        for _ in 0..2 {
            assert_eq!(
                next(&mut table, watched).await,
                (Step::Check, CHECK_INTERVAL)
            );
        }
        let busy = || Use {
            running: 1,
            ..watched()
        };
        for current in [&unused as &dyn Fn() -> Use, &busy] {
            let checked = timeout(HOUR, table.next(current, false)).await;
            checked.expect_err("its requests show whether it is there");
        }
        let mut table = connected(None, false).await;
        let checked = timeout(HOUR, table.next(watched, false)).await;
        checked.expect_err("a process cannot forget its session");
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_closes_after_its_time_without_use() {
        let began = Instant::now();
        let last = Cell::new(began);
        let current = || Use {
            last: last.get(),
            ..unused()
        };
        let mut table = connected(Some(IDLE), false).await;
        let using = async {
            sleep(IDLE / 2).await;
            last.set(Instant::now());
        };
        let (step, ()) = tokio::join!(table.next(current, false), using);
        assert_eq!((step, began.elapsed()), (Step::Close, IDLE * 3 / 2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_takes_longer_than_the_idle_time_keeps_its_connection() {
        let began = Instant::now();
        let running = Cell::new(1);
        let current = || Use {
            last: began,
            running: running.get(),
            is_watched: false,
        };
        let mut table = connected(Some(IDLE), false).await;
        let request = async {
            sleep(IDLE * 2).await;
            running.set(0);
        };
        let (step, ()) = tokio::join!(table.next(current, false), request);
        assert_eq!(step, Step::Close);
        assert!((IDLE * 2..IDLE * 2 + SETTLE_TIME).contains(&began.elapsed()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_watched_resource_keeps_the_connection_and_its_end_begins_the_idle_time() {
        let began = Instant::now();
        let is_watched = Cell::new(true);
        let current = || Use {
            last: began,
            running: 0,
            is_watched: is_watched.get(),
        };
        let mut table = connected(Some(IDLE), false).await;
        let kept = timeout(HOUR, table.next(current, false)).await;
        kept.expect_err("it is watched");
        is_watched.set(false);
        let (step, waited) = next(&mut table, current).await;
        assert_eq!(step, Step::Close);
        assert!(waited <= IDLE && !waited.is_zero(), "{waited:?}");
    }
}
