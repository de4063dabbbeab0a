//! Warnings about missing descriptions, because a model knows a tool mainly by its description, and about defaults that
//! the schema does not show.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Attribute, GenericArgument, PathArguments, Type};

use super::default::{ArgDefault, JsonDefault};
use super::emit::constant;
use super::parameters::{Argument, ValidParam, arguments};
use crate::docs;
use crate::warning::{lost_default, warning};

/// The function that the warnings are about.
pub(crate) struct Subject<'a> {
    /// `tool` or `prompt`.
    pub(crate) kind: &'a str,
    pub(crate) name: &'a Ident,
    pub(crate) attributes: &'a [Attribute],
    /// Whether there is a description; an explicit empty one counts.
    pub(crate) is_described: bool,
}

impl Subject<'_> {
    /// The warnings, as items next to the function.
    pub(crate) fn warnings(&self, parameters: &[ValidParam<'_>]) -> TokenStream {
        let Self { kind, name, .. } = self;
        let mut warnings = TokenStream::new();
        if !self.is_described {
            let message = format!(
                "{kind} `{name}` has no description\nhelp: write a doc comment, or `#[{kind}(description = \"\")]` if its name is enough"
            );
            warnings.extend(self.warning(name, &message));
        }
        for argument in arguments(parameters) {
            let called = &argument.name;
            if !is_described(argument) {
                let message = format!(
                    "argument `{called}` of {kind} `{name}` has no description\nhelp: write a doc comment before it, or `#[arg(description = \"\")]` if its name is enough"
                );
                warnings.extend(self.warning(argument.ident, &message));
            }
        }
        warnings
    }

    /// The warnings about defaults that the schema does not show, as items next to the constants of the arguments.
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
            "the default of argument `{}` is not in the schema of {kind} `{name}`\nhelp: use a literal, a constant integer or `bool`, a variant or `default` alone, or write it in the doc comment and allow `deprecated`",
            argument.name
        );
        let constant = constant(index);
        let lost = quote!(#constant.default_is_lost());
        lost_default(&lost, argument.ident, &self.attributes(), &message)
    }

    fn warning(&self, at: &Ident, message: &str) -> TokenStream {
        warning(at, &self.attributes(), message)
    }

    fn attributes(&self) -> Vec<&Attribute> {
        self.attributes.iter().collect()
    }
}

/// Whether an argument has a description, or its type may have one.
fn is_described(argument: &Argument<'_>) -> bool {
    argument.options.description.is_some()
        || docs::has_any(argument.attributes)
        || !is_plain(argument.ty)
}

/// Whether it is a type of Rust's own, which has no description.
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

/// The type in the angle brackets, if the type has one of these names.
fn argument_of<'a>(ty: &'a Type, names: &[&str]) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    let is_named = names.iter().any(|name| last.ident == name);
    match arguments.args.last() {
        Some(GenericArgument::Type(inner)) if is_named => Some(inner),
        _ => None,
    }
}

/// Whether there is a default whose JSON the macro does not know from the source.
fn may_be_lost(default: Option<&ArgDefault>, ty: &Type) -> bool {
    default.is_some_and(|default| !matches!(JsonDefault::new(default, ty), JsonDefault::Json(_)))
}
