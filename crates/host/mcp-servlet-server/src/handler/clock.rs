//! The time that a request may take. Waiting for the client's answers does not count.

use std::{sync::Mutex, time::Duration};

use mcp_servlet_call::RpcError;
use mcp_servlet_common::lock;
use serde_json::json;
use tokio::time::{Instant, sleep};

/// The time that is left for one request.
#[derive(Debug)]
pub(super) struct Clock {
    limit: Option<Duration>,
    used: Mutex<Duration>,
}

impl Clock {
    pub(super) fn new(limit: Option<Duration>) -> Self {
        Self {
            limit,
            used: Mutex::default(),
        }
    }

    /// Runs a part of the request, and drops it when the time is over. Then the error is the limit.
    /// `is_free` tells whether the work no longer counts, because the request was answered.
    pub(super) async fn bound<F: Future>(
        &self,
        work: F,
        is_free: impl Fn() -> bool,
    ) -> Result<F::Output, Duration> {
        let Some(limit) = self.limit else {
            return Ok(work.await);
        };
        let begun = Instant::now();
        let over = async {
            sleep(limit.saturating_sub(self.used())).await;
            if is_free() {
                std::future::pending::<()>().await;
            }
        };
        let result = tokio::select! {
            result = work => Ok(result),
            () = over => Err(limit),
        };
        *lock(&self.used) += begun.elapsed();
        result
    }

    fn used(&self) -> Duration {
        *lock(&self.used)
    }
}

/// The response to a request whose time is over.
pub(super) fn timed_out(limit: Duration) -> RpcError {
    let message =
        format!("the request took longer than {limit:?}, the time limit of this endpoint");
    let data = json!({ "timeout": limit.as_secs_f64() });
    RpcError::new(RpcError::INTERNAL, message).with_data(data)
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn parts_of_a_request_share_the_time() {
        let limit = Duration::from_secs(2);
        let clock = Clock::new(Some(limit));
        let part = advance(limit / 4);
        assert_eq!(clock.bound(part, || false).await, Ok(()));
        // A pause between two parts does not count.
        advance(limit).await;
        assert_eq!(clock.used(), limit / 4);
        let begun = Instant::now();
        let forever = std::future::pending::<()>();
        assert_eq!(clock.bound(forever, || false).await, Err(limit));
        assert_eq!(begun.elapsed(), limit * 3 / 4);
    }

    #[tokio::test(start_paused = true)]
    async fn answered_requests_and_requests_without_limit_go_on() {
        let limit = Duration::from_secs(2);
        let work = || sleep(5 * limit);
        let clock = Clock::new(Some(limit));
        assert_eq!(clock.bound(work(), || true).await, Ok(()));
        assert_eq!(Clock::new(None).bound(work(), || false).await, Ok(()));
    }
}
