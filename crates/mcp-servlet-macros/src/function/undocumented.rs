//! Warnings about what has no description, which is most of what a model knows of a tool.
//!
//! A macro has no warnings of its own on stable Rust. So it uses something that is deprecated for this reason, at the
//! author's name; `#[allow(deprecated)]` on the function silences it.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::{Attribute, Type};

use super::arg::ArgDefault;
use super::default::{JsonDefault, argument_of};
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
            if is_lost(argument.options.default.as_ref(), argument.ty) {
                let message = format!(
                    "the default of argument `{called}` is not in the schema of {kind} `{name}`\nhelp: take a literal, a constant expression or `default` alone, or tell it in the doc comment and allow `deprecated`"
                );
                warnings.extend(self.warning(argument.ident, &message));
            }
        }
        warnings
    }

    fn warning(&self, at: &Ident, message: &str) -> TokenStream {
        let span = at.span();
        let of = |name: &str| {
            let attributes = self.attributes.iter();
            let name = name.to_owned();
            attributes.filter(move |attribute| attribute.path().is_ident(&name))
        };
        let (conditions, allowed) = (of("cfg"), of("allow"));
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

fn is_lost(default: Option<&ArgDefault>, ty: &Type) -> bool {
    default.is_some_and(|default| matches!(JsonDefault::of(default, ty), JsonDefault::Unknown))
}
