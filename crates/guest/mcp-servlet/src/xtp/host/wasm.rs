//! Imports inside a host. The expansion of `__import!` declares the foreign function.

use super::{Encode, Error, unsendable};
use crate::host::abi;

/// Calls an import without input; it returns the handle of its output, or 0 for none.
pub fn call(import: impl FnOnce() -> u64) -> Vec<u8> {
    abi::exchange(None, |_| import())
}

/// Calls an import with an input.
///
/// # Errors
///
/// If the value cannot be written; the message names the import.
pub fn call_with<E, T: Encode<E> + ?Sized>(
    name: &'static str,
    input: &T,
    import: impl FnOnce(u64) -> u64,
) -> Result<Vec<u8>, Error> {
    match input.encode() {
        Ok(payload) => Ok(abi::exchange(Some(&payload), import)),
        Err(reason) => Err(unsendable(name, &reason)),
    }
}
