//! The lists of a host, in the form in which clients get them.

use std::{
    collections::HashMap,
    ptr,
    sync::{Arc, Mutex, OnceLock, Weak},
};

use mcp_servlet_common::lock;
use mcp_servlet_host::{FeatureKind, Host};
use serde_json::Value;

use crate::era::Era;

/// The lists of the newest host that was asked for one.
#[derive(Debug, Default)]
pub(crate) struct ListCache(Mutex<Option<(Weak<Host>, Arc<Lists>)>>);

/// The lists of one host: one for each kind and era. Each is written when the first client asks for it.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    tools: ByEra,
    prompts: ByEra,
    resources: ByEra,
    templates: ByEra,
}

#[derive(Debug, Default)]
struct ByEra {
    legacy: OnceLock<List>,
    modern: OnceLock<List>,
}

/// The entries of a list.
#[derive(Debug)]
pub(crate) struct List {
    entries: Vec<Value>,
    /// The position of each entry, by the member that identifies it.
    positions: HashMap<String, usize>,
}

impl ListCache {
    pub(crate) fn for_host(&self, host: &Arc<Host>) -> Arc<Lists> {
        let mut cached = lock(&self.0);
        match &*cached {
            Some((of, lists)) if ptr::eq(of.as_ptr(), Arc::as_ptr(host)) => Arc::clone(lists),
            _ => {
                let lists = Arc::<Lists>::default();
                *cached = Some((Arc::downgrade(host), Arc::clone(&lists)));
                lists
            }
        }
    }
}

impl Lists {
    /// A list, which `write` makes if no client has asked for it yet.
    pub(crate) fn get(
        &self,
        kind: FeatureKind,
        era: Era,
        write: impl FnOnce() -> Vec<Value>,
    ) -> &List {
        let (_, key) = kind.members();
        let list = match kind {
            FeatureKind::Tool => &self.tools,
            FeatureKind::Prompt => &self.prompts,
            FeatureKind::Resource => &self.resources,
            FeatureKind::ResourceTemplate => &self.templates,
        };
        let list = match era {
            Era::Legacy => &list.legacy,
            Era::Modern => &list.modern,
        };
        list.get_or_init(|| List::new(key, write()))
    }
}

impl List {
    /// `key` is the member that identifies an entry.
    pub(crate) fn new(key: &str, entries: Vec<Value>) -> Self {
        let keys = entries
            .iter()
            .map(|entry| entry[key].as_str().unwrap_or_default().to_owned());
        let positions = keys.enumerate().map(|(at, key)| (key, at)).collect();
        Self { entries, positions }
    }

    pub(crate) fn entries(&self) -> &[Value] {
        &self.entries
    }

    /// The position of the entry with this key.
    pub(crate) fn position(&self, key: &str) -> Option<usize> {
        self.positions.get(key).copied()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_is_written_once_for_each_host_and_era() {
        let cache = ListCache::default();
        let mut written = 0;
        for host in [Host::new(Vec::new()), Host::new(Vec::new())] {
            let host = Arc::new(host);
            for era in [Era::Legacy, Era::Modern, Era::Legacy, Era::Modern] {
                let lists = cache.for_host(&host);
                let list = lists.get(FeatureKind::Tool, era, || {
                    written += 1;
                    vec![json!({ "name": "a" }), json!({ "name": written })]
                });
                assert_eq!(list.position("a"), Some(0));
                assert_eq!(list.position("b"), None);
                let other = lists.get(FeatureKind::Prompt, era, Vec::new);
                assert_eq!(other.entries(), [] as [Value; 0]);
            }
        }
        assert_eq!(written, 4);
    }
}
