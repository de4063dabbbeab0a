//! Runs servlets: instances, the queue before them, and what stops a call.
//!
//! A [`Pool`] holds the instances of one servlet. Each lives in a [`Slot`](slot::Slot) with a WebAssembly engine of its
//! own, because an interrupt reaches everything that runs on one engine: with one engine each, it stops exactly one
//! call. A [`Call`](crate::call::Call) is the handle by which a call is stopped, from the moment it queues.

mod cache;
mod compile;
mod instance;
mod kept;
mod plugin;
mod pool;
mod prepare;
mod slot;
mod stop;
mod threads;

pub use plugin::Plugin;
pub use pool::Job;
pub(crate) use pool::{Pool, apart};
pub(crate) use stop::Stop;
