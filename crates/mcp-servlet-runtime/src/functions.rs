//! The host functions that modules import.

pub(crate) mod ask;
pub(crate) mod http;
pub(crate) mod log;
pub(crate) mod notify;
pub(crate) mod wasi;
