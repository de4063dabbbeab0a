//! The code that `#[resource]` generates for a function, and how the dispatcher calls it.

mod result;
pub(crate) mod template;

pub use self::result::{IntoResourceResult, ResourceResult, ResourceReturns, resource_returns};
use crate::arguments::{Arguments, Failure};
use crate::context::Context;
use crate::item::{Item, Placeholder};
use crate::presentation::Presentation;
use crate::returns::placeholder;

/// A function with `#[resource]`.
#[diagnostic::on_unimplemented(
    message = "`resources` in `export!` lists a function that is not a resource",
    label = "put `#[resource]` on this function",
    note = "a function with `#[resource_template]` belongs in `resource_templates`"
)]
pub trait Resource {
    /// The resource's description for clients. Only `const` evaluation uses it, so it is not linked.
    const DEF: ResourceDef;
    /// The resource as the dispatcher sees it.
    const ENTRY: ResourceEntry = ResourceEntry {
        uri: Self::DEF.uri,
        mime_type: Self::DEF.mime_type,
        read: Self::read,
    };

    /// Both, for `export!`.
    const ITEM: Item<ResourceDef, ResourceEntry> = Item {
        def: Self::DEF,
        entry: Self::ENTRY,
    };

    /// Runs the function and converts its return value into contents.
    fn read<'a>(context: &Context, arguments: Arguments<'a>)
    -> Result<ResourceResult, Failure<'a>>;
}

/// The description of a resource, or of a family of resources.
#[derive(Debug, Clone, Copy)]
pub struct ResourceDef {
    /// The URI, or the URI template.
    pub uri: &'static str,
    /// The name for programs.
    pub name: &'static str,
    /// The name that people see, empty for none.
    pub title: &'static str,
    /// The description of the resource, for the model, empty for none.
    pub description: &'static str,
    /// The media type, empty for none.
    pub mime_type: &'static str,
    /// The size in bytes, if it is known.
    pub size: Option<usize>,
    /// For whom it is, each `user` or `assistant`; empty for everyone.
    pub audience: &'static [&'static str],
    /// The importance: a JSON number from 0 to 1, empty for none.
    pub priority: &'static str,
    /// The time of the last change, as in RFC 3339, empty for unknown.
    pub last_modified: &'static str,
    /// How clients show it.
    pub presentation: Presentation,
}

impl ResourceDef {
    /// Used instead of a resource that has errors.
    pub const PLACEHOLDER: Self = Self {
        uri: "",
        name: "",
        title: "",
        description: "",
        mime_type: "",
        size: None,
        audience: &[],
        priority: "",
        last_modified: "",
        presentation: Presentation::NONE,
    };
}

/// A resource as the dispatcher sees it.
#[derive(Debug, Clone, Copy)]
pub struct ResourceEntry {
    pub(crate) uri: &'static str,
    pub(crate) mime_type: &'static str,
    pub(crate) read: Read,
}

impl Placeholder for ResourceEntry {
    const PLACEHOLDER: Self = Self {
        uri: "",
        mime_type: "",
        read: |_, _| placeholder(),
    };
}

/// Reads a resource; the arguments are the values of a template's variables.
pub(crate) type Read = for<'a> fn(&Context, Arguments<'a>) -> Result<ResourceResult, Failure<'a>>;
