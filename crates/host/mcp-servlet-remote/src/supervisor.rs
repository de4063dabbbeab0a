//! The task that keeps a server connected.

use std::sync::Arc;
use std::time::Duration;

use mcp_servlet_call::RemoteFailure;
use mcp_servlet_client::{Error, ErrorKind, Event, Events, Lists, Target};
use mcp_servlet_common::lock;
use mcp_servlet_host::RemoteLists;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::connection::{Connection, has_changed};
use crate::failure::{is_passing, not_connected, refuses_session};
use crate::lists::{self, ReadLists};
use crate::options::{Start, WhenDown};
use crate::shared::{Shared, stopped};
use crate::state::{Link, NotReady, reason};
use crate::timetable::{Attempts, Step, Timetable, Use};
use crate::watched::Watching;

/// The longest pause between attempts to connect to a URL.
const MAX_PAUSE: Duration = Duration::from_secs(2);
/// The longest pause between attempts to start a command, which cost more.
const MAX_PAUSE_OF_COMMAND: Duration = Duration::from_secs(30);
/// How long a server may take to show that it still answers.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Why a connection is over.
enum End {
    Lost(RemoteFailure),
    Idle,
}

/// A new connection, with what the server reports since before its lists were read.
struct Connected {
    connection: Arc<Connection>,
    lists: RemoteLists,
    /// Whether all of them could be read.
    are_read: bool,
    reports: Reports,
}

