//! The rules for every function with one of our attributes.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Ident, LitStr, ReturnType, Type};

use super::head::FnHead;
use super::parameters::ValidParam;
use crate::diagnostics::Diagnostics;

/// Reports qualifiers, generics, and a name that hides a type.
pub(crate) fn check_signature(kind: &str, head: &FnHead, diagnostics: &mut Diagnostics) {
    check_qualifiers(kind, head, diagnostics);
    check_marker(kind, &head.name, diagnostics);
}

fn check_qualifiers(kind: &str, head: &FnHead, diagnostics: &mut Diagnostics) {
    let (name, kind) = (&head.name, words(kind));
    for qualifier in &head.qualifiers {
        let help = match qualifier.to_string().as_str() {
            "async" => "a servlet runs one call at a time: remove `async`",
            "unsafe" => "hosts call it with any arguments: remove `unsafe`",
            _ => "`export!` makes the wasm exports: remove `extern`",
        };
        diagnostics.error(
            qualifier,
            format!("{kind} `{name}` cannot be `{qualifier}`\nhelp: {help}"),
        );
    }
    if !head.generics.params.is_empty() {
        let has_types = head.generics.lifetimes().count() < head.generics.params.len();
        let help = if has_types {
            "name concrete types"
        } else {
            "leave the lifetimes out"
        };
        diagnostics.error(
            &head.generics,
            format!("{kind} `{name}` cannot be generic\nhelp: {help}"),
        );
    }
}

/// The name of the attribute in prose: `resource template`.
pub(crate) fn words(attribute: &str) -> String {
    attribute.replace('_', " ")
}

const PRIMITIVES: &[&str] = &[
    "bool", "char", "str", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64",
    "u128", "usize", "f32", "f64",
];

/// The marker type has the function's name, so it would hide a primitive type.
fn check_marker(kind: &str, name: &Ident, diagnostics: &mut Diagnostics) {
    if PRIMITIVES.contains(&name.to_string().as_str()) {
        diagnostics.error(
            name,
            format!(
                "{kind} `{name}` would hide the primitive type `{name}`\n\
                 help: rename the function and add `#[{kind}(name = \"{name}\")]`"
            ),
        );
    }
}

/// The type that a function returns, if it has a name.
pub(crate) fn output(
    kind: &str,
    output: &ReturnType,
    diagnostics: &mut Diagnostics,
) -> Option<TokenStream> {
    match output {
        ReturnType::Default => Some(quote!(())),
        ReturnType::Type(_, ty) if matches!(**ty, Type::ImplTrait(_)) => {
            diagnostics.error(
                ty,
                format!(
                    "a {} cannot return `impl Trait`\nhelp: name the type",
                    words(kind)
                ),
            );
            None
        }
        ReturnType::Type(_, ty) => {
            if let Type::Reference(reference) = &**ty {
                if reference.lifetime.is_none() {
                    let kind = words(kind);
                    let message = format!(
                        "a {kind} cannot return a borrowed value\nhelp: return an owned type such as `String`, or `&'static str` for a literal"
                    );
                    diagnostics.error(ty, message);
                }
            }
            Some(ty.to_token_stream())
        }
    }
}

/// Reports a parameter that takes all arguments, which only tools have.
pub(crate) fn no_whole(
    kind: &str,
    parameters: &[ValidParam<'_>],
    head: &FnHead,
    diagnostics: &mut Diagnostics,
) {
    if parameters
        .iter()
        .any(|param| matches!(param, ValidParam::Whole { .. }))
    {
        let (name, kind) = (&head.name, words(kind));
        diagnostics.error(
            name,
            format!(
                "{kind} `{name}` cannot flatten a parameter\nhelp: use one parameter for each argument"
            ),
        );
    }
}

/// The name for clients: the one in the attribute, or else the function's.
pub(crate) fn name(
    kind: &str,
    head: &FnHead,
    given: Option<&LitStr>,
    diagnostics: &mut Diagnostics,
) -> String {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let Some(literal) = given else {
        let name = head.name.unraw().to_string();
        if !name.chars().all(is_valid) {
            diagnostics.error(
                &head.name,
                format!("`{name}` cannot be the name of a {kind}\nhelp: add `#[{kind}(name = \"…\")]` with ASCII letters, digits, `_`, `-` and `.`"),
            );
        }
        return name;
    };
    let name = literal.value();
    if let Some(wrong) = name.chars().find(|c| !is_valid(*c)) {
        diagnostics.error(
            literal,
            format!(
                "a {kind} name cannot have `{}`\nhelp: use ASCII letters, digits, `_`, `-` and `.`",
                wrong.escape_debug()
            ),
        );
    }
    if name.is_empty() || name.len() > 128 {
        diagnostics.error(
            literal,
            format!(
                "expected a {kind} name of 1 to 128 characters, found {}",
                name.len()
            ),
        );
    }
    name
}
