//! The task that keeps a server connected.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_servlet_client::{Error, ErrorKind, Event, Events, Target};
use mcp_servlet_host::RemoteLists;
use mcp_servlet_runtime::RemoteFailure;
use tokio::time::{interval_at, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::connection::{Connection, has_changed};
use crate::failure::{not_connected, refuses_session};
use crate::lists;
use crate::options::{Start, WhenDown};
use crate::shared::{Shared, stopped};
use crate::state::{Link, NotReady, reason};

/// The longest pause between attempts to connect to a URL.
const MAX_PAUSE: Duration = Duration::from_secs(2);
/// The longest pause between attempts to start a command, which cost more.
const MAX_PAUSE_OF_COMMAND: Duration = Duration::from_secs(30);
/// How long a server may take to show that it still answers.
const CHECK: Duration = Duration::from_secs(2);
/// The interval between two requests that only show whether a server over HTTP still knows the session in which it reports
/// changes of resources.
const SIGN_OF_LIFE: Duration = Duration::from_secs(30);
/// A connection that is over after less time does not count as a success.
const SHORT_LIFE: Duration = Duration::from_secs(1);
/// The pause before a new subscription to changes, if the server has ended one.
const SUBSCRIBE_AGAIN: Duration = Duration::from_secs(10);

/// The pause between a change and the new reading of the lists, which is one for all changes in that time.
const SETTLE: Duration = Duration::from_millis(20);

/// Why a connection is over.
enum End {
    Lost(RemoteFailure),
    Idle,
}

/// A new connection, with what the server reports since before its lists were read.
struct Connected {
    connection: Arc<Connection>,
    lists: RemoteLists,
    reports: Reports,
}

/// What a server reports.
struct Reports {
    events: Events,
    /// Whether to subscribe to changes later.
    is_pending: bool,
}

/// Keeps a server connected until it is stopped.
pub(crate) async fn supervise(shared: Arc<Shared>, stop: CancellationToken) {
    stop.run_until_cancelled(Box::pin(shared.keep_connected()))
        .await;
    shared.parked.clear();
    if let Link::Up(connection) = shared.set_link(Link::down(stopped(), None, None)) {
        close(connection).await;
    }
}

/// Closes a connection unless a request still uses it. Then the end of that request closes it.
async fn close(connection: Arc<Connection>) {
    if let Some(connection) = Arc::into_inner(connection) {
        connection.session.close().await;
    }
}

impl Shared {
    async fn keep_connected(&self) {
        let mut failed: u32 = 0;
        if let (Start::AtCall(raw), false) = (&self.options.start, self.is_of_session) {
            self.publish(lists::checked(&self.name, raw, &self.options));
            self.set_link(Link::Idle);
            self.wanted.notified().await;
        }
        loop {
            match self.connect().await {
                Ok(connected) => {
                    let start = Instant::now();
                    let was_lost = self.serve(connected).await;
                    // A server that ends at once is not started again without a pause.
                    let is_short = was_lost && start.elapsed() < SHORT_LIFE;
                    failed = if is_short {
                        failed.saturating_add(1)
                    } else {
                        0
                    };
                }
                Err(error) => {
                    failed += 1;
                    if !self.failed(&error, failed) {
                        return std::future::pending().await;
                    }
                }
            }
            tokio::select! {
                () = sleep(self.pause(failed)), if !self.is_of_session => {}
                () = self.wanted.notified() => {}
            }
        }
    }

    async fn connect(&self) -> Result<Connected, Error> {
        let connection = Connection::open(&self.name, &self.target, &self.options).await?;
        let reports = Reports::soon(&connection).await;
        let lists = connection.lists(&self.name, &self.options).await?;
        Ok(Connected {
            connection: Arc::new(connection),
            lists,
            reports,
        })
    }

    /// Serves requests until the connection is over. Returns whether it was lost. A server that is idle is wanted again then.
    async fn serve(&self, connected: Connected) -> bool {
        let Connected {
            connection,
            lists,
            reports,
        } = connected;
        let (remote, origin) = (&self.name, self.target.to_string());
        let tools = lists.tools.len();
        self.publish(lists);
        self.used();
        self.set_link(Link::Up(Arc::clone(&connection)));
        tracing::info!(remote, origin, tools, "remote connected");
        let end = tokio::select! {
            end = self.follow(&connection, reports) => end,
            never = self.watched.keep(remote, &connection) => match never {},
        };
        let link = match &end {
            End::Idle => Link::Idle,
            End::Lost(why) => Link::down(why.clone(), None, None),
        };
        self.set_link(link);
        match end {
            End::Idle => {
                tracing::info!(remote, "remote closed, because nothing used it");
                close(connection).await;
                // A client may have watched a resource just before the link was idle. The connection of a session waits for
                // a request anyway before it is opened again.
                if self.watched.is_empty() && !self.is_of_session {
                    self.wanted.notified().await;
                }
                false
            }
            End::Lost(why) => {
                tracing::warn!(remote, why = reason(&why), "remote lost");
                self.hide();
                close(connection).await;
                true
            }
        }
    }

    /// Reads lists again when they change, and returns when the connection is over.
    async fn follow(&self, connection: &Arc<Connection>, mut reports: Reports) -> End {
        let again = sleep(SUBSCRIBE_AGAIN);
        let settled = sleep(SETTLE);
        tokio::pin!(again, settled);
        let mut signs = interval_at(tokio::time::Instant::now() + SIGN_OF_LIFE, SIGN_OF_LIFE);
        let mut have_changed = false;
        loop {
            tokio::select! {
                event = reports.events.next() => match event {
                    None => return End::Lost(ended(connection).await),
                    Some(Ok(Event::ResourceUpdated { uri })) => self.watched.changed_at_remote(uri),
                    Some(Ok(Event::SessionRenewed)) => {
                        self.renewed();
                        have_changed = true;
                        settled.as_mut().reset(tokio::time::Instant::now() + SETTLE);
                    }
                    Some(Ok(event)) => {
                        if has_changed(&self.name, event) && !have_changed {
                            have_changed = true;
                            settled.as_mut().reset(tokio::time::Instant::now() + SETTLE);
                        }
                    }
                    // Events were lost, or the server has ended the subscription.
                    Some(Err(_)) => {
                        reports = Reports::later(connection);
                        again.as_mut().reset(tokio::time::Instant::now() + SUBSCRIBE_AGAIN);
                        if let Err(why) = check(connection).await {
                            return End::Lost(why);
                        }
                        self.watched.report_all();
                        // The event of a new session may be among those that were lost.
                        self.watched.session_renewed();
                        self.relist(connection).await;
                    }
                },
                () = &mut settled, if have_changed => {
                    have_changed = false;
                    self.relist(connection).await;
                }
                () = &mut again, if reports.is_pending => {
                    reports = Reports::now(connection).await;
                    self.relist(connection).await;
                }
                () = self.suspect.notified() => {
                    if let Err(why) = check(connection).await {
                        return End::Lost(why);
                    }
                }
                _ = signs.tick(), if self.may_miss_its_session(connection) => {
                    if let Err(why) = check(connection).await {
                        return End::Lost(why);
                    }
                }
                () = self.unused(connection) => return End::Idle,
            }
        }
    }

    /// Whether a server that has restarted would not be missed: it reports changes, and no request runs.
    fn may_miss_its_session(&self, connection: &Connection) -> bool {
        let is_http = matches!(self.target, Target::Http(_));
        is_http && !self.watched.is_empty() && connection.calls.count() == 0
    }

    /// A session has replaced the one that the server has forgotten.
    fn renewed(&self) {
        let remote = &self.name;
        if self.is_of_session {
            tracing::warn!(
                remote,
                "the session of a client at a remote was lost, with its state; there is a new one"
            );
        } else {
            tracing::info!(
                remote,
                "the session at a remote was lost; there is a new one"
            );
        }
        self.watched.session_renewed();
    }

    /// Waits until nothing has used the connection for its time.
    async fn unused(&self, connection: &Connection) {
        let Some(idle) = self.options.idle else {
            return std::future::pending().await;
        };
        loop {
            if !self.watched.is_empty() {
                self.used();
            }
            let left = idle.saturating_sub(self.last_use().elapsed());
            if left.is_zero() && connection.calls.count() == 0 {
                return;
            }
            sleep(left.max(Duration::from_millis(10))).await;
        }
    }

    async fn relist(&self, connection: &Connection) {
        match connection.lists(&self.name, &self.options).await {
            Ok(lists) => self.publish(lists),
            Err(error) => {
                tracing::warn!(remote = self.name, %error, "cannot update the lists of a remote");
            }
        }
    }

    fn publish(&self, lists: RemoteLists) {
        self.warn_about_hidden(&lists);
        self.lists.send_if_modified(|current| {
            let is_new = **current != lists;
            if is_new {
                *current = Arc::new(lists);
            }
            is_new
        });
    }

    /// Warns about entries that are hidden now, once for each version of an entry.
    fn warn_about_hidden(&self, lists: &RemoteLists) {
        let known = self.lists.borrow();
        for hidden in &lists.hidden {
            if known.hidden.contains(hidden) {
                continue;
            }
            let (remote, kind, reason) = (&self.name, hidden.kind, &hidden.reason);
            let entry = &hidden.key;
            tracing::warn!(
                remote,
                %kind,
                entry,
                reason,
                "entry of a remote hidden, because `servlet.lock` does not have it; `servlet lock update {remote}` shows and \
                 approves it"
            );
        }
    }

    fn hide(&self) {
        if self.options.when_down == WhenDown::Hide {
            self.publish(RemoteLists::default());
        }
    }

    /// Records a failed attempt. Returns whether to try again.
    fn failed(&self, error: &Error, attempts: u32) -> bool {
        let remote = &self.name;
        let why = not_connected(error);
        let said = error
            .reason_on_stderr()
            .map(|line| format!("it wrote `{line}`"));
        let help = [said, error.help().map(str::to_owned)];
        let help = help.into_iter().flatten().collect::<Vec<_>>().join("; ");
        let help = (!help.is_empty()).then_some(help);
        let goes_on = self
            .options
            .retries
            .most
            .is_none_or(|most| attempts <= most);
        let problem = NotReady::new(remote, &why, help.clone());
        let advice = help
            .as_deref()
            .map_or_else(String::new, |help| format!("; {help}"));
        let why = if goes_on {
            why
        } else {
            let why = reason(&why);
            RemoteFailure::RetriesExhausted { attempts, why }
        };
        let since = match &*self.link.borrow() {
            Link::Down { since, .. } => Some(*since),
            _ => None,
        };
        self.hide();
        self.set_link(Link::down(why, since, help));
        // Logged last, so that the state has changed when the line appears.
        if goes_on && attempts == 1 {
            tracing::warn!("{problem}{advice}");
        } else if goes_on {
            tracing::debug!(attempts, "{problem}{advice}");
        } else {
            tracing::error!(attempts, "{problem}{advice}; there is no further attempt");
        }
        goes_on
    }

    /// The pause after this many failed attempts, and up to a quarter more.
    fn pause(&self, failed: u32) -> Duration {
        let Some(doubled) = failed.checked_sub(1) else {
            return Duration::ZERO;
        };
        let most = match self.target {
            Target::Command(_) => MAX_PAUSE_OF_COMMAND,
            _ => MAX_PAUSE,
        };
        let factor = 2_u32.saturating_pow(doubled);
        let pause = self.options.retries.every.saturating_mul(factor).min(most);
        let jitter = f64::from(getrandom::u32().unwrap_or_default()) / f64::from(u32::MAX);
        // The longest pause stays below the limit.
        pause.mul_f64(1.0 - 0.25 * jitter)
    }
}

impl Link {
    fn down(why: RemoteFailure, since: Option<Instant>, help: Option<String>) -> Self {
        let tried = Instant::now();
        Self::Down {
            since: since.unwrap_or(tried),
            tried,
            why,
            help,
        }
    }
}

impl Reports {
    /// Servers since 2026-07-28 report changes only to a subscription, and not all have one.
    async fn now(connection: &Connection) -> Self {
        let session = &connection.session;
        let watched = session.watch(std::iter::empty::<String>()).await;
        let events = watched.unwrap_or_else(|error| {
            tracing::debug!(%error, "a remote does not report changes");
            session.events()
        });
        Self {
            events,
            is_pending: false,
        }
    }

    /// As [`now`](Self::now), for a connection that waits for it.
    async fn soon(connection: &Connection) -> Self {
        let subscribed = timeout(CHECK, Self::now(connection)).await;
        subscribed.unwrap_or_else(|_| Self::later(connection))
    }

    /// What the server reports without a subscription, until there is one.
    fn later(connection: &Connection) -> Self {
        Self {
            events: connection.session.events(),
            is_pending: true,
        }
    }
}

/// Whether the server still answers.
async fn check(connection: &Connection) -> Result<(), RemoteFailure> {
    let why = match timeout(CHECK, connection.session.ping()).await {
        Ok(Ok(_)) => return Ok(()),
        Ok(Err(error)) if has_answered(&error) => return Ok(()),
        Ok(Err(error)) => error.message().to_owned(),
        Err(_) => format!("it did not answer within {CHECK:?}"),
    };
    Err(RemoteFailure::Unreachable { why })
}

/// Whether an error is an answer of the server that shows that it still has the session.
fn has_answered(error: &Error) -> bool {
    let is_message = error.code().is_some()
        || (error.kind() == ErrorKind::Protocol && error.http_status().is_none());
    is_message && !refuses_session(error)
}

/// Why a connection has ended.
async fn ended(connection: &Connection) -> RemoteFailure {
    let ended = check(connection).await.err();
    ended.unwrap_or_else(|| RemoteFailure::Unreachable {
        why: "the connection ended".to_owned(),
    })
}
