//! The time limit of a request.

use std::time::{Duration, Instant};

use extism::Error;
use url::Url;

use super::Ended;
use crate::{call::Call, exchange::HttpFailure};

/// The deadline of a request: its own or its call's, whichever is earlier.
pub(super) struct Deadline<'a> {
    call: &'a Call,
    since: Instant,
}

impl<'a> Deadline<'a> {
    pub(super) fn of(call: &'a Call) -> Self {
        Self {
            call,
            since: Instant::now(),
        }
    }

    /// How much of the request's own time is left.
    fn own(&self) -> Option<Duration> {
        let limit = self.call.limits().http_timeout?;
        Some(limit.saturating_sub(self.since.elapsed()))
    }

    pub(super) fn left(&self) -> Option<Duration> {
        let all = self.own().into_iter().chain(self.call.time_left());
        all.min()
    }

    /// The failure of a request. If the time of its call is over, the call ends, because the
    /// servlet could not go on anyway.
    pub(super) fn ended(&self, error: ureq::Error, url: &Url) -> Ended {
        if !matches!(error, ureq::Error::Timeout(_)) {
            return HttpFailure::sort(error, url).into();
        }
        let is_first = |own: &Duration| self.call.time_left().is_none_or(|left| *own < left);
        match self.call.limits().http_timeout {
            Some(limit) if self.own().as_ref().is_some_and(is_first) => {
                HttpFailure::timed_out(url, limit).into()
            }
            _ => {
                self.call.expire();
                Ended::Stopped(Error::new(error))
            }
        }
    }
}
