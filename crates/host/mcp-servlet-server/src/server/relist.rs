//! Reads the lists of servlets again after they have changed.

use std::sync::{
    Arc, Mutex, PoisonError, TryLockError,
    atomic::{AtomicBool, Ordering},
};

use mcp_servlet_host::Relisted;
use mcp_servlet_runtime::chain;

use crate::server::{Server, changes::differences};

/// Whether lists have to be read again, and whether that is already being done.
#[derive(Debug, Default)]
pub(crate) struct Relisting {
    wanted: AtomicBool,
    turn: Mutex<()>,
}

impl Relisting {
    /// Requests a new read. True if none was requested before, so that the caller has to start one.
    pub(crate) fn want(&self) -> bool {
        !self.wanted.swap(true, Ordering::AcqRel)
    }

    /// Withdraws the request, because the caller cannot start a read.
    pub(crate) fn forget(&self) {
        self.wanted.store(false, Ordering::Release);
    }
}

impl Server {
    /// Reads the lists of servlets that announce changes, for all endpoints, and notifies clients of
    /// the differences.
    ///
    /// Waits for running calls of these servlets. If another thread is already reading, that thread
    /// reads once more.
    pub(crate) fn relist(&self) {
        let relisting = &self.0.process.relisting;
        while relisting.wanted.load(Ordering::Acquire) {
            let _turn = match relisting.turn.try_lock() {
                Ok(turn) => turn,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => return,
            };
            while relisting.wanted.swap(false, Ordering::AcqRel) {
                let mut relisted = Relisted::default();
                for server in self.0.process.servers() {
                    server.relist_once(&mut relisted);
                }
            }
        }
    }

    fn relist_once(&self, relisted: &mut Relisted) {
        let old = self.host();
        let new = Arc::new(old.relisted_with(relisted));
        let known: Vec<_> = old.problems().map(|problem| chain(problem)).collect();
        let problems = new.problems().map(|problem| chain(problem));
        for problem in problems.filter(|problem| !known.contains(problem)) {
            tracing::warn!("{problem}");
        }
        let mut current = self.0.host.write().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&current, &old) {
            // The servlets were replaced meanwhile, and `replace` reads the new lists.
            return;
        }
        let changes = differences(&old, &new);
        *current = new;
        drop(current);
        self.0.watches.resolve(self);
        for change in changes {
            self.notify(change);
        }
    }
}
