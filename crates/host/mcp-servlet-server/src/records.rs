//! What is recorded of requests: the audit log, and spans for a collector.
//!
//! Records belong to the process. A service opens them before it serves, and closes them when nothing is served any more, which writes
//! what waits. Without a section `[audit]` or `[traces]`, a request only finds out that there are none.

mod account;
mod audit_file;
mod audit_log;
mod collector;
mod session;
mod traces;

use std::{fmt, io, sync::Arc};

use axum::http::Extensions;
use mcp_servlet_access::audit::{AuditOptions, CallerFields, Event, Fields};
use mcp_servlet_call::Nursery;
use prometheus_client::metrics::counter::Counter;
use tokio::sync::OnceCell;

pub(crate) use account::{
    Account, Asked, InnerRecord, Notes, exceeded_error, note_exceeded, note_list,
};
use audit_file::AuditFile;
use audit_log::AuditLog;
pub(crate) use session::SessionRecord;
pub use traces::{TraceOptions, TraceTrust};
use traces::{Traces, TracesError};

use crate::{access::caller, http::peer_text, server::Server};

/// What a configuration says about records.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RecordOptions {
    /// The audit log.
    pub audit: Option<AuditOptions>,
    /// Spans for a collector.
    pub traces: Option<TraceOptions>,
}

/// The open records of a process. Clones are handles to the same ones.
#[derive(Clone)]
pub(crate) struct Records(Arc<Inner>);

struct Inner {
    audit: Option<Arc<AuditLog>>,
    traces: Option<Traces>,
    /// The tasks of the records. They outlive what is served, which is written last.
    nursery: Nursery,
    closed: OnceCell<()>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.nursery.cancel();
    }
}

/// Why records cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordsError {
    /// The audit log cannot be opened.
    #[error("cannot open the audit log `{path}`: `to` in `[audit]`")]
    Audit {
        /// Its path.
        path: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Spans cannot be sent.
    #[error("cannot send traces: `[traces]`: {problem}")]
    Traces {
        /// What is wrong.
        problem: String,
    },
}

impl Records {
    pub(crate) fn open(
        options: &RecordOptions,
        lost: Counter,
    ) -> Result<Option<Self>, RecordsError> {
        if options.audit.is_none() && options.traces.is_none() {
            return Ok(None);
        }
        let audit = options
            .audit
            .as_ref()
            .map(|options| open_audit_log(options, lost))
            .transpose()?;
        let nursery = Nursery::new();
        let traces = options
            .traces
            .as_ref()
            .map(|options| Traces::start(options, nursery.clone()))
            .transpose()
            .map_err(|error: TracesError| RecordsError::Traces {
                problem: error.to_string(),
            })?;
        let records = Self(Arc::new(Inner {
            audit,
            traces,
            nursery,
            closed: OnceCell::new(),
        }));
        records.note(Event::Start, Fields::default());
        Ok(Some(records))
    }

    pub(crate) fn audit(&self) -> Option<&Arc<AuditLog>> {
        self.0.audit.as_ref()
    }

    /// Whether calls are refused, because the audit log cannot be written.
    pub(crate) fn refuse_calls(&self) -> bool {
        self.audit().is_some_and(|log| log.refuses_calls())
    }

    fn traces(&self) -> Option<&Traces> {
        self.0.traces.as_ref()
    }

    pub(crate) fn note(&self, event: Event, fields: Fields) {
        if let Some(log) = self.audit() {
            log.write(event, fields);
        }
    }

    /// Opens the file of the audit log again, after another program has renamed it. SIGHUP does the same.
    pub(crate) fn reopen(&self) {
        if let Some(log) = self.audit() {
            log.reopen();
        }
    }

    /// Writes the lines and sends the spans that wait, for five seconds each at most. A second call waits for the first.
    pub(crate) async fn close(&self) {
        let close = || async {
            let audit = async {
                if let Some(log) = self.audit() {
                    log.close().await;
                }
            };
            let traces = async {
                if let Some(traces) = self.traces() {
                    traces.close().await;
                }
            };
            tokio::join!(audit, traces);
            self.0.nursery.end().await;
        };
        self.0.closed.get_or_init(close).await;
    }
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").finish_non_exhaustive()
    }
}

fn open_audit_log(options: &AuditOptions, lost: Counter) -> Result<Arc<AuditLog>, RecordsError> {
    let failed = |source| RecordsError::Audit {
        path: options.to.name(),
        source,
    };
    let file = AuditFile::open(options).map_err(failed)?;
    let started = AuditLog::start(options.clone(), file, lost);
    started.map_err(failed)
}

impl Server {
    /// The records of the process, if it has any.
    pub(crate) fn records(&self) -> Option<&Records> {
        self.0.process.records.get()
    }

    /// The sender of a request with these extensions, and its endpoint.
    pub(crate) fn fields_of(&self, of: Option<&Extensions>) -> Fields {
        let caller = of.and_then(caller);
        Fields {
            endpoint: self.name().map(str::to_owned),
            peer: of.and_then(peer_text),
            caller: caller.map(|caller| CallerFields::of(&caller)),
            ..Fields::default()
        }
    }

    /// Writes a line of the audit log, if there is one.
    pub(crate) fn note(&self, event: Event, fields: impl FnOnce() -> Fields) {
        if let Some(log) = self.records().and_then(Records::audit) {
            log.write(event, fields());
        }
    }
}
