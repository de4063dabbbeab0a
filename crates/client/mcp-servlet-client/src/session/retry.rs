//! Which requests are sent again, and how often.

use futures_util::future::BoxFuture;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::sleep;

use super::Session;
use super::request::RequestOptions;
use crate::error::Error;
use crate::incoming::Mended;

/// How often a request has been sent.
#[derive(Default)]
pub(super) struct Attempts {
    failed: u32,
    /// Whether the request was repeated because its connection broke.
    is_repeated: bool,
}

impl Attempts {
    /// Waits until the request may be sent again. An error is the last one.
    pub(super) async fn again(&mut self, session: &Session, error: Error) -> Result<(), Error> {
        if session.has_ended() {
            return Err(error);
        }
        // A server may close an idle connection just when a request is sent on it.
        if error.is_broken_connection() && !std::mem::replace(&mut self.is_repeated, true) {
            tracing::debug!(%error, "request sent again");
            return Ok(());
        }
        self.failed += 1;
        if session.retry.is_never() || !error.is_temporary() {
            return Err(error);
        }
        if !session.retry.goes_on(self.failed) {
            return Err(error.after_attempts(self.failed));
        }
        tracing::info!(attempts = self.failed, %error, "request not answered yet");
        sleep(session.retry.pause()).await;
        Ok(())
    }
}

/// Whether a method changes nothing, so that a server may get the request twice.
fn only_reads(method: &str) -> bool {
    matches!(
        method,
        "ping"
            | "server/discover"
            | "tools/list"
            | "resources/list"
            | "resources/templates/list"
            | "prompts/list"
            | "resources/read"
            | "prompts/get"
            | "completion/complete"
    )
}

impl Session {
    /// Sends a request, and returns the result as the server wrote it.
    pub(super) async fn request(
        &self,
        method: &'static str,
        params: Value,
        options: &RequestOptions<'_>,
    ) -> Result<Box<RawValue>, Error> {
        let (result, _) = self.request_mended(method, params, options).await?;
        Ok(result)
    }

    /// Sends a request, and returns the result with what was mended in it. A request that may arrive twice is sent again if its
    /// connection breaks, and as often as the options of the session say.
    ///
    /// The future is a trait object, so that crates that await it do not compile its code again.
    pub(super) fn request_mended<'a>(
        &'a self,
        method: &'static str,
        params: Value,
        options: &'a RequestOptions<'_>,
    ) -> BoxFuture<'a, Result<(Box<RawValue>, Mended), Error>> {
        Box::pin(async move {
            if !options.is_idempotent && !only_reads(method) {
                return self.request_once(method, params, options).await;
            }
            let mut attempts = Attempts::default();
            loop {
                match self.request_once(method, params.clone(), options).await {
                    Ok(result) => return Ok(result),
                    Err(error) => attempts.again(self, error).await?,
                }
            }
        })
    }
}
