//! The variables of a servlet. They last from call to call, whichever instance runs it.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard},
};

use mcp_servlet_common::lock;

/// The size of an entry in addition to its key and its value.
const ENTRY: usize = size_of::<String>() + size_of::<Vec<u8>>();

/// The variables of a servlet.
#[derive(Debug, Default)]
pub(crate) struct Variables(Mutex<BTreeMap<String, Vec<u8>>>);

/// The variables do not fit into their limit.
#[derive(Debug, thiserror::Error)]
#[error("Variable store is full")]
pub(crate) struct Full;

impl Variables {
    pub(crate) fn get(&self, key: &str) -> Option<Vec<u8>> {
        self.entries().get(key).cloned()
    }

    pub(crate) fn remove(&self, key: &str) {
        self.entries().remove(key);
    }

    pub(crate) fn clear(&self) {
        self.entries().clear();
    }

    /// Sets a variable, if it fits next to all others.
    pub(crate) fn set(&self, key: String, value: Vec<u8>, limit: u64) -> Result<(), Full> {
        let mut entries = self.entries();
        let others = entries
            .iter()
            .map(|(key, value)| ENTRY + key.len() + value.len());
        let size = others.sum::<usize>() + ENTRY + key.len() + value.len();
        if size as u64 > limit {
            return Err(Full);
        }
        entries.insert(key, value);
        Ok(())
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        lock(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_stay_within_their_limit() {
        let variables = Variables::default();
        let set = |length| variables.set("key".to_owned(), vec![7; length], 200);
        assert!(set(150).is_err());
        set(50).expect("it fits");
        assert_eq!(variables.get("key"), Some(vec![7; 50]));
        // The old value counts until it is replaced.
        assert!(set(51).is_err());
        variables.remove("key");
        assert_eq!(variables.get("key"), None);
        set(51).expect("it fits again");
    }
}
