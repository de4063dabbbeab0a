//! The two kinds of errors of a servlet.
//!
//! A [`ToolError`] is a result: the tool ran and failed, and the model should read why (MCP: a
//! result with `isError: true`). A [`Fault`] is not: the request itself was wrong or the servlet is
//! broken, and the client gets a JSON-RPC error, which it usually hides from the model.

#[cfg(not(target_family = "wasm"))]
use std::cell::Cell;
use std::error::Error;
use std::fmt;
#[cfg(target_family = "wasm")]
use std::sync::OnceLock;

use mcp_servlet_json::{RawJson, write_raw, write_string};

use crate::answer::tool_result::ToolResult;
use crate::json::{Children, member};

/// A failure that the model should see: its text becomes the content of a result with `isError`.
///
/// Anything that converts into a boxed error converts into it, so `?` works in a tool that returns
/// `Result<_, ToolError>`. The text is the error's message, followed by those of all its causes.
///
/// ```
/// use mcp_servlet::prelude::*;
///
/// /// Divides two whole numbers.
/// #[tool]
/// fn divide(a: i64, b: i64) -> Result<i64, ToolError> {
///     a.checked_div(b).ok_or_else(|| ToolError::new("cannot divide by zero"))
/// }
///
/// /// Parses a number.
/// #[tool]
/// fn parse(text: String) -> Result<i64, ToolError> {
///     Ok(text.parse()?)
/// }
/// # assert_eq!(divide(1, 0).unwrap_err().message(), "cannot divide by zero");
/// # assert_eq!(parse("x".into()).unwrap_err().message(), "invalid digit found in string");
/// ```
#[derive(Debug)]
pub struct ToolError {
    message: String,
    detail: Option<Box<Detail>>,
}

/// What an error contains in addition to its message.
#[derive(Debug)]
enum Detail {
    /// An error for the client, not for the model.
    Fault(Fault),
    /// The whole result, as JSON: an error with a code or data, or a request for input.
    Result(String),
}

/// The key in the `_meta` of a result for the code and the data of a [`ToolError`].
const ERROR: &str = "mcp-servlet/error";

impl ToolError {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            detail: None,
        }
    }

    /// The same error with a code for programs, such as `not_found`. The model only reads the message.
    ///
    /// A tool's result has code and data in its `_meta`, under `mcp-servlet/error`. A prompt or a
    /// resource has no such result; there, they are the data of the fault. A fault does not change.
    #[must_use]
    pub fn with_code(self, code: &str) -> Self {
        let mut json = String::new();
        write_string(&mut json, code);
        self.with_meta("code", &json)
    }

    /// The same error with data for programs. Line breaks between its values become spaces, as in
    /// [`Fault::with_data`].
    #[must_use]
    pub fn with_data(self, data: RawJson) -> Self {
        self.with_meta("data", in_one_line(data).get())
    }

    fn with_meta(mut self, name: &str, json: &str) -> Self {
        let known = match self.detail.as_deref() {
            None => "",
            Some(Detail::Result(result)) if !asks(result) => meta(result),
            Some(_) => return self,
        };
        let mut object = String::from("{");
        for (key, value) in Children::new(known).filter(|(key, _)| key != name) {
            write_string(&mut object, &key);
            for part in [":", value, ","] {
                write_raw(&mut object, part);
            }
        }
        write_string(&mut object, name);
        for part in [":", json, "}"] {
            write_raw(&mut object, part);
        }
        let result = ToolResult::error(&self.message).with_meta_member(ERROR, &object);
        self.detail = Some(Box::new(Detail::Result(result.into_json())));
        self
    }

    /// Not an error, but a result that requests input from the client.
    pub(crate) fn asking(result: String) -> Self {
        Self {
            message: "the tool asks the client for more".to_owned(),
            detail: Some(Box::new(Detail::Result(result))),
        }
    }

    /// The text that the model reads.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The code for programs.
    pub fn code(&self) -> Option<String> {
        mcp_servlet_json::from_str(self.meta("code")?.get()).ok()
    }

    /// The data for programs.
    pub fn data(&self) -> Option<RawJson> {
        self.meta("data")
    }

    fn meta(&self, name: &str) -> Option<RawJson> {
        match self.detail.as_deref() {
            Some(Detail::Result(result)) => RawJson::parse(member(meta(result), name)).ok(),
            _ => None,
        }
    }

    /// The result of the tool call, as JSON.
    pub(crate) fn into_json(self) -> Result<String, Fault> {
        match self.detail.map(|detail| *detail) {
            None => Ok(ToolResult::error(&self.message).into_json()),
            Some(Detail::Fault(fault)) => Err(fault),
            Some(Detail::Result(json)) => Ok(json),
        }
    }

    /// For prompts and resources, whose errors no model reads: the request for input, as JSON, or a fault.
    pub(crate) fn into_input_request(self) -> Result<String, Fault> {
        match self.detail.map(|detail| *detail) {
            Some(Detail::Fault(fault)) => Err(fault),
            Some(Detail::Result(json)) if asks(&json) => Ok(json),
            Some(Detail::Result(json)) => {
                let data = RawJson::parse(meta(&json)).ok();
                Err(Fault {
                    data,
                    ..Fault::internal(self.message)
                })
            }
            None => Err(Fault::internal(self.message)),
        }
    }
}

