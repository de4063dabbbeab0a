//! Why a module could not be fetched.

/// Why a module could not be fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The address is none.
    #[error("this is no address")]
    Address(#[from] url::ParseError),
    /// What is fetched runs, so nobody on the way may change it.
    #[error("a servlet is fetched over `https`; `http` is for this machine only")]
    Insecure,
    /// It was asked without encryption, so what it says is not followed to another machine.
    #[error("it is somewhere else, says this machine; give the address where it is")]
    Redirect,
    /// The server redirects to a place that is no URL.
    #[error("the server redirects to something that is not a URL")]
    Location,
    /// The server answered with an error, or not at all.
    #[error("the server did not send it")]
    Server(#[source] Box<ureq::Error>),
    /// The connection broke.
    #[error("the connection broke")]
    Broken(#[from] std::io::Error),
    /// It is larger than any servlet.
    #[error("it is larger than {limit} bytes")]
    TooLarge {
        /// The most that is read.
        limit: u64,
    },
}
