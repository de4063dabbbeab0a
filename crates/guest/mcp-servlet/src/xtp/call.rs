//! One call of an export: reads the input payload and writes the output payload.

#[cfg(not(target_family = "wasm"))]
mod native;
#[cfg(target_family = "wasm")]
mod wasm;

use super::encoding::{Decode, Encode};
use super::error::Error;

#[cfg(not(target_family = "wasm"))]
pub use self::native::{Call, Export, Plugin};
#[cfg(target_family = "wasm")]
pub use self::wasm::{Call, serve};

impl Call {
    /// Reads the input.
    ///
    /// # Errors
    ///
    /// If the payload is invalid; the message names the export and the position.
    pub fn input<E, T: Decode<E>>(&mut self) -> Result<T, Error> {
        let decoded = T::decode(self.payload());
        decoded.map_err(|reason| self.invalid_payload("input of export", &reason))
    }

    /// Writes the output.
    ///
    /// # Errors
    ///
    /// If the value cannot be written; the message names the export.
    pub fn output<E, T: Encode<E> + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        match value.encode() {
            Ok(payload) => {
                self.answer(&payload);
                Ok(())
            }
            Err(reason) => Err(self.invalid_payload("output of export", &reason)),
        }
    }

    #[cold]
    #[inline(never)]
    fn invalid_payload(&self, role: &str, reason: &str) -> Error {
        Error::invalid_payload(role, self.export, reason)
    }
}
