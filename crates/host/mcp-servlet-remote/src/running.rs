//! A request that runs on a connection. It can wait while the client answers a request of the remote.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Fuse, FusedFuture as _, pending};
use mcp_servlet_call::{JsonObject, Listener, Notification, Nursery, RequestMeta};
use mcp_servlet_client::{CallOptions, Error, Event, Events, Progress};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::connection::{Connection, relayed_capabilities};
use crate::relay::{CallGuard, Question, Sent, notification};
use crate::task;

/// How long a server may take to end a call by itself after its question was refused.
const REFUSED_CALL_GRACE: Duration = Duration::from_secs(3);

/// A time after which a point in time can still be computed.
const FOREVER: Duration = Duration::from_hours(24 * 365 * 30);

/// How long the result waits until the client has the notifications that came before it. A client that reads takes them at
/// once; one that does not must not hold up the result.
const HANDOVER_TIMEOUT: Duration = Duration::from_millis(250);

/// A request that runs on a connection.
pub(crate) struct RunningCall {
    response: BoxFuture<'static, Result<Box<RawValue>, Error>>,
    sent: mpsc::Receiver<Sent>,
    events: Events,
    /// How much of its time is left. The time in which the client answers a request of the remote does not count.
    left: Duration,
    call: CallGuard,
}

/// The outcome of a request.
pub(crate) enum Outcome {
    /// It has a result, or will have none.
    Answered(Result<Box<RawValue>, Error>),
    /// Its time is over.
    TimedOut,
    /// The server asks the client.
    Asked(Question),
}

/// The client that receives the notifications of a request. By default, they are dropped.
#[derive(Default)]
pub(crate) struct Client<'a> {
    listener: Option<&'a dyn Listener>,
    /// The client's own progress token.
    token: Option<&'a Value>,
}

impl<'a> From<&'a RequestMeta> for Client<'a> {
    fn from(request_meta: &'a RequestMeta) -> Self {
        let meta = request_meta.meta.as_ref();
        Self {
            listener: request_meta.listener.as_deref(),
            token: meta.and_then(|meta| meta.get("progressToken")),
        }
    }
}

impl Client<'_> {
    async fn notify(&self, mut notification: Notification) {
        let Some(listener) = self.listener else {
            return;
        };
        if let Notification::Progress(params) = &mut notification {
            let Some(token) = self.token else { return };
            params.insert("progressToken".to_owned(), token.clone());
        }
        listener.notify(notification).await;
    }
}

impl RunningCall {
    /// Sends a request, once. `options` have its headers, and `limit` is its time. With `as_task`, it runs as a task of the server, and
    /// the nursery owns the request that cancels the task.
    pub(crate) fn start(
        connection: &Arc<Connection>,
        method: &'static str,
        params: JsonObject,
        request_meta: &RequestMeta,
        options: CallOptions,
        limit: Duration,
        as_task: Option<Nursery>,
    ) -> Self {
        let capabilities = relayed_capabilities(request_meta);
        let session = &connection.session;
        // Since 2026-07-28, a server can only ask in a result.
        let has_cancelled = !session.server().is_stateless() && session.has_cancelled();
        let (call, sender, sent) = connection.calls.begin(capabilities, has_cancelled);
        let options = options
            // The time is counted here, where it can stop.
            .timeout(Duration::MAX)
            .meta(connection.meta(request_meta))
            .on_progress(move |progress| {
                // A client that does not keep up misses some.
                let _ = sender.try_send(Sent::Notification(report(&progress)));
            });
        let events = connection.session.events();
        let connection = Arc::clone(connection);
        let response = async move {
            let session = &connection.session;
            match as_task {
                Some(nursery) => task::call(&connection, params, &options, nursery).await,
                None => session.forward(method, params.into(), &options).await,
            }
        };
        Self {
            response: response.boxed(),
            sent,
            events,
            left: limit.min(FOREVER),
            call,
        }
    }

    /// Forgets what the server has sent while this call waited for its client. It belongs to other calls.
    pub(crate) fn forget_events(&mut self, connection: &Connection) {
        self.events = connection.session.events();
    }

