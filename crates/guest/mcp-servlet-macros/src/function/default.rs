//! Defaults of arguments as JSON, for the schema (docs/decisions/0021-defaults-from-the-source.md).

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{ExprPath, LitStr, Type};

use super::arg::{json_literal, json_string};

/// The value of an absent argument.
pub(crate) enum ArgDefault {
    /// `default`: `Default::default()`
    OfType,
    /// `default = …`: an expression of the argument's type.
    Value(TokenStream),
    /// `default_str = "…"`: a string that is read like an argument.
    Str(LitStr),
}

impl ArgDefault {
    /// The value in the source.
    pub(crate) fn value(&self) -> Option<TokenStream> {
        match self {
            Self::OfType => None,
            Self::Value(value) => Some(value.clone()),
            Self::Str(text) => Some(text.to_token_stream()),
        }
    }
}

/// How the schema gets the JSON of a default.
pub(crate) enum JsonDefault {
    /// From a literal.
    Json(String),
    /// From the type, which may know its `Default::default()`.
    OfType,
    /// From the value of a constant of this type.
    Constant(Box<Type>, ExprPath),
    /// From the type, if it has a variant with this name.
    Variant(String),
    /// The schema does not have it.
    Unknown,
}

impl JsonDefault {
    /// The default of an argument of type `ty`.
    pub(crate) fn new(default: &ArgDefault, ty: &Type) -> Self {
        match default {
            ArgDefault::OfType => Self::OfType,
            ArgDefault::Str(text) => Self::Json(json_string(&text.value())),
            ArgDefault::Value(value) => match json_literal(value) {
                Some(json) => Self::Json(json),
                None => syn::parse2(value.clone())
                    .map_or(Self::Unknown, |path| Self::from_path(path, ty)),
            },
        }
    }

    fn from_path(path: ExprPath, ty: &Type) -> Self {
        if is_integer_or_bool(ty) {
            return Self::Constant(Box::new(ty.clone()), path);
        }
        let last = path.path.segments.last();
        last.map_or(Self::Unknown, |last| Self::Variant(last.ident.to_string()))
    }

    /// The call that gives an argument this default.
    pub(crate) fn method(&self, private: &TokenStream) -> TokenStream {
        match self {
            Self::Json(json) => quote!(.with_default(#json)),
            Self::OfType => quote!(.with_type_default()),
            Self::Constant(ty, path) => quote! {
                .with_default({
                    const __VALUE: #ty = #path;
                    const __JSON: &#private::Scalar = &#private::Scalar::#ty(__VALUE);
                    __JSON.json()
                })
            },
            Self::Variant(name) => quote!(.with_variant_default(#name)),
            Self::Unknown => quote!(.with_default("")),
        }
    }
}

const INTEGERS_AND_BOOL: [&str; 11] = [
    "bool", "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize",
];

fn is_integer_or_bool(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.qself.is_none()
        && INTEGERS_AND_BOOL
            .iter()
            .any(|name| path.path.is_ident(name))
}