/// What the task that keeps a connection knows of it.
struct Follower<'c> {
    shared: &'c Shared,
    connection: &'c Arc<Connection>,
    table: Timetable,
    watching: Watching<'c>,
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
    /// Publishes the lists that are known before the first connection.
    pub(crate) fn publish_known(&self) {
        if let (Start::AtCall(raw), false) = (&self.options.start, self.is_of_session) {
            let read = Arc::new(ReadLists::from(Lists::clone(raw)));
            self.publish(self.checked(&read));
            *lock(&self.last_read) = Some(read);
            self.set_link(Link::Idle);
        }
    }

    async fn keep_connected(&self) {
        let longest = match self.target {
            Target::Command(_) => MAX_PAUSE_OF_COMMAND,
            _ => MAX_PAUSE,
        };
        let mut attempts = Attempts::new(self.options.retries.every, longest);
        if matches!(self.options.start, Start::AtCall(_)) && !self.is_of_session {
            self.wanted.notified().await;
        }
        loop {
            match self.connect().await {
                Ok(connected) => {
                    self.serve(connected, &mut attempts).await;
                }
                Err(error) => {
                    let failed = attempts.failed();
                    if !self.failed(&error, failed) {
                        return std::future::pending().await;
                    }
                }
            }
            let jitter = f64::from(getrandom::u32().unwrap_or_default()) / f64::from(u32::MAX);
            tokio::select! {
                () = attempts.wait(jitter), if !self.is_of_session => {}
                () = self.wanted.notified() => {}
            }
        }
    }

    async fn connect(&self) -> Result<Connected, Error> {
        let connection = Connection::open(&self.name, &self.target, &self.options).await?;
        let reports = Reports::soon(&connection).await;
        let (read, _) = self.read_lists(&connection).await?;
        Ok(Connected {
            connection: Arc::new(connection),
            lists: self.checked(&read),
            are_read: read.is_whole,
            reports,
        })
    }

    /// Runs one connection to its end. After an idle close, waits until a request needs the server.
    async fn serve(&self, connected: Connected, attempts: &mut Attempts) {
        let began = Instant::now();
        let Connected {
            connection,
            lists,
            are_read,
            reports,
        } = connected;
        let (remote, origin) = (&self.name, self.target.to_string());
        let tools = lists.tools.len();
        self.publish(lists);
        self.used();
        self.set_link(Link::Up(Arc::clone(&connection)));
        tracing::info!(remote, origin, tools, "remote connected");
        let end = self.follow(&connection, reports, are_read).await;
        attempts.ended(began, matches!(end, End::Lost(_)));
        let link = match &end {
            End::Idle => Link::Idle,
            // The connection of a session is opened again only when a request needs it.
            End::Lost(why) if attempts.are_immediate() && !self.is_of_session => {
                Link::lost(why.clone())
            }
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
            }
            End::Lost(why) => {
                // Not for clients: what it wrote may be about the request of another one.
                let why = connection.explained(why);
                tracing::warn!(remote, why = reason(&why), "remote lost");
                self.hide();
                close(connection).await;
            }
        }
    }

    /// Does what is due for a connection, and returns when it is over.
    async fn follow(&self, connection: &Arc<Connection>, reports: Reports, are_read: bool) -> End {
        let can_forget = matches!(self.target, Target::Http(_));
        let mut follower = Follower {
            shared: self,
            connection,
            table: Timetable::new(self.options.idle, can_forget, self.options.retries.every),
            watching: Watching::default(),
        };
        if reports.is_pending {
            follower.table.reports_ended();
        }
        follower.table.lists_read(are_read);
        follower.run(reports.events).await
    }

    /// What uses a connection now.
    fn current_use(&self, connection: &Connection) -> Use {
        Use {
            last: self.last_use(),
            running: connection.calls.count(),
            is_watched: !self.watched.is_empty(),
        }
    }

    /// Logs that a session has replaced the one that the server has forgotten.
    fn log_renewal(&self) {
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
    }

    /// The lists of the server, and the previous ones.
    async fn read_lists(
        &self,
        connection: &Connection,
    ) -> Result<(Arc<ReadLists>, Option<Arc<ReadLists>>), Error> {
        let (raw, errors) = connection.lists().await?;
        let mut last = lock(&self.last_read);
        let read = Arc::new(ReadLists::new(raw, &errors, last.as_deref()));
        let previous = last.replace(Arc::clone(&read));
        Ok((read, previous))
    }

    fn checked(&self, read: &ReadLists) -> RemoteLists {
        lists::checked(&self.name, read, &self.options)
    }

    /// Reads the lists, and publishes them if they differ from the last ones. Returns false if they must be read again.
    async fn relist(&self, connection: &Connection) -> bool {
        match self.read_lists(connection).await {
            Ok((read, previous)) => {
                // The warnings about the same lists are in the log.
                if previous.is_none_or(|previous| previous != read) {
                    self.publish(self.checked(&read));
                }
                read.is_whole
            }
            Err(error) => {
                tracing::warn!(remote = self.name, %error, "cannot update the lists of a remote");
                false
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
                "entry of a remote hidden, because `servlet.lock` does not have it in this form; `servlet lock update {remote}` \
                 shows and approves it"
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
        let help = [said, error.help().map(str::to_owned)]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("; ");
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
}

impl Follower<'_> {
    async fn run(&mut self, mut events: Events) -> End {
        loop {
            let current = || self.shared.current_use(self.connection);
            let is_watching = self.watching.is_busy();
            let step = tokio::select! {
                event = events.next() => match event {
                    None => return End::Lost(ended(self.connection).await),
                    Some(Ok(event)) => {
                        self.take(event);
                        continue;
                    }
                    // Events were lost, or the server has ended the subscription.
                    Some(Err(_)) => match self.missed().await {
                        Ok(remaining) => {
                            events = remaining;
                            Step::Relist
                        }
                        Err(why) => return End::Lost(why),
                    },
                },
                () = self.shared.suspect.notified() => Step::Check,
                () = self.shared.watched.changed() => {
                    self.table.wishes_changed();
                    continue;
                }
                watched = self.watching.next() => {
                    self.shared.watched.note(watched, &mut self.table);
                    continue;
                }
                step = self.table.next(current, is_watching) => step,
            };
            match self.perform(step, &mut events).await {
                Ok(false) => {}
                Ok(true) => return End::Idle,
                Err(why) => return End::Lost(why),
            }
        }
    }

    /// Notes what the server reports.
    fn take(&mut self, event: Event) {
        match event {
            // A part of a watched resource may be hidden.
            Event::ResourceUpdated { uri } if self.shared.lists.borrow().hides(&uri) => {}
            Event::ResourceUpdated { uri } => self.shared.watched.changed_at_remote(uri),
            Event::SessionRenewed => {
                self.shared.log_renewal();
                self.watching.forget();
                self.table.session_renewed();
            }
            event => {
                if has_changed(&self.shared.name, event) {
                    self.table.lists_changed();
                }
            }
        }
    }

    /// Goes on after events were lost, with those that come without a subscription.
    async fn missed(&mut self) -> Result<Events, RemoteFailure> {
        let reports = Reports::later(self.connection);
        self.table.reports_ended();
        self.alongside(check_connection(self.connection)).await?;
        self.shared.watched.report_all();
        // The event of a new session may be among those that were lost.
        self.watching.forget();
        self.table.subscriptions_lost();
        Ok(reports.events)
    }

    /// Does what is due. Returns whether the connection is idle.
    async fn perform(&mut self, step: Step, events: &mut Events) -> Result<bool, RemoteFailure> {
        let (shared, connection) = (self.shared, self.connection);
        match step {
            Step::Relist => self.relist().await,
            Step::Subscribe => {
                let reports = self.alongside(Reports::now(connection)).await;
                if reports.is_pending {
                    self.table.reports_ended();
                } else {
                    *events = reports.events;
                    self.relist().await;
                }
            }
            Step::Watch => {
                let wanted = shared.watched.uris();
                self.watching.begin(&shared.name, connection, wanted);
            }
            Step::Check => self.alongside(check_connection(connection)).await?,
            Step::Close => return Ok(true),
        }
        Ok(false)
    }

    async fn relist(&mut self) {
        let are_read = self.alongside(self.shared.relist(self.connection)).await;
        self.table.lists_read(are_read);
    }

    /// Does other work while requests to subscribe to resources run.
    async fn alongside<T>(&mut self, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                watched = self.watching.next() => {
                    self.shared.watched.note(watched, &mut self.table);
                }
            }
        }
    }
}

