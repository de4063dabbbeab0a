//! A JSON object that is passed on as text.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::RawJson;
use crate::error::Error;

/// Any JSON object, as its text.
///
/// It is a [`RawJson`] that is always an object: reading any other value is an error.
///
/// ```
/// use mcp_servlet_json::{RawObject, from_str};
///
/// assert_eq!(from_str::<RawObject>(r#"{"x": 1.50}"#).unwrap().get(), r#"{"x": 1.50}"#);
/// assert!(from_str::<RawObject>("[1]").is_err());
/// assert_eq!(RawObject::default().get(), "{}");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RawObject(RawJson);

impl RawObject {
    /// Checks that a text is a JSON object.
    ///
    /// # Errors
    /// If the text is not one valid JSON object.
    pub fn parse(text: &str) -> Result<Self, Error> {
        crate::from_str(text)
    }

    /// The text.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// The same object as any JSON value.
    #[must_use]
    pub fn into_json(self) -> RawJson {
        self.0
    }
}

/// Returns the value as the error if it is not an object.
impl TryFrom<RawJson> for RawObject {
    type Error = RawJson;

    fn try_from(json: RawJson) -> Result<Self, RawJson> {
        if json.get().starts_with('{') {
            Ok(Self(json))
        } else {
            Err(json)
        }
    }
}

impl From<RawObject> for RawJson {
    fn from(object: RawObject) -> Self {
        object.0
    }
}

impl Default for RawObject {
    /// `{}`.
    fn default() -> Self {
        Self(RawJson::object())
    }
}

impl FromStr for RawObject {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl AsRef<str> for RawObject {
    fn as_ref(&self) -> &str {
        self.get()
    }
}

impl Display for RawObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for RawObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawObject({})", self.get())
    }
}

impl Serialize for RawObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = RawJson::deserialize(deserializer)?;
        Self::try_from(json).map_err(|json| {
            let found = match json.get().as_bytes() {
                [b'[', ..] => Unexpected::Seq,
                [b'"', ..] => Unexpected::Other("string"),
                [b'n', ..] => Unexpected::Unit,
                [b't', ..] => Unexpected::Bool(true),
                [b'f', ..] => Unexpected::Bool(false),
                _ => Unexpected::Other("number"),
            };
            D::Error::invalid_type(found, &"an object")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, from_str, to_string};

    #[test]
    fn takes_objects_and_nothing_else() {
        for text in ["{}", r#"{"a": [1.50]}"#] {
            let object: RawObject = from_str(text).unwrap();
            assert_eq!(to_string(&object).unwrap(), text);
            assert_eq!(text.parse::<RawObject>().unwrap(), object);
            let value: serde_json::Value = serde_json::to_value(&object).unwrap();
            assert!(serde_json::from_value::<RawObject>(value).is_ok());
        }
        for text in ["null", "[]", "1", "\"{}\"", "true", "false"] {
            assert!(from_str::<RawObject>(text).is_err(), "{text}");
            assert!(serde_json::from_str::<RawObject>(text).is_err(), "{text}");
            let json = RawJson::parse(text).unwrap();
            assert_eq!(RawObject::try_from(json.clone()), Err(json));
        }
        let error = from_str::<Vec<RawObject>>("[{}, 7]").unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::WrongType, 5));
    }
}
