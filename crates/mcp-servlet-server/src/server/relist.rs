//! Reads lists again that servlets have changed.

use std::sync::{
    Arc, Mutex, PoisonError, TryLockError,
    atomic::{AtomicBool, Ordering},
};

use mcp_servlet_runtime::chain;

use crate::server::{Server, changes::differences};

/// Whether lists are to be read again, and whether somebody does so.
#[derive(Debug, Default)]
pub(crate) struct Relisting {
    wanted: AtomicBool,
    turn: Mutex<()>,
}

impl Relisting {
    /// Whether this is the first wish since the lists were read: then somebody has to come.
    pub(crate) fn want(&self) -> bool {
        !self.wanted.swap(true, Ordering::AcqRel)
    }

    /// Nobody can come.
    pub(crate) fn forget(&self) {
        self.wanted.store(false, Ordering::Release);
    }
}

impl Server {
    /// Reads the lists again of servlets that say when theirs change, and tells clients what is different.
    ///
    /// Waits for calls that run in these servlets. Where one does so already, it looks once more.
    pub(crate) fn relist(&self) {
        let relisting = &self.0.relisting;
        while relisting.wanted.load(Ordering::Acquire) {
            let _turn = match relisting.turn.try_lock() {
                Ok(turn) => turn,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => return,
            };
            while relisting.wanted.swap(false, Ordering::AcqRel) {
                self.relist_once();
            }
        }
    }

    fn relist_once(&self) {
        let old = self.host();
        let new = Arc::new(old.relisted());
        let known: Vec<_> = old
            .problems()
            .iter()
            .map(|problem| chain(problem))
            .collect();
        let problems = new.problems().iter().map(|problem| chain(problem));
        for problem in problems.filter(|problem| !known.contains(problem)) {
            tracing::warn!("{problem}");
        }
        let mut current = self.0.host.write().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&current, &old) {
            // Meanwhile there are other servlets, and whoever replaced them wants their lists read.
            return;
        }
        let changes = differences(&old, &new);
        *current = new;
        drop(current);
        for change in changes {
            self.notify(change);
        }
    }
}
