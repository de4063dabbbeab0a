//! Why a module could not be fetched.

use mcp_servlet_call::HttpFailure;
use mcp_servlet_http::{SendError, TrustError};
use mcp_servlet_types::HttpErrorKind;

use crate::inspect::MAX_MODULE;

/// Why a module could not be fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The URL is not valid.
    #[error("invalid URL")]
    Address(#[from] url::ParseError),
    /// The certificates that the environment names cannot be used.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The request could not be sent, or had no response.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The server answered with an error.
    #[error("the server answered with the status {0}")]
    Status(u16),
    /// The file is larger than the limit for modules.
    #[error("it is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
}

impl From<HttpFailure> for FetchError {
    fn from(failure: HttpFailure) -> Self {
        match failure.kind {
            HttpErrorKind::TooLarge => Self::TooLarge { limit: MAX_MODULE },
            _ => Self::Send(failure.into()),
        }
    }
}
