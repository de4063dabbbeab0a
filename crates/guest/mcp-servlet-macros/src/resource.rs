//! `#[resource]` and `#[resource_template]`: parse, check, expand.

mod emit;
mod options;
mod template;
#[cfg(test)]
mod tests;
mod validate;

use proc_macro2::TokenStream;

use self::options::ResourceOptions;
pub(crate) use self::options::keys;
use self::validate::ValidResource;
use crate::attributes::Key;
use crate::diagnostics::Diagnostics;
use crate::function::FnHead;
use crate::function::attribute::FunctionAttribute;

/// One of the two attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `#[resource]`: a fixed URI.
    Fixed,
    /// `#[resource_template]`: a URI template.
    Template,
}

impl Kind {
    /// The name of the attribute.
    fn attribute(self) -> &'static str {
        match self {
            Self::Fixed => "resource",
            Self::Template => "resource_template",
        }
    }

    /// The name of the option that takes the URI.
    fn address(self) -> &'static str {
        match self {
            Self::Fixed => "uri",
            Self::Template => "uri_template",
        }
    }
}

impl FunctionAttribute for Kind {
    type Options = ResourceOptions;
    type Valid<'a> = ValidResource<'a>;

    fn name(&self) -> &'static str {
        self.attribute()
    }

    fn keys(&self) -> Vec<Key<ResourceOptions>> {
        keys(*self)
    }

    /// Pretends that there is a URI, so that no second error says that it is missing.
    fn unknown_options(&self) -> ResourceOptions {
        ResourceOptions {
            has_uri: true,
            ..ResourceOptions::default()
        }
    }

    fn validate<'a>(
        &self,
        head: &'a FnHead,
        options: &'a ResourceOptions,
        diagnostics: &mut Diagnostics,
    ) -> Option<ValidResource<'a>> {
        validate::validate(*self, head, options, diagnostics)
    }

    fn emit(&self, resource: &ValidResource<'_>) -> TokenStream {
        emit::resource(resource)
    }

    fn placeholder(&self, head: &FnHead, options: &ResourceOptions) -> TokenStream {
        emit::placeholder(*self, head, &options.krate.private())
    }
}

/// The author's function, followed by the items that make it a resource, or by the errors.
pub(crate) fn expand(kind: Kind, attribute: TokenStream, item: TokenStream) -> TokenStream {
    kind.expand(attribute, item)
}
