//! The little language inside our attributes: `key` and `key = value`, separated by commas.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{AngleBracketedGenericArguments, Ident, LitBool, LitInt, LitStr, Path, Token};

use crate::diagnostics::Diagnostics;

/// One `key` or `key = value`.
pub(crate) struct Entry {
    pub(crate) key: Ident,
    /// The tokens up to the next comma.
    pub(crate) value: Option<TokenStream>,
}

impl Entry {
    /// The value as a string literal.
    pub(crate) fn string(&self, diagnostics: &mut Diagnostics) -> Option<LitStr> {
        let parsed = self.value.clone().map(syn::parse2::<LitStr>);
        if let Some(Ok(literal)) = parsed {
            return Some(literal);
        }
        let key = &self.key;
        diagnostics.error(
            key,
            format!("`{key}` takes a string\nhelp: write `{key} = \"…\"`"),
        );
        None
    }

    /// The value as an expression, for the compiler to check.
    pub(crate) fn expression(&self, diagnostics: &mut Diagnostics) -> Option<TokenStream> {
        if self.value.is_none() {
            let key = &self.key;
            diagnostics.error(
                key,
                format!("`{key}` takes a value\nhelp: write `{key} = …`"),
            );
        }
        self.value.clone()
    }

    /// The value as a path, which replaces the one that is there.
    pub(crate) fn path(&self, place: &mut TokenStream, diagnostics: &mut Diagnostics) {
        let path = self.expression(diagnostics).map(syn::parse2::<Path>);
        if let Some(path) = path.and_then(|path| diagnostics.ok(path)) {
            *place = path.into_token_stream();
        }
    }

    /// True for `key` alone and `key = true`.
    pub(crate) fn flag(&self, diagnostics: &mut Diagnostics) -> Option<bool> {
        let Some(value) = &self.value else {
            return Some(true);
        };
        if let Ok(literal) = syn::parse2::<LitBool>(value.clone()) {
            return Some(literal.value);
        }
        let key = &self.key;
        diagnostics.error(
            value,
            format!("`{key}` is true or false\nhelp: write `{key}` or `{key} = false`"),
        );
        None
    }

    /// The value as a number of at least 1.
    pub(crate) fn count(&self, diagnostics: &mut Diagnostics) -> Option<LitInt> {
        let parsed = self.value.clone().map(syn::parse2::<LitInt>);
        if let Some(Ok(literal)) = parsed {
            if literal.base10_parse().is_ok_and(|count: u32| count > 0) {
                return Some(literal);
            }
        }
        let key = &self.key;
        diagnostics.error(
            key,
            format!("`{key}` takes a number of at least 1\nhelp: write `{key} = 5000`"),
        );
        None
    }

    /// Reports a value where none belongs.
    pub(crate) fn bare(&self, diagnostics: &mut Diagnostics) {
        if let Some(value) = &self.value {
            diagnostics.error(value, format!("`{}` takes no value", self.key));
        }
    }
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = input.call(Ident::parse_any).map_err(|error| {
            let message = "an option begins with its name\nhelp: write `key` or `key = value`";
            syn::Error::new(error.span(), message)
        })?;
        if input.parse::<Option<Token![=]>>()?.is_none() {
            return Ok(Self { key, value: None });
        }
        let mut value = TokenStream::new();
        while !input.is_empty() && !input.peek(Token![,]) {
            if input.peek(Token![::]) && input.peek3(Token![<]) {
                value.extend(turbofish(input)?);
            } else {
                value.extend([input.parse::<TokenTree>()?]);
            }
        }
        if value.is_empty() {
            return Err(syn::Error::new_spanned(
                &key,
                format!("`{key} =` has no value"),
            ));
        }
        Ok(Self {
            key,
            value: Some(value),
        })
    }
}

/// `::<…>`, whose commas do not end the value.
fn turbofish(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut tokens = input.parse::<Token![::]>()?.into_token_stream();
    input
        .parse::<AngleBracketedGenericArguments>()?
        .to_tokens(&mut tokens);
    Ok(tokens)
}

/// All entries of one attribute.
pub(crate) struct Entries(pub(crate) Vec<Entry>);

impl Parse for Entries {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let entries = input.parse_terminated(Entry::parse, Token![,])?;
        Ok(Self(entries.into_iter().collect()))
    }
}

impl Entries {
    /// Reports keys that stand twice.
    pub(crate) fn check_unique(&self, diagnostics: &mut Diagnostics) {
        for (index, entry) in self.0.iter().enumerate() {
            if self.0[..index]
                .iter()
                .any(|earlier| earlier.key == entry.key)
            {
                let key = &entry.key;
                diagnostics.error(key, format!("`{key}` stands twice\nhelp: keep one of them"));
            }
        }
    }
}

/// Reports a key that the attribute does not know.
pub(crate) fn unknown_key(
    diagnostics: &mut Diagnostics,
    attribute: &str,
    key: &Ident,
    known: &[&str],
) {
    let name = key.to_string();
    let list = known
        .iter()
        .map(|known| format!("`{known}`"))
        .collect::<Vec<_>>()
        .join(", ");
    let help = match known.iter().find(|known| is_near(known, &name)) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "remove it: it has no options here".to_owned(),
        None => format!("known are {list}"),
    };
    diagnostics.error(
        key,
        format!("`#[{attribute}]` knows no `{name}`\nhelp: {help}"),
    );
}

/// Whether one name is the other with one slip: a letter too many, too few, or wrong.
fn is_near(one: &str, other: &str) -> bool {
    let (one, other): (Vec<_>, Vec<_>) = (one.chars().collect(), other.chars().collect());
    let start = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let rest = one[start..].iter().rev().zip(other[start..].iter().rev());
    let end = rest.take_while(|(a, b)| a == b).count();
    one.len().max(other.len()) - start - end <= 1
}
