//! What a service leaves out, and what is most likely a mistake.

use std::{fmt, sync::Arc};

use mcp_servlet_call::chain;
use mcp_servlet_host::{FailedLoad, Host, LoadError, UnmetNeeds};
use mcp_servlet_remote::NotReady;

/// How much a warning matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// A servlet or remote is not served.
    Error,
    /// Something else is left out, or most likely a mistake.
    Warning,
    /// Something could not be proved, and may still be right.
    Note,
}

/// Something that a service leaves out, or that is most likely a mistake.
#[derive(Debug)]
#[non_exhaustive]
pub struct Warning {
    /// How much it matters.
    pub severity: Severity,
    /// What is wrong, and where. It may have several lines.
    pub message: String,
    /// How to fix it, if there is general advice.
    pub help: Option<String>,
    /// The needs of a servlet that are not met, if that is the problem and there is no configuration.
    pub unmet: Option<UnmetNeeds>,
}

impl Warning {
    /// A warning with this message.
    pub fn new(severity: Severity, message: String, help: Option<String>) -> Self {
        Self {
            severity,
            message,
            help,
            unmet: None,
        }
    }
}

/// Where warnings go.
#[derive(Clone)]
pub(crate) struct Warnings(Arc<dyn Fn(&Warning) + Send + Sync>);

impl Default for Warnings {
    fn default() -> Self {
        Self(Arc::new(log))
    }
}

impl fmt::Debug for Warnings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Warnings")
    }
}

/// Logs a warning.
fn log(warning: &Warning) {
    let Warning {
        severity,
        message,
        help,
        ..
    } = warning;
    match severity {
        Severity::Error => tracing::error!(help, "{message}"),
        Severity::Warning => tracing::warn!(help, "{message}"),
        Severity::Note => tracing::info!(help, "{message}"),
    }
}

impl Warnings {
    pub(crate) fn new(report: impl Fn(&Warning) + Send + Sync + 'static) -> Self {
        Self(Arc::new(report))
    }

    pub(super) fn report(&self, warning: &Warning) {
        (self.0)(warning);
    }

    /// Reports servlets that could not be loaded.
    pub(super) fn of_skipped(&self, skipped: &[FailedLoad]) {
        for failed in skipped {
            let message = format!("servlet skipped: {}", chain(failed));
            self.report(&Warning::new(Severity::Error, message, failed.error.help()));
        }
    }

    /// Reports needs that are not met.
    pub(super) fn of_needs(&self, unmet: impl Iterator<Item = UnmetNeeds>) {
        for unmet in unmet {
            let mut warning = Warning::new(Severity::Warning, unmet.to_string(), None);
            warning.unmet = Some(unmet);
            self.report(&warning);
        }
    }

    /// Reports what is left out of the lists of a host.
    pub(super) fn of_host(&self, host: &Host) {
        for problem in host.problems() {
            let help = LoadError::help(problem);
            self.report(&Warning::new(Severity::Warning, chain(problem), help));
        }
    }

    /// Reports a remote that cannot be used.
    pub(super) fn of_remote(&self, error: &NotReady) {
        let (message, help) = (error.to_string(), error.help.clone());
        self.report(&Warning::new(Severity::Warning, message, help));
    }
}
