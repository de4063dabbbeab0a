//! Failures of handlers, as catches see them.

use std::fmt;

use mcp_servlet_common::{FailureKind, RpcError};
use serde_json::Value;

use crate::JsonObject;

/// A failure of a handler.
#[derive(Clone, PartialEq)]
pub struct Thrown {
    /// The kind.
    pub kind: FailureKind,
    /// The code that a catch compares with a name, such as `TIMEOUT`.
    pub code: String,
    /// The JSON-RPC code, which a catch compares with a number.
    pub number: i64,
    /// The message.
    pub message: String,
    /// Details for programs.
    pub data: Option<Value>,
    /// The name of the step that has failed, if the tool has steps.
    pub step: Option<String>,
}

/// The key of `_meta` that has the code of an error result. The SDK for servlets writes it.
const ERROR: &str = "mcp-servlet/error";

impl Thrown {
    /// The failure of an error result that has a code.
    pub fn of_result(result: &JsonObject) -> Option<Self> {
        if result.get("isError") != Some(&Value::Bool(true)) {
            return None;
        }
        let error = result.get("_meta")?.get(ERROR)?;
        let texts: Vec<_> = result
            .get("content")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|block| block.get("text")?.as_str())
            .collect();
        Some(Self {
            kind: FailureKind::Tool,
            code: error.get("code")?.as_str()?.to_owned(),
            number: RpcError::INTERNAL.into(),
            message: texts.join("\n"),
            data: error.get("data").cloned(),
            step: None,
        })
    }

    /// The failure as the value of a step that may fail.
    pub fn to_value(&self) -> JsonObject {
        let Self {
            kind,
            code,
            message,
            data,
            ..
        } = self;
        let mut error = JsonObject::from_iter([
            ("code".to_owned(), code.as_str().into()),
            ("kind".to_owned(), kind.name().into()),
            ("message".to_owned(), message.as_str().into()),
        ]);
        error.extend(data.clone().map(|data| ("data".to_owned(), data)));
        JsonObject::from_iter([
            ("isError".to_owned(), true.into()),
            ("error".to_owned(), error.into()),
        ])
    }
}

impl fmt::Debug for Thrown {
    /// Message and data may contain values of the call.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thrown")
            .field("kind", &self.kind)
            .field("code", &self.code)
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}
