//! The return types of completions, and MCP's limit for them.

use std::borrow::Cow;

use mcp_servlet_json::{write_raw, write_string};
use mcp_servlet_types::Completion;

use crate::answer::error::{IntoToolError, ToolError};
use crate::returns::Returns;

/// MCP's maximum of values in one result.
const MAX_VALUES: usize = 100;

/// A value that a completion may return.
///
/// | returned | becomes |
/// |---|---|
/// | `Vec<String>`, `Vec<&'static str>`, `[…; N]`, `&'static [&'static str]` | these values |
/// | [`Completion`] | itself, with the total number if you know it |
/// | `Option<T>` | what `T` becomes, or no values |
/// | `Result<T, E>` | what `T` becomes, or a JSON-RPC error |
///
/// Clients get the first 100 values, and the information that there are more.
#[diagnostic::on_unimplemented(
    message = "a completion cannot return `{Self}`",
    label = "not a list of suggestions",
    note = "return `Vec<String>`, an array of texts, `Completion`, or an `Option` or a `Result` of one of these"
)]
pub trait IntoCompletion {
    /// Returns the suggestions, or an error.
    fn into_completion(self) -> Result<Completion, ToolError>;
}

impl IntoCompletion for Completion {
    fn into_completion(self) -> Result<Completion, ToolError> {
        Ok(self)
    }
}

impl IntoCompletion for Vec<String> {
    fn into_completion(self) -> Result<Completion, ToolError> {
        Ok(Completion::new(self))
    }
}

impl IntoCompletion for &'static [&'static str] {
    fn into_completion(self) -> Result<Completion, ToolError> {
        let values = self.iter().map(|value| (*value).to_owned());
        Ok(Completion::new(values.collect()))
    }
}

impl IntoCompletion for Vec<&'static str> {
    fn into_completion(self) -> Result<Completion, ToolError> {
        let values = self.into_iter().map(str::to_owned);
        Ok(Completion::new(values.collect()))
    }
}

impl IntoCompletion for Vec<Cow<'static, str>> {
    fn into_completion(self) -> Result<Completion, ToolError> {
        let values = self.into_iter().map(Cow::into_owned);
        Ok(Completion::new(values.collect()))
    }
}

impl<T, const N: usize> IntoCompletion for [T; N]
where
    Vec<T>: IntoCompletion,
{
    fn into_completion(self) -> Result<Completion, ToolError> {
        Vec::from(self).into_completion()
    }
}

impl<T: IntoCompletion> IntoCompletion for Option<T> {
    fn into_completion(self) -> Result<Completion, ToolError> {
        self.map_or_else(|| Ok(Completion::default()), T::into_completion)
    }
}

impl<T: IntoCompletion, E: IntoToolError> IntoCompletion for Result<T, E> {
    fn into_completion(self) -> Result<Completion, ToolError> {
        self.map_err(E::into_tool_error)
            .and_then(T::into_completion)
    }
}

/// The return type of a completion's function.
pub type CompletionReturns<T> = Returns<T, Completion>;

/// A function that returns `T`.
pub const fn completion_returns<T: IntoCompletion>() -> CompletionReturns<T> {
    Returns {
        description: (),
        convert: T::into_completion,
    }
}

/// Keeps the values that begin with `typed`, in upper or lower case.
pub(crate) fn keep_matching(completion: &mut Completion, typed: &str) {
    let begins = |value: &String| {
        let start = value.as_bytes().get(..typed.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(typed.as_bytes()))
    };
    completion.values.retain(begins);
}

/// The result of `complete` as JSON.
pub(crate) fn to_json(mut completion: Completion) -> String {
    let count = completion.values.len();
    if count > MAX_VALUES {
        completion.values.truncate(MAX_VALUES);
        completion.has_more = Some(true);
        completion
            .total
            .get_or_insert(i64::try_from(count).unwrap_or(i64::MAX));
    }
    let mut json = String::from("{\"completion\":{\"values\":[");
    for (index, value) in completion.values.iter().enumerate() {
        write_raw(&mut json, if index > 0 { "," } else { "" });
        write_string(&mut json, value);
    }
    write_raw(&mut json, "]");
    if let Some(total) = completion.total {
        write_raw(&mut json, ",\"total\":");
        mcp_servlet_json::write_i64(&mut json, total);
    }
    if let Some(has_more) = completion.has_more {
        let has_more = if has_more { "true" } else { "false" };
        write_raw(&mut json, ",\"hasMore\":");
        write_raw(&mut json, has_more);
    }
    write_raw(&mut json, "}}");
    json
}
