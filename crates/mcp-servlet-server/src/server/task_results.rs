//! Limits the memory for the results of tasks.

use std::{io, sync::Arc};

use mcp_servlet_runtime::Fault;
use rmcp::{ErrorData, model::ErrorCode};
use serde::Serialize;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The number of bytes per permit, since a semaphore has at most 2^32 permits.
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
    pub(crate) fn keep(&self, value: &impl Serialize) -> Result<OwnedSemaphorePermit, ErrorData> {
        let size = size(value);
        let units = u32::try_from(size.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let kept = Arc::clone(&self.room).try_acquire_many_owned(units);
        kept.map_err(|_| self.full(size))
    }

    fn full(&self, size: u64) -> ErrorData {
        let limit = self.limit.unwrap_or(u64::MAX);
        let message = format!(
            "the result of the task has {size} bytes, and all results that wait to be fetched may have {limit} bytes \
             together; wait until the time of other tasks is up, or have the operator raise `results` in `[tasks]`"
        );
        let may_fit_later = size <= limit;
        let data = json!({ "retry": may_fit_later });
        ErrorData::new(ErrorCode(Fault::BUSY), message, Some(data))
    }
}

/// The size of a value as JSON, in bytes.
fn size(value: &impl Serialize) -> u64 {
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

/// A semaphore with one permit per task.
pub(crate) fn semaphore(max: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS)))
}
