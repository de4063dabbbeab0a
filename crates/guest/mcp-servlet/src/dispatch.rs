//! From a request to the function that answers it.

#[cfg(target_family = "wasm")]
pub(crate) mod exports;
pub(crate) mod features;
mod request;
pub(crate) mod servlet;
