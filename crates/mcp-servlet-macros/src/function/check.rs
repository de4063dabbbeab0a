//! What no function of ours may be.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Ident, ReturnType, Type};

use super::head::FnHead;
use crate::diagnostics::Diagnostics;

/// Reports what keeps a function from being a `kind`: qualifiers, generics, a name that hides a type.
pub(crate) fn check(kind: &str, head: &FnHead, diagnostics: &mut Diagnostics) {
    check_qualifiers(kind, head, diagnostics);
    check_marker(kind, &head.name, diagnostics);
}

fn check_qualifiers(kind: &str, head: &FnHead, diagnostics: &mut Diagnostics) {
    let name = &head.name;
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
        diagnostics.error(
            &head.generics,
            format!("{kind} `{name}` cannot be generic\nhelp: name concrete types"),
        );
    }
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
                format!("a {kind} returns a concrete type\nhelp: name the type"),
            );
            None
        }
        ReturnType::Type(_, ty) => Some(ty.to_token_stream()),
    }
}
