//! The return types of functions that list the resources of a template.

use mcp_servlet_types::Resource;

use crate::answer::error::{IntoToolError, ToolError};
use crate::host::context::Context;

/// A value that a function in `list` of [`#[resource_template]`](macro@crate::resource_template) may return:
/// `Vec<Resource>`, or a `Result` of it.
#[diagnostic::on_unimplemented(
    message = "a function that lists resources cannot return `{Self}`",
    label = "not a list of resources",
    note = "return `Vec<Resource>`, or a `Result` of it"
)]
pub trait IntoResourceList {
    /// Returns the resources, or an error.
    fn into_resource_list(self) -> Result<Vec<Resource>, ToolError>;
}

impl IntoResourceList for Vec<Resource> {
    fn into_resource_list(self) -> Result<Vec<Resource>, ToolError> {
        Ok(self)
    }
}

impl<E: IntoToolError> IntoResourceList for Result<Vec<Resource>, E> {
    fn into_resource_list(self) -> Result<Vec<Resource>, ToolError> {
        self.map_err(E::into_tool_error)
    }
}

/// Lists the resources of a family.
pub type ListResources = fn(&Context) -> Result<Vec<Resource>, ToolError>;

/// The resources that a function has returned.
pub fn listed<T: IntoResourceList>(value: T) -> Result<Vec<Resource>, ToolError> {
    value.into_resource_list()
}
