//! The names by which the serializer and the deserializer recognize a [`RawJson`](crate::RawJson).

/// The name of the newtype that represents a `RawJson` in serde. See `ser/verbatim.rs`.
pub(crate) const TOKEN: &str = "$mcp_servlet_json::RawJson";

/// The name of the inner newtype, which contains the text.
pub(crate) const TEXT: &str = "$mcp_servlet_json::RawJson::text";
