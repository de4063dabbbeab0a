//! The requests that run in a session over streamable HTTP.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
};

use mcp_servlet_common::lock;
use rmcp::model::RequestId;

/// The ids of our own of the requests that run, by the ids that the client chose. Several can have the same.
#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<HashMap<RequestId, Vec<Arc<str>>>>);

/// A request that counts as running until the last clone is dropped. Requests carry it until they are answered.
#[derive(Clone, Debug)]
pub(super) struct Running {
    _entry: Arc<Entry>,
}

#[derive(Debug)]
struct Entry {
    all: Arc<InFlight>,
    id: RequestId,
    own: Arc<str>,
}

impl InFlight {
    fn requests(&self) -> MutexGuard<'_, HashMap<RequestId, Vec<Arc<str>>>> {
        lock(&self.0)
    }

    /// Adds a request with this id of our own.
    pub(super) fn add(self: &Arc<Self>, id: RequestId, own: Arc<str>) -> Running {
        let mut all = self.requests();
        all.entry(id.clone()).or_default().push(Arc::clone(&own));
        drop(all);
        let entry = Entry {
            all: Arc::clone(self),
            id,
            own,
        };
        Running {
            _entry: Arc::new(entry),
        }
    }

    /// Our ids of the running requests with this id.
    pub(super) fn find(&self, id: &RequestId) -> Vec<Arc<str>> {
        self.requests().get(id).cloned().unwrap_or_default()
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut all = self.all.requests();
        if let Some(same) = all.get_mut(&self.id) {
            same.retain(|own| *own != self.own);
            if same.is_empty() {
                all.remove(&self.id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_found_until_they_end() {
        let all = Arc::new(InFlight::default());
        let (id, [one, two]) = (RequestId::Number(1), ["1", "2"].map(Arc::<str>::from));
        let first = all.add(id.clone(), Arc::clone(&one));
        let copy = first.clone();
        let second = all.add(id.clone(), Arc::clone(&two));
        assert_eq!(all.find(&id), [Arc::clone(&one), Arc::clone(&two)]);
        drop(first);
        assert_eq!(all.find(&id), [one, Arc::clone(&two)]);
        drop(copy);
        assert_eq!(all.find(&id), [two]);
        drop(second);
        assert!(all.requests().is_empty());
    }
}
