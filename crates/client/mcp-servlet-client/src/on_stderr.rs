//! Who reads the standard error of a process.

use std::fmt;
use std::sync::Arc;

/// Takes the lines that the process of a server writes to its standard error.
#[derive(Clone)]
pub(crate) struct OnStderr(pub(crate) Arc<dyn Fn(&str) + Send + Sync>);

impl Default for OnStderr {
    fn default() -> Self {
        Self(Arc::new(|line| {
            tracing::debug!(line, "standard error of the server");
        }))
    }
}

impl fmt::Debug for OnStderr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnStderr")
    }
}
