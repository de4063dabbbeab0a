//! Runs servlets: instances, the queue before them, and what stops a call.
//!
//! A [`Pool`] holds the instances of one servlet. Each lives in a [`Slot`](slot::Slot) with a WebAssembly engine of its
//! own, because an interrupt reaches everything that runs on one engine: with one engine each, it stops exactly one
//! call. A [`Call`] is the handle by which a call is stopped, from the moment it queues; the watchdog does so when its
//! time is over.

mod cache;
mod call;
mod compile;
mod instance;
mod kept;
mod plugin;
mod pool;
mod prepare;
mod slot;
mod stop;
mod threads;
mod watchdog;

pub use cache::CompileCache;
pub(crate) use call::{Call, Current, Reason};
pub(crate) use plugin::Plugin;
pub(crate) use pool::{Job, Pool, apart};
pub(crate) use stop::Stop;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks data that is whole after each of our statements, also where one of them panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
