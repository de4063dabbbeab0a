//! Calls with Rust types instead of JSON.

use std::fmt;

use mcp_caller::Wrap;
use mcp_servlet_common::escape_pointer;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use serde_path_to_error::{Path, Segment};

use crate::content::{CallResult, Content};
use crate::error::{Error, ErrorKind};
use crate::session::{CallOptions, Session};

/// Why a typed call has no value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TypedCallError {
    /// The tool reports a failure.
    Tool(Box<CallResult>),
    /// There is no result, or it does not match the type.
    Client(Error),
}

impl fmt::Display for TypedCallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(result) => match result.text().as_str() {
                "" => f.write_str("the tool reports a failure without a text"),
                text => f.write_str(text),
            },
            Self::Client(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TypedCallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Tool(_) => None,
            Self::Client(error) => error.source(),
        }
    }
}

impl From<Error> for TypedCallError {
    fn from(error: Error) -> Self {
        Self::Client(error)
    }
}

impl Session {
    /// Calls a tool with arguments of a type, and reads the result into a type, as [`CallResult::parse`] does.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (reader, writer) = puppet::Puppet::new("typed").pipe();
    /// # let options = mcp_servlet_client::Options::new();
    /// # let session = mcp_servlet_client::Session::attach(reader, writer, &options).await?;
    /// use mcp_servlet_client::CallOptions;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize)]
    /// struct City {
    ///     city: String,
    /// }
    ///
    /// #[derive(Deserialize)]
    /// struct Weather {
    ///     temperature: f64,
    /// }
    ///
    /// let city = City { city: "Oslo".to_owned() };
    /// let weather: Weather = session.call_as("weather", &city, &CallOptions::new()).await?;
    /// assert_eq!(weather.temperature, 21.5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`TypedCallError::Tool`] if the tool reports a failure. [`TypedCallError::Client`] if there is no result, or with
    /// [`ErrorKind::Schema`] if arguments or result do not match their types.
    pub async fn call_as<A, R>(
        &self,
        tool: &str,
        arguments: &A,
        options: &CallOptions,
    ) -> Result<R, TypedCallError>
    where
        A: Serialize + ?Sized,
        R: DeserializeOwned,
    {
        self.call_wrapped(tool, to_json(arguments)?, Wrap::No, options)
            .await
    }

    /// Calls a tool, and reads the value of its result, which may be wrapped, into a type.
    pub(crate) async fn call_wrapped<R: DeserializeOwned>(
        &self,
        tool: &str,
        arguments: Value,
        wrap: Wrap,
        options: &CallOptions,
    ) -> Result<R, TypedCallError> {
        let raw = self.call_raw(tool, arguments, options).await?;
        read(raw, wrap).map_err(|error| match error {
            TypedCallError::Client(error) => self.place_of_call(error).into(),
            failure @ TypedCallError::Tool(_) => failure,
        })
    }
}

pub(crate) fn to_json<A: Serialize + ?Sized>(arguments: &A) -> Result<Value, Error> {
    serde_json::to_value(arguments).map_err(|source| {
        let message = format!("the arguments cannot be written as JSON: {source}");
        Error::new(ErrorKind::Schema, message).with_source(source)
    })
}

/// The members of a result that a typed call needs if they have the value. Its texts are often as large as the structured
/// content, and are only skipped.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TypedResult<'a> {
    #[serde(borrow)]
    structured_content: Option<&'a RawValue>,
    #[serde(default)]
    is_error: bool,
    #[serde(rename = "_meta")]
    meta: Option<Value>,
    /// Checks that it is an array, as [`CallResult`] does.
    #[serde(rename = "content", default)]
    _content: Vec<IgnoredAny>,
}

