//! Tokens that HTTP requests carry.

use std::fmt;

use futures_util::future::BoxFuture;

use crate::error::Error;

/// Gives requests their tokens.
pub(crate) trait Bearer: fmt::Debug + Send + Sync {
    /// The token for a request, which is another one than the server has refused. None if there is no login.
    fn token<'a>(
        &'a self,
        refused: Option<&'a Secret>,
    ) -> BoxFuture<'a, Result<Option<Secret>, Error>>;
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}
