//! The return types of the functions behind tools, resources, prompts and completions.

pub(crate) mod completion;
pub(crate) mod parts;
pub(crate) mod prompt;
pub(crate) mod resource;
pub(crate) mod resource_list;
pub(crate) mod tool;

use crate::answer::error::{Fault, ToolError};
use crate::arguments::Failure;

/// The return type `T` of a function, and its conversion into the result `R`.
///
/// Only functions such as [`returns`](crate::returns::tool::returns) create it, so that a type that cannot be returned causes
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