/// Whether the result requests input from the client.
fn asks(result: &str) -> bool {
    !member(result, "resultType").is_empty()
}

/// The code and the data in the result's `_meta`.
fn meta(result: &str) -> &str {
    member(member(result, "_meta"), ERROR)
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl<E: Into<Box<dyn Error>>> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::convert(&*error.into())
    }
}

/// A type that may be the error of a tool, a resource, a prompt or a completion: any that [`ToolError`]
/// converts from.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool",
    label = "`?` and `return` cannot make it a `ToolError`",
    note = "return `Result<_, ToolError>`, whose `?` takes every error with `std::error::Error`, `String` and `anyhow::Error`",
    note = "std has no conversion for `Box<dyn Error + Send + Sync>`: return `Box<dyn Error>`, or `ToolError` with `.map_err(ToolError::from_boxed)?`"
)]
pub trait IntoToolError {
    /// Converts the error.
    fn into_tool_error(self) -> ToolError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<ToolError>> IntoToolError for E {
    fn into_tool_error(self) -> ToolError {
        self.into()
    }
}

impl ToolError {
    /// Converts a boxed error that can be sent between threads, for which `?` has no conversion.
    ///
    /// ```
    /// use std::error::Error;
    /// use mcp_servlet::prelude::*;
    ///
    /// fn answer() -> Result<u8, Box<dyn Error + Send + Sync>> { Ok("42".parse()?) }
    ///
    /// /// Tells the answer.
    /// #[tool]
    /// fn tell() -> Result<u8, ToolError> {
    ///     answer().map_err(ToolError::from_boxed)
    /// }
    /// # assert_eq!(tell().unwrap(), 42);
    /// ```
    pub fn from_boxed(error: Box<dyn Error + Send + Sync>) -> Self {
        Self::convert(&*error)
    }

