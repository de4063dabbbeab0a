//! `#[resource]` and `#[resource_template]`: parse, check, expand.

mod emit;
mod options;
mod template;
#[cfg(test)]
mod tests;
mod validate;

use proc_macro2::TokenStream;

use self::options::ResourceOptions;
use crate::diagnostics::Diagnostics;
use crate::function::{FnHead, strip};

/// Which of the two attributes it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `#[resource]`: a fixed address.
    Fixed,
    /// `#[resource_template]`: a template of addresses.
    Template,
}

impl Kind {
    /// The attribute.
    fn attribute(self) -> &'static str {
        match self {
            Self::Fixed => "resource",
            Self::Template => "resource_template",
        }
    }

    /// The option that holds the address.
    fn address(self) -> &'static str {
        match self {
            Self::Fixed => "uri",
            Self::Template => "uri_template",
        }
    }
}

/// The author's function, and beside it what makes it a resource, or the errors.
pub(crate) fn expand(kind: Kind, attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let mut output = strip::without_parameter_attributes(item.clone());
    let options = ResourceOptions::parse(kind, attribute, &mut diagnostics);
    let Some(head) = diagnostics.ok(FnHead::parse(kind.attribute(), item)) else {
        output.extend(diagnostics.into_tokens());
        return output;
    };
    let resource = validate::validate(kind, &head, &options, &mut diagnostics);
    output.extend(match resource {
        Some(resource) if diagnostics.is_empty() => emit::resource(&resource),
        _ if head.has_receiver() => TokenStream::new(),
        _ => emit::stand_in(kind, &head, &options.krate),
    });
    output.extend(diagnostics.into_tokens());
    output
}
