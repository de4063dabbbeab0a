//! Sends one request and waits for its reply.

use std::time::Duration;

use futures_util::FutureExt as _;
use reqwest::header::HeaderMap;
use rmcp::RoleClient;
use rmcp::model::{CustomRequest, RequestMetaObject};
use rmcp::service::{PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::mpsc::{Receiver, channel};
use tokio_util::task::TaskTracker;

use super::Session;
use super::failure::{not_answered, timed_out};
use crate::error::{Error, ErrorKind};
use crate::incoming::Mended;
use crate::message::Headers;
use crate::progress::Progress;
use crate::tap::{Slot, SlotExtension, SlotReply, Tap};

/// How many reports of progress wait for a caller that is slow. Further ones are dropped.
const PROGRESS_BUFFER: usize = 1024;

/// What the caller wants of one request.
#[derive(Default)]
pub(super) struct RequestOptions<'a> {
    pub(super) timeout: Option<Duration>,
    /// With progress, the timeout starts again until this time is over.
    pub(super) max_total: Option<Duration>,
    pub(super) meta: Option<&'a Map<String, Value>>,
    pub(super) on_progress: Option<&'a (dyn Fn(Progress) + Send + Sync)>,
    /// Whether the server may get the request twice, whatever its method.
    pub(super) is_idempotent: bool,
    /// Headers of the HTTP request.
    pub(super) headers: Option<&'a HeaderMap>,
}

/// A request that was sent. Dropping it cancels the request, unless it has ended.
struct SentRequest<'a> {
    handle: Option<RequestHandle<RoleClient>>,
    has_ended: bool,
    /// Whether rmcp goes on to wait for the response, although the request has ended: the response came in the stream of another
    /// request, or cannot be read.
    rmcp_waits: bool,
    slot: &'a Slot,
    tap: &'a Tap,
    cancellations: &'a TaskTracker,
}

impl Drop for SentRequest<'_> {
    fn drop(&mut self) {
        let Some(handle) = self.handle.take() else {
            return;
        };
        // The answer may have come, although the caller has not seen it. Without a cancellation, rmcp would read the response stream
        // as long as the server holds it open.
        if self.has_ended || self.slot.is_answered() == Some(true) {
            self.tap.forget(&handle.id);
            if !self.rmcp_waits {
                return;
            }
        } else {
            self.tap.cancel(&handle.id);
        }
        // Without a runtime, the connection is gone as well.
        if tokio::runtime::Handle::try_current().is_ok() {
            let reason = "the caller does not wait any longer".to_owned();
            let telling = async {
                // An error means that the connection is gone.
                let _ = handle.cancel(Some(reason)).await;
            };
            self.cancellations.spawn(telling.boxed());
        }
    }
}

impl Session {
    /// Sends a request once, and returns the result with what was mended in it.
    pub(super) async fn request_once(
        &self,
        method: &'static str,
        params: Value,
        options: &RequestOptions<'_>,
    ) -> Result<(Box<RawValue>, Mended), Error> {
        let result = match self.reply(method, params, options).await {
            Ok(SlotReply::Result(result, mended)) => Ok((result, mended)),
            Ok(SlotReply::Error(error)) => Err(Error::from_json_rpc(error)),
            Ok(SlotReply::Failed(error)) | Err(error) => Err(error),
        };
        result.map_err(|error| error.at(&self.target).during(method))
    }

    async fn reply(
        &self,
        method: &'static str,
        params: Value,
        options: &RequestOptions<'_>,
    ) -> Result<SlotReply, Error> {
        // rmcp copies arguments of listed tools to headers.
        let is_shared = method == "tools/list" && self.server.is_stateless();
        let (sender, progress) = options
            .on_progress
            .map(|_| channel(PROGRESS_BUFFER))
            .unzip();
        let slot = Slot::new(is_shared, sender);
        let mut request = CustomRequest::new(method, Some(params));
        request.extensions.insert(SlotExtension(slot.clone()));
        if let Some(headers) = options.headers {
            request.extensions.insert(Headers(headers.clone()));
        }
        let mut peer_options = PeerRequestOptions::no_options();
        peer_options.meta = options.meta.cloned().map(RequestMetaObject::from);
        let sending = self
            .service
            .send_request_with_option(request.into(), peer_options);
        let handle = sending
            .await
            .map_err(|error| not_answered(&self.tap, error))?;
        let mut sent = SentRequest {
            handle: Some(handle),
            has_ended: false,
            rmcp_waits: false,
            slot: &slot,
            tap: &self.tap,
            cancellations: &self.cancellations,
        };
        let answered = self.answered(&mut sent, progress, options).await;
        let answered = answered.map_err(|error| slot.explained(error))?;
        // rmcp counts a broken connection as the end, but the server may go on.
        sent.has_ended = slot.is_answered().unwrap_or(answered.is_some());
        sent.rmcp_waits = answered.is_none();
        match (slot.take(), answered) {
            (Some(reply), _) => Ok(reply),
            (None, Some(Err(error))) => Err(match slot.instead() {
                // Most likely it was the answer.
                Some(instead) if instead.kind() == ErrorKind::ParseError => instead,
                // Anything else was for another request, so the server may still work on this one.
                _ => slot.explained(not_answered(&self.tap, error)),
            }),
            (None, _) => Err(Error::new(
                ErrorKind::Protocol,
                "the server sent no response to the request",
            )),
        }
    }

    /// Waits until rmcp has a response, or until the transport has failed. An error means that the time is over; time in which
    /// the server waits for this side does not count.
    async fn answered(
        &self,
        sent: &mut SentRequest<'_>,
        mut progress: Option<Receiver<Progress>>,
        options: &RequestOptions<'_>,
    ) -> Result<Option<Result<(), ServiceError>>, Error> {
        let limit = options.timeout.unwrap_or(self.timeouts.request);
        let mut deadline = self.asking.deadline(limit);
        let handle = sent.handle.as_mut().expect("it was just sent");
        let report = |one: Progress| {
            if let Some(report) = options.on_progress {
                report(one);
            }
        };
        loop {
            tokio::select! {
                // Progress comes last, so that a server cannot put off the response or the deadline with it.
                biased;
                response = &mut handle.rx => {
                    // What has come before the response, but was not yet seen.
                    if let Some(progress) = &mut progress {
                        for _ in 0..progress.len() {
                            progress.try_recv().into_iter().for_each(report);
                        }
                    }
                    let response = response.unwrap_or(Err(ServiceError::TransportClosed));
                    return Ok(Some(response.map(|_| ())));
                }
                () = sent.slot.failed.notified() => return Ok(None),
                () = deadline.over() => return Err(timed_out(deadline.limit())),
                Some(one) = async { progress.as_mut()?.recv().await } => {
                    report(one);
                    if let Some(total) = options.max_total {
                        deadline.restart(limit, total);
                    }
                }
            }
        }
    }
}
