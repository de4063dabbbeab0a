//! Calls without a host: a test passes a payload and gets one back.

use std::fmt;

use crate::xtp::Error;

/// A running call.
#[derive(Debug)]
pub struct Call {
    pub(super) export: &'static str,
    payload: Vec<u8>,
}

impl Call {
    pub(super) fn payload(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.payload)
    }

    pub(super) fn answer(&mut self, payload: &[u8]) {
        self.payload = payload.to_vec();
    }
}

/// An export of the plugin.
#[derive(Clone, Copy)]
pub struct Export {
    /// Its name in the wasm.
    pub name: &'static str,
    #[doc(hidden)]
    pub run: fn(&mut Call) -> Result<(), Error>,
}

impl fmt::Debug for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Export").field(&self.name).finish()
    }
}

/// A type that a generated `export!` made the plugin of its crate; for tests.
pub trait Plugin {
    /// The exports of the plugin, in the order of the schema.
    const EXPORTS: &'static [Export];

    /// Calls an export like a host: with a payload, through the same decoding and encoding as in wasm.
    ///
    /// The result of an export without output is empty. Write `<MyPlugin as Plugin>::call`: an interface can have an export
    /// `call` of its own.
    ///
    /// # Errors
    ///
    /// The text that the host would get as Extism's error.
    fn call(export: &str, input: &[u8]) -> Result<Vec<u8>, Error> {
        let Some(found) = Self::EXPORTS.iter().find(|found| found.name == export) else {
            return Err(Error::about("there is no export", export, ""));
        };
        let mut call = Call {
            export: found.name,
            payload: input.to_vec(),
        };
        (found.run)(&mut call)?;
        Ok(call.payload)
    }
}
