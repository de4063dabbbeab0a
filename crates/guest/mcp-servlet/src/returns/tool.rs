//! The return types of tools.

use std::borrow::Cow;
use std::marker::PhantomData;

use mcp_servlet_json::{
    to_string, write_i64, write_plain_f32, write_plain_f64, write_raw, write_u64,
};
use mcp_servlet_types::Content;
use serde::Serialize;

use crate::answer::error::{IntoToolError, ToolError};
use crate::answer::tool_result::ToolResult;
use crate::returns::Returns;
use crate::schema::{Node, Property, Schema};

/// A value that a tool may return.
///
/// | returned | becomes |
/// |---|---|
/// | `String`, `&'static str`, `char`, `i128`, `u128` | one block of text |
/// | `()` | no content |
/// | [`Json<T>`](Json) | structured content, its schema, and the JSON as text |
/// | other numbers, `bool` | structured content, its schema, and the value as text; a float that is not finite is an error |
/// | `Option` of `Json<T>`, of these numbers or of `bool` | structured content that is `null` for `None`, and its schema |
/// | any other `Option<T>` | what `T` becomes, or no content |
/// | [`Content`], `Vec<Content>` | these blocks |
/// | [`ToolResult`] | itself |
/// | `Result<T, E>` | what `T` becomes, or `isError` with the text of the error and its causes |
///
/// The error of a `Result` may be a [`ToolError`], a [`Fault`](crate::Fault), a `String`, any
/// `std::error::Error`, or anything else that converts into `Box<dyn Error>`. The one common type that does
/// not is `Box<dyn Error + Send + Sync>`: return `Box<dyn Error>`, or an [`anyhow`] error.
///
/// [`anyhow`]: https://docs.rs/anyhow
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not a result of a tool",
    note = "return text, a number, `Content`, `Json<T>` for structured data, or a `Result` of one of these"
)]
pub trait IntoToolResult {
    /// The schema of the structured content, if there is any.
    const OUTPUT: Option<&'static Node> = None;

    /// The schema of the structured content of an `Option`, if there is any.
    #[doc(hidden)]
    const OPTIONAL_OUTPUT: Option<&'static Node> = None;

    /// Returns the result, or an error.
    fn into_tool_result(self) -> Result<ToolResult, ToolError>;

    /// The result of an `Option`.
    #[doc(hidden)]
    fn optional_tool_result(this: Option<Self>) -> Result<ToolResult, ToolError>
    where
        Self: Sized,
    {
        this.map_or_else(|| Ok(ToolResult::empty()), Self::into_tool_result)
    }
}

/// Structured content: `T` as JSON, with its schema in the tool's description.
///
/// Any `T` works. MCP before 2026-07-28 requires structured content to be an object, so a list, a
/// number, an enum or an `Option` is wrapped as `{"result": …}`, and so is its schema; `servlet serve`
/// unwraps it for newer clients. A float that is not finite is `null` in JSON, which its schema does
/// not allow.
///
/// ```
/// use mcp_servlet::prelude::*;
///
/// /// A point on a map.
/// #[derive(Serialize, Schema)]
/// struct Point { latitude: f64, longitude: f64 }
///
/// /// The point where the equator meets the prime meridian.
/// #[tool]
/// fn null_island() -> Json<Point> {
///     Json(Point { latitude: 0.0, longitude: 0.0 })
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T: ToJson + Schema> IntoToolResult for Json<T> {
    const OUTPUT: Option<&'static Node> = Some(if is_object::<T>() {
        T::NODE
    } else {
        Wrapped::<T>::NODE
    });
    const OPTIONAL_OUTPUT: Option<&'static Node> = Json::<Option<T>>::OUTPUT;

    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        let json = to_string(&self.0)?;
        Ok(if is_wrapped::<T>(&json) {
            ToolResult::structured(BEFORE, &json, AFTER)
        } else {
            ToolResult::structured("", &json, "")
        })
    }

    fn optional_tool_result(this: Option<Self>) -> Result<ToolResult, ToolError> {
        Json(this.map(|Self(value)| value)).into_tool_result()
    }
}

/// The text before structured content that is not an object, so that the result has the schema of [`Wrapped`].
const BEFORE: &str = "{\"result\":";
const AFTER: &str = "}";

/// The schema of a `T` in an object.
struct Wrapped<T>(PhantomData<T>);

impl<T: Schema> Wrapped<T> {
    const RESULT: &'static [Property] = &[Property::new::<T>("result", "")];
    const NODE: &'static Node = &Node::wrapped(Self::RESULT);
}

/// A type that serde can write as JSON.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written as JSON",
    label = "`Json<{Self}>` needs `Serialize`",
    note = "derive it: `#[derive(Serialize, Schema)]`",
    note = "the derive needs a dependency in Cargo.toml: `serde = {{ version = \"1\", features = [\"derive\"] }}`"
)]
pub trait ToJson: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> ToJson for T {}

