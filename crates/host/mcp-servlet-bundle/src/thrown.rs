//! Failures of handlers, as catches see them.

use std::fmt;

use mcp_servlet_common::RpcError;
use serde_json::Value;

use crate::JsonObject;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The tool returned an error with a code for programs.
    Tool,
    /// The servlet returned a JSON-RPC error.
    Fault,
    /// The call took too long.
    Timeout,
    /// The servlet ran out of memory.
    OutOfMemory,
    /// The servlet ran out of fuel.
    OutOfFuel,
    /// The output was too large.
    OutputTooLarge,
    /// The runtime stopped the servlet.
    Trap,
    /// The servlet panicked.
    Panic,
    /// The servlet sent a request that its options do not allow.
    HostDenied,
    /// The output was not a result.
    BadOutput,
    /// No instance could be created.
    Start,
    /// Too many calls are running.
    Busy,
    /// A remote server cannot be reached.
    Connectivity,
    /// A remote server returned a JSON-RPC error.
    Remote,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 14] = [
        Self::Tool,
        Self::Fault,
        Self::Timeout,
        Self::OutOfMemory,
        Self::OutOfFuel,
        Self::OutputTooLarge,
        Self::Trap,
        Self::Panic,
        Self::HostDenied,
        Self::BadOutput,
        Self::Start,
        Self::Busy,
        Self::Connectivity,
        Self::Remote,
    ];

    /// The name in a catch, such as `out_of_memory`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Fault => "fault",
            Self::Timeout => "timeout",
            Self::OutOfMemory => "out_of_memory",
            Self::OutOfFuel => "out_of_fuel",
            Self::OutputTooLarge => "output_too_large",
            Self::Trap => "trap",
            Self::Panic => "panic",
            Self::HostDenied => "host_denied",
            Self::BadOutput => "bad_output",
            Self::Start => "start",
            Self::Busy => "busy",
            Self::Connectivity => "connectivity",
            Self::Remote => "remote",
        }
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A failure of a handler.
#[derive(Clone, PartialEq)]
pub struct Thrown {
    /// The kind.
    pub kind: Kind,
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
        let texts = result.get("content").and_then(Value::as_array);
        let texts = texts.into_iter().flatten();
        let texts: Vec<_> = texts
            .filter_map(|block| block.get("text")?.as_str())
            .collect();
        Some(Self {
            kind: Kind::Tool,
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