impl Link {
    fn down(why: RemoteFailure, since: Option<std::time::Instant>, help: Option<String>) -> Self {
        let tried = std::time::Instant::now();
        Self::Down {
            since: since.unwrap_or(tried),
            tried: Some(tried),
            why,
            help,
        }
    }

    /// A connection was lost, and the next attempt begins at once. Requests wait for it.
    fn lost(why: RemoteFailure) -> Self {
        Self::Down {
            since: std::time::Instant::now(),
            tried: None,
            why,
            help: None,
        }
    }
}

impl Reports {
    /// Servers since 2026-07-28 report changes only to a subscription, and not all have one.
    async fn now(connection: &Connection) -> Self {
        let session = &connection.session;
        let watched = session.watch(std::iter::empty::<String>()).await;
        let (events, is_pending) = match watched {
            Ok(events) => (events, false),
            Err(error) => {
                tracing::debug!(%error, "a remote does not report changes");
                (session.events(), is_passing(&error))
            }
        };
        Self { events, is_pending }
    }

    /// As [`now`](Self::now), for a connection that waits for it.
    async fn soon(connection: &Connection) -> Self {
        let subscribed = timeout(ANSWER_TIMEOUT, Self::now(connection)).await;
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
async fn check_connection(connection: &Connection) -> Result<(), RemoteFailure> {
    let why = match timeout(ANSWER_TIMEOUT, connection.session.ping()).await {
        Ok(Ok(_)) => return Ok(()),
        Ok(Err(error)) if has_answered(&error) => return Ok(()),
        Ok(Err(error)) => error.message().to_owned(),
        Err(_) => format!("it did not answer within {ANSWER_TIMEOUT:?}"),
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
    let ended = check_connection(connection).await.err();
    ended.unwrap_or_else(|| RemoteFailure::Unreachable {
        why: "the connection ended".to_owned(),
    })
}
