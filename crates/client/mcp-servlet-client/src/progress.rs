//! Progress of a request.

use std::fmt;

use serde_json::Value;

/// A report of the server about a request that takes longer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// How much is done. It grows with each report.
    pub progress: f64,
    /// How much there is to do, if the server knows.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<String>,
}

impl Progress {
    /// The parameters of `notifications/progress`, unless they are invalid.
    pub(crate) fn new(params: &Value) -> Option<Self> {
        Some(Self {
            progress: params["progress"].as_f64()?,
            total: params["total"].as_f64(),
            message: params["message"].as_str().map(str::to_owned),
        })
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.progress)?;
        if let Some(total) = self.total {
            write!(f, "/{total}")?;
        }
        match &self.message {
            Some(message) => write!(f, " {message}"),
            None => Ok(()),
        }
    }
}
