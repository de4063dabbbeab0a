//! A JSON value that is passed on as text, which is checked once.

mod collect;
pub(crate) mod object;
#[cfg(test)]
mod tests;
mod transcode;

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::Error;
use crate::reader::Reader;
use crate::to_string;
use crate::token::TOKEN;
use collect::Collect;
use transcode::{Inner, Node};

/// Any JSON value, as its text.
///
/// The text is one valid JSON value without white space around it. This crate reads and writes it unchanged, byte for
/// byte. Other human-readable formats of serde, such as `serde_json`, read and write the values in it: a map is read
/// as an object, and an object is written as a map. Formats that are not human-readable read and write a string.
///
/// Two texts are equal if their characters are: `1.0` is not `1`, and `{"a":1,"b":2}` is not `{"b":2,"a":1}`.
///
/// serde buffers the content of `#[serde(untagged)]`, `#[serde(flatten)]` and internally tagged enums. Such content
/// also arrives as values, so its exact text is lost.
///
/// ```
/// use mcp_servlet_json::{RawJson, from_str, to_string};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Request {
///     id: u32,
///     params: RawJson,
/// }
///
/// let text = r#"{"id":1,"params":{"x": 1.50}}"#;
/// let request: Request = from_str(text).unwrap();
/// assert_eq!(request.params.get(), r#"{"x": 1.50}"#);
/// assert_eq!(to_string(&request).unwrap(), text);
///
/// let value = serde_json::to_value(&request).unwrap();
/// assert_eq!(value["params"]["x"], 1.5);
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RawJson(String);

impl RawJson {
    /// Checks that a text is JSON.
    ///
    /// # Errors
    /// If the text is not one valid JSON value.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Ok(Self(checked(text)?.into()))
    }

    /// Checks that a text is JSON, and reuses its memory.
    ///
    /// # Errors
    /// If the text is not one valid JSON value.
    pub fn from_string(mut text: String) -> Result<Self, Error> {
        let value = checked(&text)?;
        if value.len() < text.len() {
            text = value.into();
        }
        Ok(Self(text))
    }

    /// The JSON of a value.
    ///
    /// ```
    /// use mcp_servlet_json::RawJson;
    ///
    /// let place = RawJson::from_value(&[52.5, 13.4]).unwrap();
    /// assert_eq!(place.get(), "[52.5,13.4]");
    /// ```
    ///
    /// # Errors
    /// If the value cannot be written as JSON, such as a map whose keys are arrays.
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Self, Error> {
        to_string(value).map(Self)
    }

    /// The text of an empty object.
    #[must_use]
    pub fn object() -> Self {
        Self(String::from("{}"))
    }

    /// The text.
    pub fn get(&self) -> &str {
        &self.0
    }

    /// The text.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

/// The value in a text, without the white space around it.
fn checked(text: &str) -> Result<&str, Error> {
    let mut reader = Reader::from(text);
    let value = reader.skip()?;
    reader.finish()?;
    Ok(value)
}

impl Default for RawJson {
    /// `null`.
    fn default() -> Self {
        Self(String::from("null"))
    }
}

impl FromStr for RawJson {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl AsRef<str> for RawJson {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RawJson(")?;
        f.write_str(&self.0)?;
        f.write_str(")")
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(TOKEN, &Inner(Node(&self.0)))
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut text = String::new();
        deserializer.deserialize_newtype_struct(TOKEN, Collect::new(&mut text))?;
        Ok(Self(text))
    }
}