    /// An error with the text of this one and its causes, for a function in the section `errors` of
    /// [`export!`](crate::export): such functions do not apply here.
    ///
    /// If a [`Fault`] is among the causes, the result is one.
    pub fn from_error(error: &(dyn Error + 'static)) -> Self {
        let message = chain(error);
        let mut next = Some(error);
        while let Some(cause) = next {
            if let Some(fault) = cause.downcast_ref::<Fault>() {
                let detail = Some(Box::new(Detail::Fault(fault.clone())));
                return Self { message, detail };
            }
            next = cause.source();
        }
        Self::new(message)
    }

    fn convert(error: &(dyn Error + 'static)) -> Self {
        let converted = conversion().and_then(|convert| convert(error));
        converted.unwrap_or_else(|| Self::from_error(error))
    }

    /// The same error as the cause of others. Its message follows theirs.
    fn caused<'a>(mut self, by: impl Iterator<Item = &'a (dyn Error + 'static)>) -> Self {
        let mut message = String::new();
        for outer in by {
            message.push_str(&outer.to_string());
            message.push_str(": ");
        }
        message.push_str(&self.message);
        match self.detail.as_deref_mut() {
            Some(Detail::Result(result)) if !asks(result) => {
                let written = ToolResult::error(&message).with_meta_member(ERROR, meta(result));
                *result = written.into_json();
            }
            _ => {}
        }
        Self { message, ..self }
    }
}

/// Converts some errors; `None` for others.
pub type Conversion = fn(&(dyn Error + 'static)) -> Option<ToolError>;

/// The section `errors` of the servlet. Only a servlet with this section links the code behind it.
#[cfg(target_family = "wasm")]
static CONVERSION: OnceLock<Conversion> = OnceLock::new();

#[cfg(target_family = "wasm")]
fn conversion() -> Option<Conversion> {
    CONVERSION.get().copied()
}

/// Makes this the conversion of errors.
#[cfg(target_family = "wasm")]
pub fn set_conversion(conversion: Conversion) {
    // It is the same in each call.
    let _ = CONVERSION.set(conversion);
}

#[cfg(not(target_family = "wasm"))]
thread_local! {
    /// The section `errors` of the servlet that the test calls.
    static CONVERSION: Cell<Option<Conversion>> = const { Cell::new(None) };
}

#[cfg(not(target_family = "wasm"))]
fn conversion() -> Option<Conversion> {
    CONVERSION.get()
}

/// The call of a servlet in a test. Until it ends, errors are converted as the servlet says.
#[cfg(not(target_family = "wasm"))]
pub(crate) struct Converting;

#[cfg(not(target_family = "wasm"))]
impl Converting {
    pub(crate) fn begin(conversion: Option<Conversion>) -> Self {
        CONVERSION.set(conversion);
        Self
    }
}

#[cfg(not(target_family = "wasm"))]
impl Drop for Converting {
    fn drop(&mut self) {
        CONVERSION.set(None);
    }
}

/// Converts an error with the first function that takes it or one of its causes.
pub fn converted_by(
    conversions: &[Conversion],
    error: &(dyn Error + 'static),
) -> Option<ToolError> {
    causes(error).enumerate().find_map(|(depth, cause)| {
        let mut converted = conversions.iter().filter_map(|convert| convert(cause));
        let outer = causes(error).take(depth);
        converted.next().map(|error| error.caused(outer))
    })
}

/// Converts an error with a function in `errors`, if the function takes this type.
pub fn converted<E: Error + 'static>(
    error: &(dyn Error + 'static),
    function: fn(&E) -> ToolError,
) -> Option<ToolError> {
    error.downcast_ref().map(function)
}

/// The error and its causes.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// The error and its causes, as `outer: inner`.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = String::new();
    push(&mut text, &error);
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        push(&mut text, &cause);
        next = cause.source();
    }
    text
}

/// Appends the text of a value. `to_string` would link the panic for a `Display` that fails.
#[inline]
pub(crate) fn push(text: &mut String, value: &dyn fmt::Display) {
    // Writing to a string does not fail.
    let _ = fmt::Write::write_fmt(text, format_args!("{value}"));
}

/// A failure of the request or of the servlet, not of the tool: a JSON-RPC error.
///
/// Return it as the error of a tool when the model cannot do better. It remains a fault inside another error
/// that has it as its source, but not directly inside an `anyhow::Error`, which hides it.
///
/// ```
/// use mcp_servlet::prelude::*;
///
/// /// Tells the price of a share.
/// #[tool]
/// fn price(context: &Context, symbol: String) -> Result<String, ToolError> {
///     let key = context.config_value("api-key").ok_or_else(|| Fault::internal("config key `api-key` is not set"))?;
///     Ok(format!("{symbol}: asked with a key of {} characters", key.len()))
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    code: i64,
    message: String,
    data: Option<RawJson>,
}

impl Fault {
    /// JSON-RPC: the request is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// JSON-RPC: no such method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// JSON-RPC: the method's parameters are wrong; MCP's code for an unknown tool.
    pub const INVALID_PARAMS: i64 = -32602;
    /// JSON-RPC: the server failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// MCP up to 2025-11-25: there is no resource with that URI. Hosts send
    /// [`INVALID_PARAMS`](Self::INVALID_PARAMS) instead to clients of later versions.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;

    /// A fault with a JSON-RPC error code.
    ///
    /// Codes from -32768 to -32000 are reserved for JSON-RPC and MCP; use others for your own errors.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// The servlet, or something that it needs, is broken.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Self::INTERNAL_ERROR, message)
    }

    /// The request's parameters are wrong.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(Self::INVALID_PARAMS, message)
    }

