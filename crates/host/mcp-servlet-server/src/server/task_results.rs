//! Limits the memory for what tasks keep until clients fetch it: results and input requests.

use std::{io, sync::Arc};

use mcp_servlet_call::RpcError;
use serde::Serialize;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::semaphore;

/// The number of bytes per permit: at most 2^32 permits can be acquired at once.
const UNIT: u64 = 1 << 10;

/// Room for results, in units.
#[derive(Debug)]
pub(crate) struct Results {
    limit: Option<u64>,
    room: Arc<Semaphore>,
}

impl Results {
    pub(crate) fn new(limit: Option<u64>) -> Self {
        let units = limit.map_or(u64::MAX, |limit| limit.div_ceil(UNIT));
        Self {
            limit,
            room: semaphore(usize::try_from(units).unwrap_or(usize::MAX)),
        }
    }

    /// Reserves room for a value as JSON, until the permit is dropped.
    ///
    /// `what` names the value in the error, such as `result`.
    pub(crate) fn keep(
        &self,
        what: &str,
        value: &impl Serialize,
    ) -> Result<OwnedSemaphorePermit, RpcError> {
        let size = json_size(value);
        let units = u32::try_from(size.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let kept = Arc::clone(&self.room).try_acquire_many_owned(units);
        kept.map_err(|_| self.full(what, size))
    }

    fn full(&self, what: &str, size: u64) -> RpcError {
        let limit = self.limit.unwrap_or(u64::MAX);
        let may_fit_later = size <= limit;
        let retry = if may_fit_later {
            "try again when other tasks are over, or "
        } else {
            ""
        };
        let message = format!(
            "the {what} of the task has {size} bytes; everything that tasks keep for clients may have {limit} bytes \
             together: {retry}have the operator raise `results` in `[tasks]`"
        );
        RpcError::new(RpcError::BUSY, message).with_data(json!({ "retry": may_fit_later }))
    }
}

/// The size of a value as JSON, in bytes.
pub(crate) fn json_size(value: &impl Serialize) -> u64 {
    struct Counted(u64);
    impl io::Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counted = Counted(0);
    match serde_json::to_writer(&mut counted, value) {
        Ok(()) => counted.0,
        Err(_) => u64::MAX,
    }
}
