//! The options of `#[arg(…)]`, and literals as JSON.

use proc_macro2::{Literal, TokenStream};
use quote::ToTokens;
use syn::{Attribute, LitStr};

use super::default::ArgDefault;
use super::limits::{Limits, keys_and_limits};
use crate::attributes::{Entries, Entry, Key, key};
use crate::diagnostics::Diagnostics;

/// `#[arg(…)]` on one parameter.
#[derive(Default)]
pub(crate) struct ArgOptions {
    pub(crate) rename: Option<LitStr>,
    /// Used instead of the doc comment.
    pub(crate) description: Option<TokenStream>,
    pub(crate) default: Option<ArgDefault>,
    pub(crate) flatten: Option<syn::Ident>,
    /// The schema comes from `schemars::JsonSchema`.
    pub(crate) schemars: Option<syn::Ident>,
    pub(crate) example: Option<TokenStream>,
    pub(crate) limits: Limits,
    /// Whether there is any entry.
    pub(crate) any: bool,
}

/// The options of `#[arg]`.
pub(crate) const KEYS: &[Key<ArgOptions>] = keys_and_limits![
    Key::new("default", |options, entry, diagnostics| {
        let value = entry.value.clone();
        if let Some(Ok(text)) = value.clone().map(syn::parse2::<LitStr>) {
            not_a_str(&text, diagnostics);
        }
        let default = value.map_or(ArgDefault::OfType, ArgDefault::Value);
        options.set_default(entry, default, diagnostics);
    }),
    Key::new("default_str", |options, entry, diagnostics| {
        if let Some(text) = entry.string(diagnostics) {
            options.set_default(entry, ArgDefault::Str(text), diagnostics);
        }
    }),
    key!(rename: string),
    key!(description: expression),
    Key::new("flatten", |options, entry, diagnostics| {
        options.flatten = Some(bare(entry, diagnostics));
    }),
    Key::new("schemars", |options, entry, diagnostics| {
        options.schemars = Some(bare(entry, diagnostics));
    }),
    key!(example: expression),
];

/// Reports a string as the value of `default`: no argument has the type `&str`.
fn not_a_str(text: &LitStr, diagnostics: &mut Diagnostics) {
    let fixed = text.to_token_stream();
    let message = format!(
        "`default` takes a value of the argument's type\nhelp: write `default_str = {fixed}`, which is read like an argument"
    );
    diagnostics.error(text, message);
}

/// The key of an entry that has no value.
fn bare(entry: &Entry, diagnostics: &mut Diagnostics) -> syn::Ident {
    entry.bare(diagnostics);
    entry.key.clone()
}

impl ArgOptions {
    pub(crate) fn parse(attributes: &[Attribute], diagnostics: &mut Diagnostics) -> Self {
        let mut options = Self::default();
        let entries = Entries::called(attributes, "arg", diagnostics);
        options.any = !entries.0.is_empty();
        entries.read("arg", KEYS, &mut options, diagnostics);
        options
    }

    fn set_default(&mut self, entry: &Entry, default: ArgDefault, diagnostics: &mut Diagnostics) {
        // Two of the same key are reported as duplicates.
        let is_str = matches!(default, ArgDefault::Str(_));
        let earlier = self.default.replace(default);
        if earlier.is_some_and(|earlier| matches!(earlier, ArgDefault::Str(_)) != is_str) {
            let message =
                "`default` and `default_str` cannot be combined\nhelp: remove one of them";
            diagnostics.error(&entry.key, message);
        }
    }
}

/// The JSON of a literal in the source, if JSON has such literals.
pub(crate) fn json_literal(value: &TokenStream) -> Option<String> {
    let (sign, literal) = match syn::parse2::<SignedLiteral>(value.clone()).ok()? {
        SignedLiteral {
            minus: true,
            literal,
        } => ("-", literal),
        SignedLiteral {
            minus: false,
            literal,
        } => ("", literal),
    };
    match literal {
        syn::Lit::Str(text) if sign.is_empty() => Some(json_string(&text.value())),
        syn::Lit::Char(text) if sign.is_empty() => Some(json_string(&text.value().to_string())),
        syn::Lit::Bool(value) if sign.is_empty() => Some(value.value.to_string()),
        syn::Lit::Int(number) => Some(format!("{sign}{}", number.base10_digits())),
        syn::Lit::Float(number) => Some(format!("{sign}{}", json_float(number.base10_digits()))),
        _ => None,
    }
}

/// `1.` is a float in Rust but not in JSON.
fn json_float(digits: &str) -> String {
    match digits.strip_suffix('.') {
        Some(whole) => format!("{whole}.0"),
        None => digits.to_owned(),
    }
}

struct SignedLiteral {
    minus: bool,
    literal: syn::Lit,
}

impl syn::parse::Parse for SignedLiteral {
    fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<Self> {
        let minus = input.parse::<Option<syn::Token![-]>>()?.is_some();
        Ok(Self {
            minus,
            literal: input.parse()?,
        })
    }
}

/// Text as a JSON string.
pub(crate) fn json_string(text: &str) -> String {
    let mut json = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            '\0'..='\x1f' => json.extend(["\\u00", &format!("{:02x}", u32::from(character))]),
            _ => json.push(character),
        }
    }
    json.push('"');
    json
}

/// A string literal with this JSON.
pub(crate) fn json_token(json: Option<String>) -> Literal {
    Literal::string(&json.unwrap_or_default())
}
