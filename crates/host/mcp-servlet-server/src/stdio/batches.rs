//! The responses to arrays of messages.

use std::collections::HashSet;

use rmcp::model::RequestId;

/// The arrays whose requests are not all answered.
#[derive(Debug, Default)]
pub(super) struct Batches(Vec<Batch>);

/// The responses to one array.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The requests without a response.
    pub(super) waiting: HashSet<RequestId>,
    /// The JSON of each response.
    pub(super) responses: Vec<String>,
}

impl Batch {
    /// The array of all responses, if there are any.
    fn complete(self) -> Option<String> {
        let is_empty = self.responses.is_empty();
        (!is_empty).then(|| format!("[{}]", self.responses.join(",")))
    }
}

impl Batches {
    /// Adds the responses that are known. Returns what can be sent.
    pub(super) fn add(&mut self, batch: Batch) -> Option<String> {
        if batch.waiting.is_empty() {
            return batch.complete();
        }
        self.0.push(batch);
        None
    }

    /// Adds the response to a request. Returns what can be sent: the response itself if no array had the request.
    pub(super) fn answer(&mut self, id: &RequestId, response: String) -> Option<String> {
        let Some(at) = self.find(id) else {
            return Some(response);
        };
        self.0[at].responses.push(response);
        self.complete(at)
    }

    /// Notes that a request gets no response. Returns what can be sent.
    pub(super) fn cancel(&mut self, id: &RequestId) -> Option<String> {
        let at = self.find(id)?;
        self.complete(at)
    }

    /// The array that waits for a request, which it no longer does.
    fn find(&mut self, id: &RequestId) -> Option<usize> {
        let mut batches = self.0.iter_mut();
        batches.position(|batch| batch.waiting.remove(id))
    }

    fn complete(&mut self, at: usize) -> Option<String> {
        if !self.0[at].waiting.is_empty() {
            return None;
        }
        self.0.swap_remove(at).complete()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_sent_together() {
        let id = RequestId::Number;
        let batch = |ids: &[i64], responses: &[&str]| Batch {
            waiting: ids.iter().copied().map(id).collect(),
            responses: responses.iter().map(|text| (*text).to_owned()).collect(),
        };
        let mut batches = Batches::default();
        assert_eq!(batches.add(batch(&[], &[])), None);
        assert_eq!(batches.add(batch(&[], &["0"])).as_deref(), Some("[0]"));
        assert_eq!(batches.add(batch(&[1, 2], &["0"])), None);
        assert_eq!(batches.add(batch(&[3], &[])), None);
        assert_eq!(batches.answer(&id(4), "4".into()).as_deref(), Some("4"));
        assert_eq!(batches.answer(&id(2), "2".into()), None);
        assert_eq!(batches.cancel(&id(3)), None);
        assert_eq!(batches.cancel(&id(1)).as_deref(), Some("[0,2]"));
        assert!(batches.0.is_empty());
    }
}
