//! Sends one request and waits for its reply.

use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{CustomRequest, RequestMetaObject};
use rmcp::service::{PeerRequestOptions, RequestHandle, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::Session;
use crate::error::{Error, ErrorKind};
use crate::progress::Progress;
use crate::tap::{Reply, Slot, SlotExtension, Tap};
use crate::transport::http::Reported;

/// What the caller wants of one request.
#[derive(Default)]
pub(super) struct RequestOptions<'a> {
    pub(super) timeout: Option<Duration>,
    /// With progress, the timeout starts again until this time is over.
    pub(super) max_total: Option<Duration>,
    pub(super) meta: Option<&'a Map<String, Value>>,
    pub(super) on_progress: Option<&'a (dyn Fn(Progress) + Send + Sync)>,
    pub(super) cancel: Option<&'a CancellationToken>,
}

/// A request that was sent. Dropping it cancels the request, unless it has ended.
struct Sent<'a> {
    handle: Option<RequestHandle<RoleClient>>,
    has_ended: bool,
    tap: &'a Tap,
}

impl Drop for Sent<'_> {
    fn drop(&mut self) {
        let Some(handle) = self.handle.take() else {
            return;
        };
        self.tap.forget(&handle.id);
        // Without a runtime, the connection is gone as well.
        if !self.has_ended
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let reason = "the caller does not wait any longer".to_owned();
            runtime.spawn(handle.cancel(Some(reason)));
        }
    }
}

impl Session {
    /// Sends a request, and returns the result as the server wrote it.
    pub(super) async fn request(
        &self,
        method: &'static str,
        params: Value,
        options: &RequestOptions<'_>,
    ) -> Result<Box<RawValue>, Error> {
        let result = match self.reply(method, params, options).await {
            Ok(Reply::Result(result)) => Ok(result),
            Ok(Reply::Error(error)) => Err(Error::from_json_rpc(&error)),
            Ok(Reply::Failed(error)) | Err(error) => Err(error),
        };
        result.map_err(|error| error.at(&self.target).during(method))
    }

    async fn reply(
        &self,
        method: &'static str,
        params: Value,
        options: &RequestOptions<'_>,
    ) -> Result<Reply, Error> {
        // rmcp copies arguments of listed tools to headers.
        let is_shared = method == "tools/list" && self.server.is_stateless();
        let (sender, progress) = unbounded_channel();
        let slot = Slot::new(is_shared, options.on_progress.is_some().then_some(sender));
        let mut request = CustomRequest::new(method, Some(params));
        request.extensions.insert(SlotExtension(slot.clone()));
        let mut peer_options = PeerRequestOptions::no_options();
        peer_options.meta = options.meta.cloned().map(RequestMetaObject::from);
        let sending = self
            .service
            .send_request_with_option(request.into(), peer_options);
        let handle = sending.await.map_err(|error| self.not_answered(error))?;
        let mut sent = Sent {
            handle: Some(handle),
            has_ended: false,
            tap: &self.tap,
        };
        let answered = self.answered(&mut sent, &slot, progress, options).await?;
        sent.has_ended = answered.is_some();
        match (slot.take(), answered) {
            (Some(reply), _) => Ok(reply),
            (None, Some(Err(error))) => Err(self.not_answered(error)),
            (None, _) => Err(Error::new(
                ErrorKind::Protocol,
                "the server sent no response to the request",
            )),
        }
    }

    /// Waits until rmcp has a response, or until the transport has failed. An error means that the caller waits no more.
    async fn answered(
        &self,
        sent: &mut Sent<'_>,
        slot: &Slot,
        mut progress: UnboundedReceiver<Progress>,
        options: &RequestOptions<'_>,
    ) -> Result<Option<Result<(), ServiceError>>, Error> {
        let limit = options.timeout.unwrap_or(self.timeouts.request);
        let start = Instant::now();
        let last = options.max_total.map(|total| start + total);
        let mut deadline = start + limit;
        let cancel = options.cancel.cloned().unwrap_or_default();
        let handle = sent.handle.as_mut().expect("it was just sent");
        let report = |one| {
            if let Some(report) = options.on_progress {
                report(one);
            }
        };
        loop {
            tokio::select! {
                biased;
                Some(one) = progress.recv() => {
                    report(one);
                    if let Some(last) = last {
                        deadline = last.min(Instant::now() + limit);
                    }
                }
                response = &mut handle.rx => {
                    // What has come before the response, but was not yet seen.
                    while let Ok(one) = progress.try_recv() {
                        report(one);
                    }
                    let response = response.unwrap_or(Err(ServiceError::TransportClosed));
                    return Ok(Some(response.map(|_| ())));
                }
                () = slot.failed.notified() => return Ok(None),
                () = cancel.cancelled() => {
                    return Err(Error::new(ErrorKind::Cancelled, "the caller has cancelled the request"));
                }
                () = sleep_until(deadline) => return Err(timed_out(start.elapsed())),
            }
        }
    }

    /// Why there is no response, if not even the transport knows it.
    pub(super) fn not_answered(&self, error: ServiceError) -> Error {
        match error {
            ServiceError::TransportSend(error) => {
                let error = error.error.downcast::<StreamableHttpError<Reported>>();
                match error.map(|error| *error) {
                    Ok(error) => not_sent(error),
                    Err(_) => self.closed(),
                }
            }
            ServiceError::McpError(error) => session_lost(error.message.into_owned()),
            ServiceError::Cancelled { .. } => {
                Error::new(ErrorKind::Cancelled, "the request was cancelled")
            }
            _ => self.closed(),
        }
    }

    fn closed(&self) -> Error {
        self.tap.failure().unwrap_or_else(|| {
            let message = "the connection ended before the response";
            Error::new(ErrorKind::Connectivity, message)
        })
    }
}

/// An error of rmcp's HTTP transport.
fn not_sent(error: StreamableHttpError<Reported>) -> Error {
    match error {
        StreamableHttpError::SessionExpired
        | StreamableHttpError::SessionRecoveryTimeout
        | StreamableHttpError::ReinitializationFailed(_) => session_lost(error.to_string()),
        error => {
            let message = format!("the connection broke: {error}");
            Error::new(ErrorKind::Connectivity, message).with_source(error)
        }
    }
}

/// The server has forgotten the session, and the handshake for a new one did not help.
fn session_lost(reason: String) -> Error {
    Error::new(
        ErrorKind::SessionInvalid,
        format!("the session is lost: {reason}"),
    )
    .with_help("connect again")
}

fn timed_out(after: Duration) -> Error {
    let message = format!("no response within {} ms", after.as_millis());
    Error::new(ErrorKind::RequestTimeout, message)
        .with_help("give the request more time, for example with `--timeout`")
}
