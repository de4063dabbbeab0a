//! Runs servlets: their instances, the queue in front of them, and the way to stop a call.
//!
//! A [`Pool`] holds the instances of one servlet. Each instance lives in a [`Slot`](slot::Slot)
//! with its own WebAssembly engine. An interrupt reaches everything that runs on an engine, so with
//! one engine per instance it stops exactly one call. A [`Call`](crate::call::Call) can be stopped
//! from the moment it enters the queue.

mod cache;
mod compile;
mod instance;
mod plugin;
mod pool;
mod prepare;
mod slot;
mod stop;
mod stored_module;
mod threads;

pub use plugin::Plugin;
pub use pool::Job;
pub(crate) use pool::{Pool, run_blocking};
pub(crate) use stop::Stop;
