//! Runs servlets: their code, their instances, the queue in front of them, and the threads that they run on.
//!
//! All servlets share three engines of wasmtime. One runs code of the baseline compiler, and two run optimized code: one of them
//! takes memory from a pool, the other one on demand. Servlets whose fuel is limited share two engines of their own.
//!
//! A [`Pool`] runs the calls of one servlet, each in its own store. A call is a future: it begins on the thread that has the
//! request, and moves to threads for computation if it takes longer than a moment. Dropping the future stops the call and no
//! other.

mod address_space;
mod artifact;
mod code;
mod compile;
mod host_function;
mod instance;
mod merge;
mod plugin;
mod pool;
mod runner;
mod schedule;
mod settings;
mod stop;
mod ticker;
#[cfg(unix)]
mod untouched;

pub use host_function::{HostFunction, Messages};
pub use plugin::Plugin;
pub(crate) use pool::Pool;
pub(crate) use schedule::run_blocking;
pub(crate) use stop::Stop;
