//! Calls inside a host.

use crate::dispatch::exports;
use crate::host::abi;
use crate::xtp::Error;

/// A running call.
#[derive(Debug)]
pub struct Call {
    pub(super) export: &'static str,
}

impl Call {
    #[expect(
        clippy::unused_self,
        reason = "outside of a host, a call has its payload"
    )]
    pub(super) fn payload(&mut self) -> Vec<u8> {
        abi::input()
    }

    #[expect(
        clippy::unused_self,
        reason = "outside of a host, a call keeps the answer"
    )]
    pub(super) fn answer(&mut self, payload: &[u8]) {
        abi::set_output(payload);
    }
}

/// A wasm export: returns 0 for a result, -1 for an error.
pub fn serve(export: &'static str, run: impl FnOnce(&mut Call) -> Result<(), Error>) -> i32 {
    exports::run(move || match run(&mut Call { export }) {
        Ok(()) => 0,
        Err(error) => {
            abi::set_error(error.message());
            -1
        }
    })
}
