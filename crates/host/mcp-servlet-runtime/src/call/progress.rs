//! The progress of a running call. It can still be read after the call was stopped.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// The progress of a running call.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    has_started: AtomicBool,
    memory: AtomicU64,
}

impl Progress {
    /// Records that the call runs its export.
    pub(crate) fn start(&self) {
        self.has_started.store(true, Relaxed);
    }

    /// Whether the call runs its export. Before, it makes its instance.
    pub(crate) fn has_started(&self) -> bool {
        self.has_started.load(Relaxed)
    }

    /// Records the memory of its instance in bytes.
    pub(crate) fn set_memory(&self, bytes: u64) {
        self.memory.store(bytes, Relaxed);
    }

    /// The memory of its instance in bytes, if there is an instance.
    pub(crate) fn memory(&self) -> Option<u64> {
        match self.memory.load(Relaxed) {
            0 => None,
            bytes => Some(bytes),
        }
    }
}