    /// Waits for the result, or for a question. The time of the call goes on while the client takes a notification.
    pub(crate) async fn go_on(&mut self, client: &Client<'_>) -> Outcome {
        let deadline = Instant::now() + self.left;
        // One notification at a time, so that they stay in order.
        let mut notifying = Fuse::terminated();
        loop {
            let notification = tokio::select! {
                biased;
                response = &mut self.response => {
                    let notifying = (!notifying.is_terminated()).then_some(notifying);
                    self.finish(client, notifying).await;
                    if is_answered(&response) {
                        self.call.answered();
                    }
                    return Outcome::Answered(response);
                }
                () = sleep_until(deadline) => return Outcome::TimedOut,
                () = &mut notifying => None,
                Some(sent) = self.sent.recv(), if notifying.is_terminated() => match sent {
                    Sent::Notification(notification) => Some(notification),
                    // The server has taken it back, while the client answered another one.
                    Sent::Question(question) if question.over.is_cancelled() => None,
                    Sent::Question(question) => {
                        hand_over(deadline, self.pass_events(client)).await;
                        self.left = deadline.saturating_duration_since(Instant::now());
                        return Outcome::Asked(question);
                    }
                },
                // An error means that events were lost. More may come.
                Some(event) = self.events.next(), if notifying.is_terminated() => {
                    event.ok().and_then(|event| self.own(event))
                }
            };
            if let Some(notification) = notification {
                notifying = client.notify(notification).boxed().fuse();
            }
        }
    }

    /// Waits for the response while this call waits for its client, which gets the response later. Once the server has answered, the call
    /// no longer counts as running.
    pub(crate) fn over(&mut self) -> impl Future<Output = ()> + use<> {
        let response = std::mem::replace(&mut self.response, pending().boxed()).shared();
        self.response = response.clone().boxed();
        let end = self.call.ender();
        response.map(|response| {
            if is_answered(&response) {
                end();
            }
        })
    }

    /// Ends a call whose question was refused. Most servers end it by themselves then. Otherwise it is cancelled.
    pub(crate) async fn end(mut self) {
        self.left = REFUSED_CALL_GRACE;
        self.go_on(&Client::default()).await;
    }

    /// Passes on what has arrived before the response, after the notification that the client is just taking.
    async fn finish(&mut self, client: &Client<'_>, notifying: Option<impl Future>) {
        hand_over(Instant::now() + HANDOVER_TIMEOUT, async {
            if let Some(notifying) = notifying {
                notifying.await;
            }
            while let Ok(Sent::Notification(notification)) = self.sent.try_recv() {
                client.notify(notification).await;
            }
            self.pass_events(client).await;
        })
        .await;
    }

    /// Passes on the events that have arrived.
    async fn pass_events(&mut self, client: &Client<'_>) {
        while let Some(Some(event)) = self.events.next().now_or_never() {
            if let Some(notification) = event.ok().and_then(|event| self.own(event)) {
                client.notify(notification).await;
            }
        }
    }

    /// The notification in an event, if it can only belong to this call.
    fn own(&self, event: Event) -> Option<Notification> {
        notification(event).filter(|_| self.call.is_alone())
    }
}

/// Whether a server is done with a request.
pub(crate) fn is_answered(response: &Result<Box<RawValue>, Error>) -> bool {
    response.as_ref().map_or_else(Error::was_answered, |_| true)
}

/// Passes on notifications, as far as the client takes them in time.
async fn hand_over(deadline: Instant, notifications: impl Future<Output = ()>) {
    if timeout_at(deadline, notifications).await.is_err() {
        tracing::debug!("notifications of a call dropped, because its client does not read");
    }
}

fn report(progress: &Progress) -> Notification {
    let mut params = JsonObject::from_iter([("progress".to_owned(), number(progress.progress))]);
    params.extend(
        progress
            .total
            .map(|total| ("total".to_owned(), number(total))),
    );
    let message = progress.message.clone();
    params.extend(message.map(|message| ("message".to_owned(), message.into())));
    Notification::Progress(params)
}

/// A number as a server most likely wrote it: without a fraction if there is none.
fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "it is a whole number below 2^53"
        )]
        return json!(value as i64);
    }
    json!(value)
}

impl std::fmt::Debug for RunningCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("RunningCall");
        debug.field("left", &self.left).finish_non_exhaustive()
    }
}
