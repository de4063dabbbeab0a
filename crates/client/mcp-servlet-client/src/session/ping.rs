//! Asks whether the server answers.

use std::time::{Duration, Instant};

use serde_json::json;

use super::Session;
use super::request::RequestOptions;
use crate::error::Error;

/// The answer to a ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pong {
    /// How long the answer took.
    pub latency: Duration,
}

impl Session {
    /// Asks whether the server answers: with `ping`, or since 2026-07-28 with `server/discover`.
    ///
    /// # Errors
    /// If it does not.
    pub async fn ping(&self) -> Result<Pong, Error> {
        let method = if self.server.is_stateless() {
            "server/discover"
        } else {
            "ping"
        };
        let start = Instant::now();
        self.request(method, json!({}), &RequestOptions::default())
            .await?;
        Ok(Pong {
            latency: start.elapsed(),
        })
    }
}
