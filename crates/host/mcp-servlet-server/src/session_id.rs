//! Ids of sessions. They are secrets: a client that knows one can send messages in the session.

use std::{borrow::Borrow, fmt, sync::Arc};

use mcp_servlet_common::hex;

/// The id of a session. Its `Debug` does not show it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct SessionId(Arc<str>);

impl SessionId {
    /// The header that names the session of a request.
    pub(crate) const HEADER: &str = "mcp-session-id";

    /// A new UUID of version 4, which has 122 random bits.
    pub(crate) fn random() -> Self {
        let mut bytes: [u8; 16] = random_bytes();
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let mut text = hex(&bytes);
        for at in [8, 13, 18, 23] {
            text.insert(at, '-');
        }
        Self(text.into())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for SessionId {
    fn from(id: &str) -> Self {
        Self(id.into())
    }
}

impl Borrow<str> for SessionId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId")
    }
}

/// 128 random bits in hexadecimal.
pub(crate) fn unguessable() -> String {
    hex(&random_bytes::<16>())
}

/// Bytes that nobody can guess.
pub(crate) fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_new_uuid_that_debug_does_not_show() {
        let (one, other) = (SessionId::random(), SessionId::random());
        assert_ne!(one, other);
        let text = one.as_str();
        assert_eq!((text.len(), &text[14..15]), (36, "4"));
        assert!("89ab".contains(&text[19..20]), "{text}");
        let parts: Vec<_> = text.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert!(!format!("{one:?}").contains(&text[..8]));
    }
}
