//! Changes of a configuration that only a restart applies.

use super::{Config, Endpoint, Listener};

impl Config {
    /// The sections that differ from those with which the server started, and are only read then.
    pub(super) fn needs_restart(&self, started: &Self) -> Vec<String> {
        let mut sections = Vec::new();
        if self.http != started.http {
            sections.push("[http]".to_owned());
        }
        if self.tasks != started.tasks {
            sections.push("[tasks]".to_owned());
        }
        let is_same = |a: &Listener, b: &Listener| a == b;
        let listeners = (&*self.listeners, &*started.listeners);
        for name in differing(listeners, |one| &one.name, is_same) {
            sections.push(format!("[listener.{name}]"));
        }
        let is_same = |a: &Endpoint, b: &Endpoint| {
            let mut options = a.options.clone();
            // They are those of `[tasks]`.
            options.tasks.clone_from(&b.options.tasks);
            a.transport == b.transport && options == b.options
        };
        let endpoints = (&*self.endpoints, &*started.endpoints);
        for name in differing(endpoints, |one| &one.name, is_same) {
            sections.push(format!("[endpoint.{name}]"));
        }
        sections
    }
}

/// The names of what is only in one of the lists, or not the same in both.
fn differing<'c, T>(
    (new, old): (&'c [T], &'c [T]),
    name: fn(&T) -> &String,
    is_same: impl Fn(&T, &T) -> bool,
) -> Vec<&'c String> {
    let find = |list: &'c [T], wanted: &T| list.iter().find(|one| name(one) == name(wanted));
    let changed = new
        .iter()
        .filter(|one| find(old, one).is_none_or(|other| !is_same(one, other)));
    let removed = old.iter().filter(|one| find(new, one).is_none());
    changed.chain(removed).map(name).collect()
}