/// Whether structured content is in the property `result`: its schema says so, or the value is not an object although
/// the schema is.
fn is_wrapped<T: Schema>(json: &str) -> bool {
    #[cfg(feature = "schemars")]
    if T::NODE.is_generated() && is_object::<T>() {
        return !json.starts_with('{') || !T::NODE.generates_object();
    }
    let _ = json;
    !is_object::<T>()
}

/// Whether `T` is always an object, as MCP requires for structured content.
const fn is_object<T: Schema>() -> bool {
    T::NODE.may_be_object() && !T::NULLABLE
}

impl IntoToolResult for ToolResult {
    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        Ok(self)
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::empty())
    }
}

impl IntoToolResult for Content {
    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::empty().and(&self))
    }
}

impl IntoToolResult for Vec<Content> {
    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        Ok(self.iter().fold(ToolResult::empty(), ToolResult::and))
    }
}

impl<T: IntoToolResult> IntoToolResult for Option<T> {
    const OUTPUT: Option<&'static Node> = T::OPTIONAL_OUTPUT;
    const OPTIONAL_OUTPUT: Option<&'static Node> = T::OPTIONAL_OUTPUT;

    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        T::optional_tool_result(self)
    }

    fn optional_tool_result(this: Option<Self>) -> Result<ToolResult, ToolError> {
        T::optional_tool_result(this.flatten())
    }
}

impl<T: IntoToolResult, E: IntoToolError> IntoToolResult for Result<T, E> {
    const OUTPUT: Option<&'static Node> = T::OUTPUT;
    const OPTIONAL_OUTPUT: Option<&'static Node> = T::OPTIONAL_OUTPUT;

    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        self.map_err(E::into_tool_error)
            .and_then(T::into_tool_result)
    }

    fn optional_tool_result(this: Option<Self>) -> Result<ToolResult, ToolError> {
        this.transpose()
            .map_err(E::into_tool_error)
            .and_then(T::optional_tool_result)
    }
}

/// The return type of a tool's function, and the schema of its structured content, if there is any.
pub type ToolReturns<T> = Returns<T, ToolResult, Option<&'static Node>>;

/// A function that returns `T`.
pub const fn returns<T: IntoToolResult>() -> ToolReturns<T> {
    Returns {
        description: T::OUTPUT,
        convert: T::into_tool_result,
    }
}

impl<T> ToolReturns<T> {
    /// The schema of the structured content, if there is any.
    pub const fn output(&self) -> Option<&'static Node> {
        self.description
    }
}

macro_rules! texts {
    ($($ty:ty),*) => {
        $(impl IntoToolResult for $ty {
            fn into_tool_result(self) -> Result<ToolResult, ToolError> {
                Ok(ToolResult::text(&self))
            }
        })*
    };
}

texts!(String, &'static str, Cow<'static, str>, Box<str>);

macro_rules! displayed {
    ($($ty:ty),*) => {
        $(impl IntoToolResult for $ty {
            fn into_tool_result(self) -> Result<ToolResult, ToolError> {
                Ok(ToolResult::text(&self.to_string()))
            }
        })*
    };
}

displayed!(char, i128, u128);

/// The result of a tool that returns a number or a boolean, from its JSON. `Json` would add the code of serde.
#[inline(never)]
fn value(json: &str) -> ToolResult {
    ToolResult::structured(BEFORE, json, AFTER)
}

/// The result of a tool that returns a float, from its text.
fn float(text: &str, is_finite: bool) -> Result<ToolResult, ToolError> {
    if is_finite {
        return Ok(value(text));
    }
    let mut message = String::from("the result is not a finite number: ");
    write_raw(&mut message, text);
    Err(ToolError::new(message))
}

macro_rules! values {
    ($($ty:ty: $this:ident => $result:expr,)*) => {
        $(impl IntoToolResult for $ty {
            const OUTPUT: Option<&'static Node> = Json::<Self>::OUTPUT;
            const OPTIONAL_OUTPUT: Option<&'static Node> = Json::<Self>::OPTIONAL_OUTPUT;

            #[allow(clippy::cast_lossless, reason = "`isize` and `usize` have no `From` for it")]
            fn into_tool_result(self) -> Result<ToolResult, ToolError> {
                let $this = self;
                $result
            }

            fn optional_tool_result(this: Option<Self>) -> Result<ToolResult, ToolError> {
                this.map_or_else(|| Ok(value("null")), Self::into_tool_result)
            }
        })*
    };
}

values! {
    bool: this => Ok(value(if this { "true" } else { "false" })),
    f32: this => float(&text(|out| write_plain_f32(out, this)), this.is_finite()),
    f64: this => float(&text(|out| write_plain_f64(out, this)), this.is_finite()),
}

macro_rules! integers {
    ($($write:ident: $($ty:ty),*;)*) => {
        $($(values! { $ty: this => Ok(value(&text(|out| $write(out, this as _)))), })*)*
    };
}

integers! {
    write_i64: i8, i16, i32, i64, isize;
    write_u64: u8, u16, u32, u64, usize;
}

/// The text that `write` appends. The functions for numbers write the same text as `Display`, whose code is larger.
#[inline]
fn text(write: impl FnOnce(&mut String)) -> String {
    let mut text = String::new();
    write(&mut text);
    text
}
