//! Cancelled requests that a server may still work on.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use rmcp::model::RequestId;

/// How many are kept. A server that answers none of so many is not worth more memory.
const MAX_CANCELLED: usize = 1024;
/// How long a request is kept that the server does not answer. MCP says that it should not answer one that was cancelled.
const KEEP_CANCELLED: Duration = Duration::from_mins(5);

/// The requests that were cancelled, and that the server has not answered. They matter because the server may still send
/// requests and log messages that belong to them, or answer them in the response stream of another request.
#[derive(Debug, Default)]
pub(super) struct Cancelled {
    /// The newest ids without an answer. A late answer with one of them belongs to no other request.
    unanswered: VecDeque<RequestId>,
    /// The ids for which the server may also send requests and log messages, with the times at which they are forgotten.
    ids: HashMap<RequestId, Instant>,
    /// Whether the server has a stream for messages that belong to no request. Some servers send all of their requests there.
    pub(super) has_common_stream: bool,
}

impl Cancelled {
    /// Notes that the answer to this request may come late, in the response to another one.
    pub(super) fn expect_late(&mut self, id: &RequestId) {
        if self.unanswered.len() >= MAX_CANCELLED {
            self.unanswered.pop_front();
        }
        self.unanswered.push_back(id.clone());
    }

    pub(super) fn add(&mut self, id: &RequestId, now: Instant) {
        self.expect_late(id);
        if self.ids.len() < MAX_CANCELLED {
            self.ids.insert(id.clone(), now + KEEP_CANCELLED);
        }
    }

    /// Whether an answer with this id may be a late one.
    pub(super) fn contains(&self, id: &RequestId) -> bool {
        self.unanswered.contains(id)
    }

    /// Forgets a request, because the server has answered it.
    pub(super) fn remove(&mut self, id: &RequestId) {
        self.unanswered.retain(|one| one != id);
        self.ids.remove(id);
    }

    /// Forgets a request whose response stream is not read any more: at once if the server has no other stream for what belongs
    /// to the request, otherwise after the time that begins now. Its answer may still come in the stream of another request.
    pub(super) fn unread(&mut self, id: &RequestId, now: Instant) {
        if !self.has_common_stream {
            self.ids.remove(id);
        } else if let Some(end) = self.ids.get_mut(id) {
            *end = now + KEEP_CANCELLED;
        }
    }

    /// Forgets all, because their session has ended.
    pub(super) fn clear(&mut self) {
        self.unanswered.clear();
        self.ids.clear();
    }

    pub(super) fn is_empty(&mut self, now: Instant) -> bool {
        self.ids.retain(|_, end| *end > now);
        self.ids.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: RequestId = RequestId::Number(7);

    #[test]
    fn a_request_is_kept_until_the_server_answers_or_could_have() {
        let mut cancelled = Cancelled::default();
        let now = Instant::now();
        cancelled.add(&ID, now);
        assert!(!cancelled.is_empty(now));
        cancelled.remove(&ID);
        assert!(cancelled.is_empty(now));
        cancelled.add(&ID, now);
        assert!(!cancelled.is_empty(now + KEEP_CANCELLED / 2));
        assert!(cancelled.is_empty(now + KEEP_CANCELLED));
    }

    #[test]
    fn a_request_whose_response_is_not_read_is_forgotten() {
        let mut cancelled = Cancelled::default();
        let now = Instant::now();
        cancelled.add(&ID, now);
        cancelled.unread(&ID, now);
        assert!(cancelled.is_empty(now));
        assert!(cancelled.contains(&ID), "its answer may still come");
        cancelled.remove(&ID);
        assert!(!cancelled.contains(&ID));
    }

    #[test]
    fn with_a_common_stream_it_is_forgotten_after_some_time() {
        let mut cancelled = Cancelled {
            has_common_stream: true,
            ..Cancelled::default()
        };
        let now = Instant::now();
        cancelled.add(&ID, now);
        let sent = now + KEEP_CANCELLED / 2;
        cancelled.unread(&ID, sent);
        assert!(!cancelled.is_empty(now + KEEP_CANCELLED));
        assert!(cancelled.is_empty(sent + KEEP_CANCELLED));
        // It was answered before.
        cancelled.unread(&ID, now);
        assert!(cancelled.is_empty(now));
    }

    #[test]
    fn a_server_that_answers_nothing_costs_little_memory() {
        let mut cancelled = Cancelled::default();
        for number in 0..10_000 {
            cancelled.add(&RequestId::Number(number), Instant::now());
        }
        assert_eq!(cancelled.ids.len(), MAX_CANCELLED);
        assert_eq!(cancelled.unanswered.len(), MAX_CANCELLED);
        assert!(cancelled.contains(&RequestId::Number(9_999)));
    }
}