    /// There is no resource with this URI; the client gets it as `data.uri`.
    pub fn resource_not_found(uri: &str) -> Self {
        let mut message = String::from("resource not found: ");
        write_raw(&mut message, uri);
        let mut data = String::from("{\"uri\":");
        mcp_servlet_json::write_string(&mut data, uri);
        data.push('}');
        Self {
            data: RawJson::parse(&data).ok(),
            ..Self::new(Self::RESOURCE_NOT_FOUND, message)
        }
    }

    /// The same fault with `data` for the client. It travels in one line: line breaks between its
    /// values become spaces.
    #[must_use]
    pub fn with_data(self, data: RawJson) -> Self {
        Self {
            data: Some(in_one_line(data)),
            ..self
        }
    }

    /// The JSON-RPC error code.
    pub fn code(&self) -> i64 {
        self.code
    }

    /// What went wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Additional data for the client, as JSON.
    pub fn data(&self) -> Option<&RawJson> {
        self.data.as_ref()
    }

    /// The text of the Extism error: the message for people, then a line for this project's host.
    ///
    /// The line is `mcp-fault: {"code":…,"data":…}`; it is left out for an internal error without data, which is
    /// how the host reads any other error.
    #[cfg_attr(
        not(target_family = "wasm"),
        allow(dead_code, reason = "hosts read it")
    )]
    pub(crate) fn to_wire(&self) -> String {
        let mut text = self.message.clone();
        // The host reads the last line. With ours at the end, no line of the message is mistaken for it.
        // `contains` would link a searcher of 400 bytes.
        let is_one_line = text.bytes().all(|byte| byte != b'\n');
        if self.code == Self::INTERNAL_ERROR && self.data.is_none() && is_one_line {
            return text;
        }
        write_raw(&mut text, "\nmcp-fault: {\"code\":");
        mcp_servlet_json::write_i64(&mut text, self.code);
        if let Some(data) = &self.data {
            write_raw(&mut text, ",\"data\":");
            write_raw(&mut text, data.get());
        }
        write_raw(&mut text, "}");
        text
    }
}

/// The same value without line breaks. JSON has them between values only.
fn in_one_line(data: RawJson) -> RawJson {
    let line = data.get().replace('\n', " ");
    RawJson::from_string(line).unwrap_or(data)
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Fault {}

#[cfg(test)]
mod tests {
    use mcp_servlet_json::RawJson;

    use super::{Fault, ToolError};

    #[test]
    fn data_of_several_lines_is_written_in_one() {
        let data = RawJson::parse("{\n  \"a\": [\r\n1],\n\"ö\": \"\\n\"}").unwrap();
        let wire = Fault::new(7, "broken").with_data(data.clone()).to_wire();
        let line = "mcp-fault: {\"code\":7,\"data\":{   \"a\": [\r 1], \"ö\": \"\\n\"}}";
        assert_eq!(wire, format!("broken\n{line}"));
        let fault = ToolError::new("broken")
            .with_data(data)
            .into_input_request();
        assert_eq!(fault.unwrap_err().to_wire().lines().count(), 2);
    }

    #[test]
    fn message_cannot_forge_fault_line() {
        for message in [
            "\nmcp-fault: {\"code\":1}",
            "a\nmcp-fault: {\"code\":1}",
            "a\nmcp-fault: {\"code\":1}\n\n ",
        ] {
            let wire = Fault::internal(message).to_wire();
            assert_eq!(wire, format!("{message}\nmcp-fault: {{\"code\":-32603}}"));
        }
        assert_eq!(Fault::internal("plain").to_wire(), "plain");
    }
}
