//! The type for binary data.

use std::fmt;
use std::ops::{Deref, DerefMut};

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::base64;

/// Binary data: XTP's type `buffer`.
///
/// In JSON it is always a base64 string (standard alphabet, padded; RFC 4648, section 4): in a field, an
/// `Option`, a list, a map, or alone. As a payload of `application/x-binary` or `text/plain` it is the raw
/// bytes.
///
/// ```
/// use mcp_servlet::xtp::Bytes;
///
/// let bytes = Bytes::from(b"\x00\x01\xff");
/// assert_eq!(serde_json::to_string(&Some(&bytes))?, r#""AAH/""#);
/// assert_eq!(serde_json::from_str::<Vec<Bytes>>(r#"["AAH/"]"#)?, [bytes]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    /// The bytes.
    pub fn into_vec(self) -> Vec<u8> {
        self.0
    }
}

impl Deref for Bytes {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Bytes {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<Bytes> for Vec<u8> {
    fn from(bytes: Bytes) -> Self {
        bytes.0
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl<const N: usize> From<&[u8; N]> for Bytes {
    fn from(bytes: &[u8; N]) -> Self {
        Self(bytes.to_vec())
    }
}

impl From<&str> for Bytes {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Bytes {
    fn from(text: String) -> Self {
        Self(text.into_bytes())
    }
}

impl FromIterator<u8> for Bytes {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> Self {
        Self(bytes.into_iter().collect())
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({})", self.0.escape_ascii())
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&mcp_servlet_types::base64(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Base64)
    }
}

struct Base64;

impl Visitor<'_> for Base64 {
    type Value = Bytes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string of base64")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Bytes, E> {
        match base64::decode(text) {
            Ok(bytes) => Ok(Bytes(bytes)),
            Err(_) => Err(E::custom("not base64 (standard alphabet, padded)")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Bytes;

    #[test]
    fn is_base64_at_any_depth() {
        let bytes = Bytes::from(vec![0, 1, 255]);
        let map = BTreeMap::from([("k", Some(bytes.clone()))]);
        let text = mcp_servlet_json::to_string(&(&bytes, [&bytes], map, None::<Bytes>)).unwrap();
        assert_eq!(text, r#"["AAH/",["AAH/"],{"k":"AAH/"},null]"#);
        let read: (
            Bytes,
            Vec<Bytes>,
            BTreeMap<String, Option<Bytes>>,
            Option<Bytes>,
        ) = mcp_servlet_json::from_str(&text).unwrap();
        assert_eq!(
            (&read.0, &read.1[0], &read.2["k"]),
            (&bytes, &bytes, &Some(bytes.clone()))
        );
        assert_eq!(serde_json::to_string(&bytes).unwrap(), r#""AAH/""#);
        assert_eq!(
            serde_json::from_str::<Bytes>(r#""\u0041AH/""#).unwrap(),
            bytes
        );
    }

    #[test]
    fn invalid_base64_error_has_pointer() {
        let text = r#"{"a":["AAH/","AAH"]}"#;
        let error = mcp_servlet_json::from_str::<BTreeMap<String, Vec<Bytes>>>(text).unwrap_err();
        assert_eq!(error.pointer(text), "/a/1");
        assert_eq!(
            error.to_string(),
            "not base64 (standard alphabet, padded) at offset 13"
        );
        let error = mcp_servlet_json::from_str::<Bytes>("[0,1,255]").unwrap_err();
        assert_eq!(
            error.to_string(),
            "wrong type, expected a string at offset 0"
        );
    }

    #[test]
    fn debug_shows_text() {
        assert_eq!(
            format!("{:?}", Bytes::from(b"a\"\xff")),
            r#"Bytes(a\"\xff)"#
        );
    }
}
