//! Functions that the host offers, and their mocks in tests.

#[cfg(not(target_family = "wasm"))]
mod native;
#[cfg(target_family = "wasm")]
mod wasm;

use super::encoding::{Decode, Encode};
use super::error::Error;

#[cfg(not(target_family = "wasm"))]
pub use self::native::{Slot, ask, check_input, mock, tell};
#[cfg(target_family = "wasm")]
pub use self::wasm::{call, call_with};

/// Reads the result of an import.
///
/// # Errors
///
/// If the payload is invalid; the message names the import and the position.
pub fn answer<E, T: Decode<E>>(import: &'static str, payload: Vec<u8>) -> Result<T, Error> {
    let decoded = T::decode(payload);
    decoded.map_err(|reason| Error::invalid_payload("answer of import", import, &reason))
}

#[cold]
#[inline(never)]
fn unsendable(import: &'static str, reason: &str) -> Error {
    Error::invalid_payload("input of import", import, reason)
}
