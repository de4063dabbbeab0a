//! The options of `#[serde(…)]` and `#[schema(…)]` that a schema depends on.
//!
//! Unknown keys of `#[serde]` are ignored here, because serde's derive checks its own attributes.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, LitStr, Meta, Path, Token, Type, punctuated::Punctuated};

use super::case::Case;
use crate::attributes::{CratePath, Entries, Key, key};
use crate::diagnostics::Diagnostics;
use crate::function::limits::{Limits, keys_and_limits};

/// The options on a struct or an enum.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an attribute of serde"
)]
pub(crate) struct TypeOptions {
    /// The tag of a struct; by default the name of the type.
    pub(crate) rename: Option<LitStr>,
    pub(crate) rename_all: Option<Case>,
    pub(crate) rename_all_fields: Option<Case>,
    pub(crate) tag: Option<LitStr>,
    pub(crate) content: Option<LitStr>,
    pub(crate) untagged: bool,
    pub(crate) deny_unknown_fields: bool,
    pub(crate) default: bool,
    pub(crate) transparent: bool,
    /// The type that serde reads or writes instead of this one (`from`, `try_from`, `into`).
    pub(crate) proxy: Option<Type>,
    pub(crate) krate: CratePath,
}

/// The options on a field.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an attribute of serde"
)]
pub(crate) struct FieldOptions {
    pub(crate) rename: Option<LitStr>,
    pub(crate) aliases: Vec<LitStr>,
    pub(crate) default: Option<FieldDefault>,
    pub(crate) flatten: bool,
    pub(crate) skip_serializing: bool,
    pub(crate) skip_deserializing: bool,
    pub(crate) skip_serializing_if: bool,
    /// The key that names handwritten serde code, such as `with`.
    pub(crate) custom: Option<syn::Ident>,
    pub(crate) json: Option<TokenStream>,
    pub(crate) example: Option<TokenStream>,
    /// Whether its values must not be shown.
    pub(crate) secret: bool,
    pub(crate) limits: Limits,
}

/// The value of a field that is absent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldDefault {
    /// `Default::default()` of its type.
    OfType,
    /// The result of a function.
    Function,
}

/// The options on a variant.
#[derive(Default)]
pub(crate) struct VariantOptions {
    pub(crate) rename: Option<LitStr>,
    pub(crate) rename_all: Option<Case>,
    pub(crate) skip: bool,
    pub(crate) alias: Option<LitStr>,
    /// Whether it takes all tags that no other variant has.
    pub(crate) other: bool,
    pub(crate) untagged: Option<syn::Ident>,
    /// The key that names handwritten serde code, such as `with`.
    pub(crate) custom: Option<syn::Ident>,
}

/// The options of `#[schema]` on a type.
pub(crate) const TYPE_KEYS: &[Key<TypeOptions>] = &[key!(crate)];

/// The options of `#[schema]` on a field.
pub(crate) const FIELD_KEYS: &[Key<FieldOptions>] = keys_and_limits![
    key!(json: expression),
    key!(example: expression),
    Key::new("secret", |options, entry, diagnostics| {
        options.secret = entry.flag(diagnostics).unwrap_or_default();
    }),
];

impl TypeOptions {
    pub(crate) fn parse(attributes: &[Attribute], diagnostics: &mut Diagnostics) -> Self {
        let mut options = Self::default();
        for item in serde_items(attributes) {
            match item.key.as_str() {
                "rename" => options.rename = item.name(diagnostics),
                "rename_all" => options.rename_all = item.case(diagnostics),
                "rename_all_fields" => options.rename_all_fields = item.case(diagnostics),
                "tag" => options.tag = item.string(),
                "content" => options.content = item.string(),
                "untagged" => options.untagged = true,
                "deny_unknown_fields" => options.deny_unknown_fields = true,
                "default" => options.default = true,
                "transparent" => options.transparent = true,
                "from" | "try_from" | "into" => options.set_proxy(&item, diagnostics),
                _ => {}
            }
        }
        read_schema(attributes, TYPE_KEYS, &mut options, diagnostics);
        options
    }
}

impl TypeOptions {
    fn set_proxy(&mut self, item: &SerdeItem, diagnostics: &mut Diagnostics) {
        // serde's own derive reports a value that is not a type.
        let Some(ty) = item.string().and_then(|name| name.parse::<Type>().ok()) else {
            return;
        };
        match &self.proxy {
            Some(other)
                if other.to_token_stream().to_string() != ty.to_token_stream().to_string() =>
            {
                diagnostics.error(
                    &item.meta,
                    "expected one type for reading and writing\nhelp: use the same type in `from` or `try_from` and in `into`",
                );
            }
            _ => self.proxy = Some(ty),
        }
    }
}

