//! SHA-256 digests of tokens, keys and certificates.

use std::fmt;

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use mcp_servlet_common::{hex, unhex};
use ring::{
    digest::{SHA256, digest},
    rand::{SecureRandom as _, SystemRandom},
};
use subtle::ConstantTimeEq as _;

/// A new key for a caller: 256 random bits in base64.
///
/// # Panics
/// If the system has no randomness.
pub fn new_key() -> String {
    let mut key = [0; 32];
    let filled = SystemRandom::new().fill(&mut key);
    filled.expect("the system has randomness");
    BASE64_URL_SAFE_NO_PAD.encode(key)
}

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sha256(pub(crate) [u8; 32]);

impl Sha256 {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut own = [0; 32];
        own.copy_from_slice(digest(&SHA256, bytes).as_ref());
        Self(own)
    }

    /// Reads 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        Some(Self(unhex(text)?.try_into().ok()?))
    }

    /// Whether both are equal. The time does not depend on where they differ.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sha256({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let digest = Sha256::of(b"abc");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), text);
        assert_eq!(Sha256::from_hex(&text.to_uppercase()), Some(digest));
        assert_eq!(Sha256::from_hex(&text[1..]), None);
        assert_eq!(Sha256::from_hex(&text.replace('b', "+")), None);
    }
}
