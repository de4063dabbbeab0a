//! The return types of the functions behind tools, resources, prompts and completions.

use crate::arguments::Failure;
use crate::error::{Fault, ToolError};

/// The return type `T` of a function, and its conversion into the result `R`.
///
/// Only functions such as [`returns`](crate::result::returns) create it, so that a type that cannot be returned causes
/// one error.
#[derive(Debug, Clone, Copy)]
pub struct Returns<T, R, D = ()> {
    /// The schema or the media type of every value of `T`; `()` for prompts and completions.
    pub(crate) description: D,
    pub(crate) convert: fn(T) -> Result<R, ToolError>,
}

impl<T, R, D> Returns<T, R, D> {
    /// The result when the function returned `value`.
    #[inline]
    pub fn reply<'a>(&self, value: T) -> Result<R, Failure<'a>> {
        (self.convert)(value).map_err(Failure::Tool)
    }
}

/// The result of a function with errors, which never runs.
pub fn placeholder<'a, R>() -> Result<R, Failure<'a>> {
    Err(Failure::Fault(Fault::internal("")))
}
