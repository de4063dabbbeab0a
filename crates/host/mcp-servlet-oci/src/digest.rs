//! SHA-256 digests, the only ones that are read.

use std::fmt;

use mcp_servlet_common::hex;
use sha2::{Digest as _, Sha256};

const ALGORITHM: &str = "sha256:";

/// A SHA-256 digest. It is shown as `sha256:` and 64 hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Digest(String);

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(hex(&Sha256::digest(bytes)))
    }

    /// Reads `sha256:` and 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.strip_prefix(ALGORITHM)?;
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let is_digest = hex.len() == 64 && hex.bytes().all(is_hex);
        is_digest.then(|| Self(hex.to_owned()))
    }

    /// The hexadecimal digits.
    pub fn hex(&self) -> &str {
        &self.0
    }
}

impl From<[u8; 32]> for Digest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(hex(&bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ALGORITHM}{}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
