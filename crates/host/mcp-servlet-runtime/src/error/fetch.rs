//! Why a module could not be fetched.

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
        "the server on this machine redirects, which is not followed; give the URL of the file itself"
    )]
    Redirect,
    /// The server redirects to something that is not a URL.
    #[error("the server redirects to an invalid URL")]
    Location,
    /// The server answered with an error or not at all.
    #[error("the download failed")]
    Server(#[source] Box<ureq::Error>),
    /// The connection broke.
    #[error("the connection was interrupted")]
    Broken(#[from] std::io::Error),
    /// The file is larger than the limit for modules.
    #[error("it is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
}
