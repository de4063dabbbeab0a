//! The functions that modules import from this host.

pub(crate) mod ask;
pub(crate) mod http;
pub(crate) mod log;
pub(crate) mod notify;
pub(crate) mod wasi;
