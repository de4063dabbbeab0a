//! Long texts in parts: the code for `#[tool(parts = …)]`.

use std::borrow::Cow;

use mcp_servlet_json::write_u64;

use crate::answer::error::{IntoToolError, ToolError};
use crate::answer::tool_result::ToolResult;
use crate::arguments::{Argument, Arguments, Failure, argument};
use crate::schema::{Limits, Node, Property};

/// Text that a tool with `parts` may return.
///
/// | returned | becomes |
/// |---|---|
/// | `String`, `&'static str`, `Cow<'static, str>`, `Box<str>` | the requested part of it |
/// | `Result<T, E>` | the part of `T`, or `isError` with the text of the error and its causes |
#[diagnostic::on_unimplemented(
    message = "a tool with `parts` cannot return `{Self}`",
    label = "this is not text",
    note = "return `String`, or a `Result` of it, and leave `parts` out for anything else"
)]
pub trait IntoText {
    /// Returns the whole text, or an error.
    fn into_text(self) -> Result<String, ToolError>;
}

macro_rules! texts {
    ($($ty:ty),*) => {
        $(impl IntoText for $ty {
            fn into_text(self) -> Result<String, ToolError> {
                Ok(self.into())
            }
        })*
    };
}

texts!(String, &'static str, Cow<'static, str>, Box<str>);

impl<T: IntoText, E: IntoToolError> IntoText for Result<T, E> {
    fn into_text(self) -> Result<String, ToolError> {
        self.map_err(E::into_tool_error).and_then(T::into_text)
    }
}

/// The part of the text that a call requests, in characters.
#[derive(Debug, Clone, Copy)]
pub struct TextPage {
    start: usize,
    length: usize,
}

const MAX_LENGTH: Argument<usize> = argument("max_length", "how many characters to return at most")
    .with_limits(&Limits {
        min: "1",
        ..Limits::NONE
    });

const START_INDEX: Argument<usize> = argument(
    "start_index",
    "how many characters to skip, to go on where another part ended",
)
.with_default("0");

impl TextPage {
    /// The argument for the number of characters; `json` is the default.
    pub const fn length(json: &'static str) -> Property {
        MAX_LENGTH.with_default(json).property()
    }

    /// The argument for the index of the first character.
    pub const START: Property = START_INDEX.property();

    /// The part that the arguments request: [`length`](Self::length) has number `index`,
    /// [`START`](Self::START) the next.
    pub fn requested<'a>(
        arguments: &Arguments<'a>,
        index: usize,
        length: usize,
    ) -> Result<Self, Failure<'a>> {
        let length = MAX_LENGTH.get_or(arguments, index, || length)?;
        Ok(Self {
            length: arguments.within(index, Some(1), None, length)?,
            start: START_INDEX.get_or(arguments, index + 1, || 0)?,
        })
    }

    fn cut(self, text: &str) -> Result<String, ToolError> {
        let rest = skip_chars(text, self.start);
        if rest.is_empty() && self.start > 0 {
            let mut message = String::from("there are only ");
            write_u64(&mut message, text.chars().count() as u64);
            message.push_str(" characters, so nothing begins at ");
            write_u64(&mut message, self.start as u64);
            return Err(ToolError::new(message));
        }
        let next = skip_chars(rest, self.length);
        let taken = rest.len() - next.len();
        let mut part = rest.get(..taken).unwrap_or_default().to_owned();
        if !next.is_empty() {
            let end = (self.start + self.length) as u64;
            part.push_str("\n\n[");
            write_u64(&mut part, end);
            part.push_str(" of ");
            write_u64(&mut part, end + next.chars().count() as u64);
            part.push_str(" characters: go on with `start_index` ");
            write_u64(&mut part, end);
            part.push(']');
        }
        Ok(part)
    }
}

/// The text after the first `count` characters.
fn skip_chars(text: &str, count: usize) -> &str {
    let mut characters = text.chars();
    if let Some(last) = count.checked_sub(1) {
        characters.nth(last);
    }
    characters.as_str()
}

/// The return type of a tool with `parts`, and its conversion into a result.
#[derive(Debug, Clone, Copy)]
pub struct Texts<T>(fn(T) -> Result<String, ToolError>);

/// A function that returns `T`, a text.
pub const fn texts<T: IntoText>() -> Texts<T> {
    Texts(T::into_text)
}

impl<T> Texts<T> {
    /// Text has no schema.
    pub const fn output(&self) -> Option<&'static Node> {
        None
    }

    /// The result of the tool when its function returned `value`.
    #[inline]
    pub fn reply<'a>(&self, part: TextPage, value: T) -> Result<ToolResult, Failure<'a>> {
        let text = (self.0)(value).and_then(|text| part.cut(&text));
        text.map(|text| ToolResult::text(&text))
            .map_err(Failure::Tool)
    }
}

#[cfg(test)]
mod tests {
    use super::TextPage;

    fn cut(text: &str, start: usize, length: usize) -> String {
        let cut = TextPage { start, length }.cut(text);
        cut.unwrap_or_else(|error| error.message().to_owned())
    }

    #[test]
    fn part_has_the_start_of_the_next_one() {
        let text = "grüße 🦀!";
        assert_eq!(cut(text, 0, 8), text);
        assert_eq!(
            cut(text, 0, 5),
            "grüße\n\n[5 of 8 characters: go on with `start_index` 5]"
        );
        assert_eq!(
            cut(text, 6, 1),
            "🦀\n\n[7 of 8 characters: go on with `start_index` 7]"
        );
        assert_eq!(cut(text, 7, usize::MAX), "!");
    }

    #[test]
    fn start_after_the_end_is_an_error() {
        assert_eq!(cut("", 0, 1), "");
        for (text, start, count) in [("", 1, 0), ("aé", 2, 2), ("aé", usize::MAX, 2)] {
            assert_eq!(
                cut(text, start, 1),
                format!("there are only {count} characters, so nothing begins at {start}")
            );
        }
    }
}
