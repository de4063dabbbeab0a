//! Warnings about what has no description, which is most of what a model knows of a tool.
//!
//! A macro has no warnings of its own on stable Rust. So it uses something that is deprecated for this reason, at the
//! author's name; `#[allow(deprecated)]` on the function silences it.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::{Attribute, Type};

use super::arg::ArgDefault;
use super::default::{JsonDefault, argument_of};
use super::emit::constant;
use super::parameters::{Argument, ValidParam, arguments};

/// What the warnings are about.
pub(crate) struct Subject<'a> {
    /// `tool` or `prompt`.
    pub(crate) kind: &'a str,
    pub(crate) name: &'a Ident,
    pub(crate) attributes: &'a [Attribute],
    /// Whether there is a description, if only an empty one on purpose.
    pub(crate) is_described: bool,
}

impl Subject<'_> {
    /// The warnings, as items beside the function.
    pub(crate) fn warnings(&self, parameters: &[ValidParam<'_>]) -> TokenStream {
        let Self { kind, name, .. } = self;
        let mut warnings = TokenStream::new();
        if !self.is_described {
            let message = format!(
                "{kind} `{name}` has no description\nhelp: write a doc comment, or `#[{kind}(description = \"\")]` if its name says it all"
            );
            warnings.extend(self.warning(name, &message));
        }
        for argument in arguments(parameters) {
            let called = &argument.name;
            if !is_described(argument) {
                let message = format!(
                    "argument `{called}` of {kind} `{name}` has no description\nhelp: write a doc comment before it, or `#[arg(description = \"\")]` if its name says it all"
                );
                warnings.extend(self.warning(argument.ident, &message));
            }
        }
        warnings
    }

    /// The warnings about defaults that the schema does not show, as items next to the constants of the arguments.
    ///
    /// Only `const` evaluation knows them: an argument of a generic type says which constant is used, a deprecated one or not.
    pub(crate) fn lost_defaults(&self, parameters: &[ValidParam<'_>]) -> TokenStream {
        let arguments = arguments(parameters).enumerate();
        arguments
            .filter(|(_, argument)| may_be_lost(argument.options.default.as_ref(), argument.ty))
            .map(|(index, argument)| self.lost_default(index, argument))
            .collect()
    }

    fn lost_default(&self, index: usize, argument: &Argument<'_>) -> TokenStream {
        let Self { kind, name, .. } = self;
        let message = format!(
            "the default of argument `{}` is not in the schema of {kind} `{name}`\nhelp: use a literal, an expression of numbers or `default` alone, or write it in the doc comment and allow `deprecated`",
            argument.name
        );
        let allowed = self.attributes_called("allow");
        let constant = constant(index);
        quote_spanned! {argument.ident.span()=>
            #(#allowed)*
            const _: () = {
                enum __Default<const LOST: ::core::primitive::bool> {}
                impl __Default<false> {
                    const __IN_SCHEMA: () = ();
                }
                impl __Default<true> {
                    #[deprecated(note = #message)]
                    const __IN_SCHEMA: () = ();
                }
                __Default::<{ #constant.default_is_lost() }>::__IN_SCHEMA
            };
        }
    }

    fn attributes_called(&self, name: &str) -> impl Iterator<Item = &Attribute> {
        let attributes = self.attributes.iter();
        attributes.filter(move |attribute| attribute.path().is_ident(name))
    }

    fn warning(&self, at: &Ident, message: &str) -> TokenStream {
        let span = at.span();
        let conditions = self.attributes_called("cfg");
        let allowed = self.attributes_called("allow");
        quote_spanned! {span=>
            #(#conditions)*
            #(#allowed)*
            const _: () = {
                #[deprecated(note = #message)]
                const __INCOMPLETE: () = ();
                __INCOMPLETE
            };
        }
    }
}

/// Whether an argument has a description, or its type may have one.
fn is_described(argument: &Argument<'_>) -> bool {
    argument.options.description.is_some()
        || argument.description.to_string() != "\"\""
        || !is_plain(argument.ty)
}

/// Types of Rust, which have no description of their own.
fn is_plain(ty: &Type) -> bool {
    const PLAIN: [&str; 24] = [
        "bool", "char", "String", "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64",
        "usize", "f32", "f64", "PathBuf", "Vec", "VecDeque", "HashMap", "BTreeMap", "HashSet",
        "BTreeSet", "RawJson", "Duration",
    ];
    if let Some(inner) = argument_of(ty, &["Option", "Box", "Rc", "Arc", "Cow"]) {
        return is_plain(inner);
    }
    let Type::Path(path) = ty else { return false };
    let last = path.path.segments.last();
    last.is_some_and(|last| PLAIN.iter().any(|name| last.ident == name))
}

/// Whether there is a default of which the source does not say the JSON.
fn may_be_lost(default: Option<&ArgDefault>, ty: &Type) -> bool {
    default.is_some_and(|default| {
        !matches!(
            JsonDefault::of(default, ty),
            JsonDefault::Json(_) | JsonDefault::Nothing
        )
    })
}