impl FieldOptions {
    pub(crate) fn parse(attributes: &[Attribute], diagnostics: &mut Diagnostics) -> Self {
        let mut options = Self::default();
        for item in serde_items(attributes) {
            match item.key.as_str() {
                "rename" => options.rename = item.name(diagnostics),
                "alias" => options.aliases.extend(item.string()),
                "default" => {
                    options.default = Some(match item.meta {
                        Meta::Path(_) => FieldDefault::OfType,
                        _ => FieldDefault::Function,
                    });
                }
                "flatten" => options.flatten = true,
                "skip" => {
                    options.skip_serializing = true;
                    options.skip_deserializing = true;
                }
                "skip_serializing" => options.skip_serializing = true,
                "skip_deserializing" => options.skip_deserializing = true,
                "skip_serializing_if" => options.skip_serializing_if = true,
                "with" | "deserialize_with" | "serialize_with" => {
                    options.custom = item.path.get_ident().cloned();
                }
                _ => {}
            }
        }
        read_schema(attributes, FIELD_KEYS, &mut options, diagnostics);
        options
    }
}

impl VariantOptions {
    pub(crate) fn parse(attributes: &[Attribute], diagnostics: &mut Diagnostics) -> Self {
        let mut options = Self::default();
        let (mut reading, mut writing) = (None, None);
        for item in serde_items(attributes) {
            match item.key.as_str() {
                "rename" => options.rename = item.name(diagnostics),
                "rename_all" => options.rename_all = item.case(diagnostics),
                "alias" => options.alias = item.string(),
                "skip" => options.skip = true,
                "skip_deserializing" => reading = Some(item),
                "skip_serializing" => writing = Some(item),
                "other" => options.other = true,
                "untagged" => options.untagged = item.path.get_ident().cloned(),
                "with" | "deserialize_with" | "serialize_with" => {
                    options.custom = item.path.get_ident().cloned();
                }
                _ => {}
            }
        }
        options.skip |= reading.is_some() && writing.is_some();
        if let (Some(item), None) | (None, Some(item)) = (&reading, &writing) {
            let message = "variant is skipped only for reading or only for writing\nhelp: use `#[serde(skip)]` to skip it for both";
            diagnostics.error(&item.meta, message);
        }
        read_schema(attributes, &[], &mut options, diagnostics);
        options
    }
}

/// One item of `#[serde(…)]`.
struct SerdeItem {
    key: String,
    path: Path,
    meta: Meta,
}

impl SerdeItem {
    fn string(&self) -> Option<LitStr> {
        match &self.meta {
            Meta::NameValue(meta) => {
                let value = &meta.value;
                syn::parse2(quote!(#value)).ok()
            }
            _ => None,
        }
    }

    /// A name. It must be the same for reading and writing.
    fn name(&self, diagnostics: &mut Diagnostics) -> Option<LitStr> {
        let Meta::List(list) = &self.meta else {
            return self.string();
        };
        let items = list
            .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
            .ok()?;
        let names: Vec<LitStr> = items
            .into_iter()
            .filter_map(|meta| SerdeItem::new(meta).string())
            .collect();
        if let [first, second] = &*names {
            if first.value() == second.value() {
                return Some(first.clone());
            }
        }
        let key = &self.key;
        diagnostics.error(
            list,
            format!("expected one name for reading and writing\nhelp: write `{key} = \"…\"`"),
        );
        None
    }

    /// A case rule. It must be the same for reading and writing.
    fn case(&self, diagnostics: &mut Diagnostics) -> Option<Case> {
        Case::named(&self.name(diagnostics)?.value())
    }

    fn new(meta: Meta) -> Self {
        let path = meta.path().clone();
        let key = path
            .get_ident()
            .map(ToString::to_string)
            .unwrap_or_default();
        Self { key, path, meta }
    }
}

fn serde_items(attributes: &[Attribute]) -> impl Iterator<Item = SerdeItem> {
    let lists = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("serde"));
    let parse = Punctuated::<Meta, Token![,]>::parse_terminated;
    // serde's own derive reports lists that do not parse.
    lists
        .filter_map(move |list| list.parse_args_with(parse).ok())
        .flatten()
        .map(SerdeItem::new)
}

/// Reads `#[schema(…)]`.
fn read_schema<T>(
    attributes: &[Attribute],
    keys: &[Key<T>],
    options: &mut T,
    diagnostics: &mut Diagnostics,
) {
    let entries = Entries::called(attributes, "schema", diagnostics);
    entries.read("schema", keys, options, diagnostics);
}