/// The value of a result.
fn read<T: DeserializeOwned>(raw: Box<RawValue>, wrap: Wrap) -> Result<T, TypedCallError> {
    if let Ok(result) = serde_json::from_str::<TypedResult<'_>>(raw.get())
        && !result.is_error
        && let Some(content) = result.structured_content
    {
        let value = value_of(content, result.meta.as_ref(), wrap).ok_or_else(no_value)?;
        return Ok(parse(value)?);
    }
    let result = CallResult::new(raw)?;
    if result.is_error {
        return Err(TypedCallError::Tool(Box::new(result)));
    }
    Ok(result.parse_wrapped(wrap)?)
}

impl CallResult {
    /// Reads the result into a type: the structured content, or without one a single text that is JSON.
    ///
    /// If `_meta` says that `FastMCP` has wrapped a value into an object with the member `result`, that value is read.
    ///
    /// # Errors
    /// [`ErrorKind::Schema`] if there is no such content, or if it does not match the type. [`Error::data`] has the content.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.parse_wrapped(Wrap::No)
    }

    fn parse_wrapped<T: DeserializeOwned>(&self, wrap: Wrap) -> Result<T, Error> {
        let value = match &self.structured {
            Some(structured) => value_of(structured, self.meta.as_ref(), wrap),
            None => self.only_text(),
        };
        parse(value.ok_or_else(no_value)?)
    }

    fn only_text(&self) -> Option<&str> {
        match &self.content[..] {
            [Content::Text { text, .. }] => Some(text),
            _ => None,
        }
    }
}

/// The value in structured content, which the output schema or `_meta` may say is wrapped.
fn value_of<'a>(structured: &'a RawValue, meta: Option<&Value>, wrap: Wrap) -> Option<&'a str> {
    let is_wrapped =
        wrap == Wrap::Result || meta.is_some_and(|meta| meta["fastmcp"]["wrap_result"] == true);
    if is_wrapped {
        unwrap(structured.get())
    } else {
        Some(structured.get())
    }
}

fn no_value() -> Error {
    let message = "the result has no structured content, and no single text that is JSON";
    Error::new(ErrorKind::Schema, message)
}

fn parse<T: DeserializeOwned>(value: &str) -> Result<T, Error> {
    // Only a value that does not match is worth the time to note where.
    serde_json::from_str(value).or_else(|_| parse_with_path(value))
}

/// Parses a value, and names the JSON pointer in an error.
fn parse_with_path<T: DeserializeOwned>(value: &str) -> Result<T, Error> {
    let mut json = serde_json::Deserializer::from_str(value);
    let parsed =
        serde_path_to_error::deserialize(&mut json).map_err(|error| mismatch(value, error))?;
    json.end().map(|()| parsed).map_err(|error| {
        let message = format!("the result does not match: {error}");
        Error::new(ErrorKind::Schema, message).with_source(error)
    })
}

/// The member `result` of an object.
fn unwrap(structured: &str) -> Option<&str> {
    #[derive(Deserialize)]
    struct Wrapped<'a> {
        #[serde(borrow)]
        result: &'a RawValue,
    }
    let Wrapped { result } = serde_json::from_str(structured).ok()?;
    Some(result.get())
}

fn mismatch(value: &str, error: serde_path_to_error::Error<serde_json::Error>) -> Error {
    let pointer = pointer(error.path());
    let source = error.into_inner();
    let text = source.to_string();
    // The position counts from the start of a text that the caller does not see.
    let problem = text
        .rsplit_once(" at line ")
        .map_or(&*text, |(text, _)| text);
    let message = format!("the result does not match at `{pointer}`: {problem}");
    let data: Option<Value> = serde_json::from_str(value).ok();
    Error::new(ErrorKind::Schema, message)
        .with_help("compare the type with the output schema of the tool")
        .with_data(data)
        .with_source(source)
}

/// A path as a JSON pointer.
fn pointer(path: &Path) -> String {
    let segments = path.iter().map(|segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } | Segment::Enum { variant: key } => {
            format!("/{}", escape_pointer(key))
        }
        Segment::Unknown => "/?".to_owned(),
    });
    segments.collect()
}
