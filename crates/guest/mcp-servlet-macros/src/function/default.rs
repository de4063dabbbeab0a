//! Defaults of arguments as JSON, for the schema.
//!
//! This module reads literals in the source. Defaults that only the type knows are found by `mcp_servlet` in `const`
//! evaluation.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprCall, ExprLit, ExprMethodCall, ExprPath, GenericArgument, Lit, PathArguments};
use syn::{Token, Type};

use super::arg::{ArgDefault, json_literal, json_string};

/// The source of the JSON of a default.
pub(crate) enum JsonDefault {
    /// The macro knows the JSON.
    Json(String),
    /// `Default::default()` of the type.
    OfType,
    /// A path that may name the variant with this name.
    Variant(String),
    /// An expression of numbers or booleans, and its type.
    Constant(Box<Type>, TokenStream),
    /// `None`: the same as an absent argument.
    Nothing,
    /// Known only when the function runs.
    Unknown,
}

impl JsonDefault {
    /// The default of an argument of type `ty`.
    pub(crate) fn of(default: &ArgDefault, ty: &Type) -> Self {
        let ArgDefault::Value(value) = default else {
            return Self::OfType;
        };
        if let Some(json) = json_literal(value) {
            return Self::Json(json);
        }
        let expression = syn::parse2(value.clone());
        expression.map_or(Self::Unknown, |expression| {
            Self::expression(&expression, ty)
        })
    }

    fn expression(value: &Expr, ty: &Type) -> Self {
        if let Some(json) = json_literal(&value.to_token_stream()) {
            return Self::Json(json);
        }
        if is_constant(value) && is_scalar(ty) {
            return Self::Constant(Box::new(ty.clone()), value.to_token_stream());
        }
        match value {
            Expr::Path(path) if last(path) == "None" => Self::Nothing,
            Expr::Path(path) => Self::Variant(last(path)),
            Expr::Call(call) => Self::call(call, ty),
            Expr::MethodCall(call) => text_of(call, ty).map_or(Self::Unknown, Self::Json),
            Expr::Macro(list) if list.mac.path.is_ident("vec") => {
                let items = Punctuated::<Expr, Token![,]>::parse_terminated;
                let items = list.mac.parse_body_with(items).ok();
                let json = items.and_then(|items| json_list(&items));
                json.map_or(Self::Unknown, Self::Json)
            }
            _ => Self::Unknown,
        }
    }

    fn call(call: &ExprCall, ty: &Type) -> Self {
        let Expr::Path(function) = &*call.func else {
            return Self::Unknown;
        };
        let segments: Vec<_> = function.path.segments.iter().collect();
        let names: Vec<_> = segments.iter().map(|each| each.ident.to_string()).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        match (&*names, call.args.first()) {
            ([.., "Some"], Some(value)) => match argument_of(ty, &["Option"]) {
                Some(inner) => Self::expression(value, inner).inside_of_some(),
                None => Self::Unknown,
            },
            (
                [.., "String", "from"],
                Some(Expr::Lit(ExprLit {
                    lit: Lit::Str(text),
                    ..
                })),
            ) => Self::Json(json_string(&text.value())),
            ([.., "default"], None) => Self::OfType,
            ([.., container, "new"], None) if is_empty_when_new(container) => Self::OfType,
            _ => Self::Unknown,
        }
    }

    /// The default in `Some(…)`: the JSON is unknown if it is the type's default or `None`.
    fn inside_of_some(self) -> Self {
        match self {
            Self::OfType | Self::Nothing => Self::Unknown,
            found => found,
        }
    }

    /// The call that gives an argument this default.
    pub(crate) fn method(&self, private: &TokenStream) -> TokenStream {
        match self {
            Self::Json(json) => quote!(.with_default(#json)),
            Self::OfType => quote!(.with_type_default()),
            Self::Variant(name) => quote!(.with_variant_default(#name)),
            Self::Constant(ty, value) => quote! {
                .with_default({
                    const __VALUE: #ty = #value;
                    const __JSON: &#private::Scalar = &#private::Scalar::#ty(__VALUE);
                    __JSON.json()
                })
            },
            Self::Nothing | Self::Unknown => quote!(.with_default("")),
        }
    }
}

/// Whether the expression can be evaluated in a `const` if its types are numbers or booleans.
fn is_constant(value: &Expr) -> bool {
    match value {
        Expr::Lit(_) | Expr::Path(_) => true,
        Expr::Unary(unary) => is_constant(&unary.expr),
        Expr::Paren(paren) => is_constant(&paren.expr),
        Expr::Cast(cast) => is_constant(&cast.expr),
        Expr::Binary(binary) => is_constant(&binary.left) && is_constant(&binary.right),
        _ => false,
    }
}

const SCALARS: [&str; 13] = [
    "bool", "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize", "f32", "f64",
];

fn is_scalar(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.qself.is_none() && SCALARS.iter().any(|name| path.path.is_ident(name)))
}

/// The type in the angle brackets, if the type has one of these names.
pub(crate) fn argument_of<'a>(ty: &'a Type, names: &[&str]) -> Option<&'a Type> {
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

fn last(path: &ExprPath) -> String {
    let last = path.path.segments.last();
    last.map(|segment| segment.ident.to_string())
        .unwrap_or_default()
}

fn is_empty_when_new(container: &str) -> bool {
    let known = [
        "String", "Vec", "VecDeque", "HashMap", "HashSet", "BTreeMap", "BTreeSet",
    ];
    known.contains(&container)
}

/// The text of `"…".to_owned()` and similar calls.
fn text_of(call: &ExprMethodCall, ty: &Type) -> Option<String> {
    let is_text = match &*call.method.to_string() {
        "to_owned" | "to_string" => true,
        "into" => matches!(ty, Type::Path(path) if path.path.is_ident("String")),
        _ => false,
    };
    match &*call.receiver {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) if is_text => Some(json_string(&text.value())),
        _ => None,
    }
}

fn json_list(items: &Punctuated<Expr, Token![,]>) -> Option<String> {
    let items = items
        .iter()
        .map(|item| json_literal(&item.to_token_stream()));
    let items: Option<Vec<_>> = items.collect();
    Some(format!("[{}]", items?.join(",")))
}
