//! The syntax of our attributes' options: `key` and `key = value`, separated by commas.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{
    AngleBracketedGenericArguments, Attribute, Ident, LitBool, LitInt, LitStr, Meta, Path, Token,
};

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

    /// The value as a path.
    pub(crate) fn path(&self, diagnostics: &mut Diagnostics) -> Option<Path> {
        let path = self.expression(diagnostics).map(syn::parse2::<Path>)?;
        diagnostics.ok(path)
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

    /// Reports a value if there is one: the key takes none.
    pub(crate) fn bare(&self, diagnostics: &mut Diagnostics) {
        if let Some(value) = &self.value {
            diagnostics.error(value, format!("`{}` takes no value", self.key));
        }
    }
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = input.call(Ident::parse_any).map_err(|error| {
            let message = "expected `key` or `key = value`";
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

/// One option of an attribute: its name, and the function that reads it into `T`, the attribute's options.
pub(crate) struct Key<T> {
    pub(crate) name: &'static str,
    read: fn(&mut T, &Entry, &mut Diagnostics),
    pub(crate) is_listed: bool,
}

impl<T> Clone for Key<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Key<T> {}

impl<T> Key<T> {
    /// An option.
    pub(crate) const fn new(
        name: &'static str,
        read: fn(&mut T, &Entry, &mut Diagnostics),
    ) -> Self {
        Self {
            name,
            read,
            is_listed: true,
        }
    }

    /// A key that the attribute rejects; `read` reports the option to use instead.
    pub(crate) const fn refused(
        name: &'static str,
        read: fn(&mut T, &Entry, &mut Diagnostics),
    ) -> Self {
        Self {
            is_listed: false,
            ..Self::new(name, read)
        }
    }
}

/// The option with the name of a field: `key!(title: expression)` reads `title` with `Entry::expression`,
/// `key!(presentation.icons)` reads `icons` with `Presentation::icons`, and `key!(crate)` sets the `CratePath`.
macro_rules! key {
    (crate) => {
        $crate::attributes::Key::new("crate", |options, entry, diagnostics| {
            options.krate.set(entry, diagnostics);
        })
    };
    (presentation.$name:ident) => {
        $crate::attributes::Key::new(stringify!($name), |options, entry, diagnostics| {
            options.presentation.$name(entry, diagnostics);
        })
    };
    ($name:ident: $read:ident) => {
        $crate::attributes::Key::new(stringify!($name), |options, entry, diagnostics| {
            options.$name = entry.$read(diagnostics);
        })
    };
}
pub(crate) use key;

impl Entries {
    /// The entries of an attribute with these arguments; `None` if they do not parse.
    pub(crate) fn parse_arguments(
        arguments: TokenStream,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        diagnostics.ok(syn::parse2(arguments))
    }

    /// The entries of all attributes called `name`.
    pub(crate) fn called(
        attributes: &[Attribute],
        name: &str,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        Self(
            attributes
                .iter()
                .filter(|one| one.path().is_ident(name))
                .filter_map(|one| diagnostics.ok(Self::in_list(one)))
                .flat_map(|entries| entries.0)
                .collect(),
        )
    }

    fn in_list(attribute: &Attribute) -> syn::Result<Self> {
        let Meta::List(list) = &attribute.meta else {
            let name = attribute.path().to_token_stream();
            let message =
                format!("missing options in `#[{name}]`\nhelp: write `#[{name}(…)]`, or remove it");
            return Err(syn::Error::new_spanned(attribute, message));
        };
        list.parse_args()
    }

    /// Reads each entry by its key, and reports keys that are repeated or unknown to the attribute.
    pub(crate) fn read<T>(
        &self,
        attribute: &str,
        keys: &[Key<T>],
        options: &mut T,
        diagnostics: &mut Diagnostics,
    ) {
        self.check_unique(diagnostics);
        for entry in &self.0 {
            match keys.iter().find(|key| entry.key == key.name) {
                Some(key) => (key.read)(options, entry, diagnostics),
                None => unknown_key(attribute, &entry.key, keys, diagnostics),
            }
        }
    }

    /// Reports duplicate keys.
    fn check_unique(&self, diagnostics: &mut Diagnostics) {
        for (index, entry) in self.0.iter().enumerate() {
            let mut earlier = self.0[..index].iter();
            if earlier.any(|earlier| earlier.key == entry.key) {
                let key = &entry.key;
                diagnostics.error(
                    key,
                    format!("duplicate option `{key}`\nhelp: keep one of them"),
                );
            }
        }
    }
}

/// Reports a key that is not an option of the attribute.
fn unknown_key<T>(attribute: &str, key: &Ident, keys: &[Key<T>], diagnostics: &mut Diagnostics) {
    let name = key.to_string();
    let listed = keys.iter().filter(|key| key.is_listed);
    let known: Vec<_> = listed.map(|key| key.name).collect();
    let help = suggestion(&name, &known).unwrap_or_else(|| {
        if known.is_empty() {
            "remove it: there are no options here".to_owned()
        } else {
            format!("the options are `{}`", known.join("`, `"))
        }
    });
    diagnostics.error(
        key,
        format!("unknown option `{name}` in `#[{attribute}]`\nhelp: {help}"),
    );
}

/// The path of `mcp_servlet`. Every attribute has an option `crate` that sets it.
pub(crate) struct CratePath(TokenStream);

impl Default for CratePath {
    fn default() -> Self {
        Self(quote!(::mcp_servlet))
    }
}

impl CratePath {
    /// Takes the path of an entry.
    pub(crate) fn set(&mut self, entry: &Entry, diagnostics: &mut Diagnostics) {
        if let Some(path) = entry.path(diagnostics) {
            self.0 = path.into_token_stream();
        }
    }

    /// The path of `mcp_servlet::__private`.
    pub(crate) fn private(&self) -> TokenStream {
        let Self(path) = self;
        quote!(#path::__private)
    }
}

/// The question whether the author meant a known name that is nearly the same.
pub(crate) fn suggestion(name: &str, known: &[&str]) -> Option<String> {
    let near = known.iter().find(|known| is_near(known, name))?;
    Some(format!("did you mean `{near}`?"))
}

/// Whether the names differ by one typo: an extra, a missing or a wrong letter.
fn is_near(one: &str, other: &str) -> bool {
    let (one, other): (Vec<_>, Vec<_>) = (one.chars().collect(), other.chars().collect());
    let start = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let rest = one[start..].iter().rev().zip(other[start..].iter().rev());
    let end = rest.take_while(|(a, b)| a == b).count();
    one.len().max(other.len()) - start - end <= 1
}
