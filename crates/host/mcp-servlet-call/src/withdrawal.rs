//! Input requests that need no response any more.

use std::{collections::BTreeSet, sync::Arc};

use tokio::sync::watch;

/// Takes back input requests of a result that need no response any more.
#[derive(Clone, Debug, Default)]
pub struct Withdrawal {
    /// What the keys of these requests begin with in the whole result.
    prefix: String,
    keys: Arc<watch::Sender<BTreeSet<String>>>,
}

impl Withdrawal {
    /// The same for a part of the result, whose keys get this prefix.
    #[must_use]
    pub fn of_part(&self, prefix: &str) -> Self {
        Self {
            prefix: self.prefix.clone() + prefix,
            keys: Arc::clone(&self.keys),
        }
    }

    /// Takes back the request with this key.
    pub fn withdraw(&self, key: &str) {
        let key = self.prefix.clone() + key;
        self.keys.send_modify(|keys| {
            keys.insert(key);
        });
    }

    /// The keys of the requests that were taken back, as the whole result has them.
    pub fn keys(&self) -> watch::Receiver<BTreeSet<String>> {
        self.keys.subscribe()
    }
}
