//! Streams of bytes, with or without TLS.

use std::error::Error;

use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::io::{AsyncRead, AsyncWrite};

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// A stream of bytes, with or without TLS.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

impl Connection for Box<dyn Stream> {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}
