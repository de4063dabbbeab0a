//! Types and docs of exports and imports.

use proc_macro2::TokenStream;
use syn::{Type, parse_quote};

use super::Glue;
use crate::document::{CodeSample, Scalar};
use crate::ir::{self, Function, Kind, Parameter};
use crate::json_schema::Slot;
use crate::rust_types::Missing;
use crate::types::docs;

impl Glue<'_> {
    /// The owned type of a parameter; `()` if there is none.
    pub(super) fn owned(&self, parameter: Option<&Parameter>) -> Result<Type, Missing> {
        match parameter {
            None => Ok(parse_quote!(())),
            Some(parameter) => self
                .rust_types
                .get(Slot::Parameter(parameter.slot))
                .cloned(),
        }
    }

    /// The borrowed type of a parameter, and whether it is a reference.
    pub(super) fn lent(&self, parameter: &Parameter) -> Result<(Type, bool), Missing> {
        let ty = self.owned(Some(parameter))?;
        if parameter.value.nullable || self.is_small(&parameter.value) {
            return Ok((ty, false));
        }
        let lent = match as_slice(&ty) {
            Some(slice) => slice,
            None => parse_quote!(&#ty),
        };
        Ok((lent, true))
    }

    /// Whether a value is passed by copy.
    fn is_small(&self, item: &ir::Item) -> bool {
        match &item.ty {
            ir::Type::Scalar(scalar) => matches!(
                scalar,
                Scalar::Boolean | Scalar::Integer(_) | Scalar::Float | Scalar::Double
            ),
            ir::Type::Named(id) => match &self.module.get(*id).kind {
                Kind::Enum(_) => self.copy_enums,
                Kind::Alias(item) => self.is_small(item),
                Kind::Struct(_) | Kind::Newtype(_) | Kind::Union(_) => false,
            },
            ir::Type::FreeForm | ir::Type::Any | ir::Type::List(_) | ir::Type::Map(_) => false,
        }
    }
}

/// `&str` for `String`, and `&[T]` for `Vec<T>`.
fn as_slice(ty: &Type) -> Option<Type> {
    let Type::Path(path) = ty else { return None };
    let last = match path.path.segments.first() {
        Some(only) if path.path.segments.len() == 1 => only,
        _ => return None,
    };
    if last.ident == "String" {
        return Some(parse_quote!(&str));
    }
    match &last.arguments {
        syn::PathArguments::AngleBracketed(arguments) if last.ident == "Vec" => {
            let element = arguments.args.first()?;
            Some(parse_quote!(&[#element]))
        }
        _ => None,
    }
}

/// The docs of a function: its description, those of its input and output, and `more`.
pub(super) fn attributes(
    role: &str,
    function: &Function,
    more: &str,
    indent: usize,
) -> Vec<TokenStream> {
    let mut text = function.docs.clone().unwrap_or_default();
    let parameters = [("Input", &function.input), ("Output", &function.output)];
    for (title, parameter) in parameters {
        let docs = parameter.as_ref().and_then(|p| p.docs.as_deref());
        if let Some(docs) = docs.map(str::trim).filter(|docs| !docs.is_empty()) {
            text.extend(["\n\n", title, ": ", docs]);
        }
    }
    if text.trim().is_empty() {
        text = format!("The {role} `{}`.", function.name.wire);
    }
    text += more;
    docs::attributes(Some(&text), indent)
}

/// Code samples as examples: those in Rust, or all if there are none.
pub(super) fn examples(samples: &[CodeSample]) -> String {
    let is_rust = |sample: &&CodeSample| sample.lang.eq_ignore_ascii_case("rust");
    let has_rust = samples.iter().any(|sample| is_rust(&sample));
    let shown = samples.iter().filter(|sample| !has_rust || is_rust(sample));
    let mut text = String::new();
    for sample in shown {
        let label = sample.label.as_deref().unwrap_or(&sample.lang);
        let title = label.split_whitespace().collect::<Vec<_>>().join(" ");
        let lang = sample.lang.to_lowercase();
        let source = sample.source.trim_matches('\n');
        let mut fence = "```".to_owned();
        while source.contains(&fence) {
            fence.push('`');
        }
        text.extend(["\n\n# Example: ", &title, "\n\n", &fence, &lang, "\n"]);
        text.extend([source, "\n", &fence, "\n"]);
    }
    text
}
