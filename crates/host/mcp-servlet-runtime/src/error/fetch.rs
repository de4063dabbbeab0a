//! Why a module could not be fetched.

use mcp_servlet_types::HttpErrorKind;

use crate::{exchange::HttpFailure, inspect::SIZE};

/// Why a module could not be fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The URL is not valid.
    #[error("invalid URL")]
    Address(#[from] url::ParseError),
    /// The URL is not `https`. A module is code that runs here, so it must not be changed on the way.
    #[error("expected an `https` URL; `http` is allowed for this machine only")]
    Insecure,
    /// A server on this machine redirects. The connection may be unencrypted, so its redirects are
    /// not followed.
    #[error(
        "redirects of a server on this machine are not followed; give the URL of the file itself"
    )]
    Redirect,
    /// The server redirects to something that is not a URL.
    #[error("the server redirects to an invalid URL")]
    Location,
    /// The server answered with an error.
    #[error("the server answered with the status {0}")]
    Status(u16),
    /// The server did not answer, or the connection broke.
    #[error("the download failed")]
    Server(#[source] HttpFailure),
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
            HttpErrorKind::TooLarge => Self::TooLarge { limit: SIZE },
            _ => Self::Server(failure),
        }
    }
}
