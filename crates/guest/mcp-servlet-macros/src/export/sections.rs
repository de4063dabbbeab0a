//! The sections of `export!`.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Member, Token, Type, bracketed, token};

use super::function::Function;
use crate::attributes::suggestion;
use crate::diagnostics::Diagnostics;

/// What the sections contain. One that is missing or has an error is empty.
#[derive(Default)]
pub(super) struct Sections {
    pub(super) name: Option<Expr>,
    pub(super) version: Option<Expr>,
    pub(super) instructions: Option<Expr>,
    pub(super) tools: Vec<Function>,
    pub(super) resources: Vec<Function>,
    pub(super) prompts: Vec<Function>,
    pub(super) completions: Vec<Function>,
    pub(super) errors: Vec<Function>,
    pub(super) config: Option<Type>,
    pub(super) hosts: Vec<Host>,
    pub(super) paths: Vec<Expr>,
    pub(super) calls: Vec<Expr>,
    pub(super) reads: Vec<Expr>,
}

/// A section: its name, and the function that reads what follows the colon.
struct Section {
    name: &'static str,
    read: fn(&mut Sections, &Ident, ParseStream<'_>) -> syn::Result<()>,
}

/// A row of [`SECTIONS`]: a field of [`Sections`], and the form of its value.
macro_rules! section {
    ($name:ident: value) => {
        Section {
            name: stringify!($name),
            read: |sections, _, input| {
                sections.$name = Some(input.parse()?);
                Ok(())
            },
        }
    };
    ($name:ident: list) => {
        Section {
            name: stringify!($name),
            read: |sections, key, input| {
                sections.$name = list(key, input)?;
                Ok(())
            },
        }
    };
}

const SECTIONS: &[Section] = &[
    section!(name: value),
    section!(version: value),
    section!(instructions: value),
    section!(tools: list),
    section!(resources: list),
    section!(prompts: list),
    section!(completions: list),
    section!(errors: list),
    section!(config: value),
    section!(hosts: list),
    section!(paths: list),
    section!(calls: list),
    section!(reads: list),
];

/// An entry of `hosts`.
pub(super) enum Host {
    /// A string.
    Fixed(Expr),
    /// `config.KEY`: the host of a configuration value.
    OfConfig(Ident),
}

impl Parse for Host {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let host: Expr = input.parse()?;
        if let Expr::Field(field) = &host {
            if let (Expr::Path(base), Member::Named(key)) = (&*field.base, &field.member) {
                if base.path.is_ident("config") {
                    return Ok(Self::OfConfig(key.clone()));
                }
            }
        }
        Ok(Self::Fixed(host))
    }
}

impl Sections {
    /// Reads all sections, and reports each error in them.
    pub(super) fn parse(input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> Self {
        let mut sections = Self::default();
        let mut seen = Vec::new();
        while !input.is_empty() {
            let section = sections.parse_one(input, &mut seen, diagnostics);
            if diagnostics.ok(section).is_none() {
                skip_section(input);
            }
        }
        if !seen.iter().any(|key| key == "config") {
            check_hosts(&sections.hosts, diagnostics);
        }
        sections
    }

    /// Reads one section and the comma after it.
    fn parse_one(
        &mut self,
        input: ParseStream<'_>,
        seen: &mut Vec<Ident>,
        diagnostics: &mut Diagnostics,
    ) -> syn::Result<()> {
        let key = input.call(Ident::parse_any).map_err(|error| {
            syn::Error::new(error.span(), "expected a section, such as `tools: [greet]`")
        })?;
        let section = find(&key)?;
        if !input.peek(Token![:]) || input.peek(Token![::]) {
            let message = format!("missing `:` after `{key}`\nhelp: write `{key}: …`");
            return Err(syn::Error::new_spanned(&key, message));
        }
        input.parse::<Token![:]>()?;
        let is_duplicate = seen.contains(&key);
        seen.push(key.clone());
        if is_duplicate {
            let message = format!("duplicate section `{key}`\nhelp: keep one of them");
            diagnostics.error(&key, message);
            (section.read)(&mut Self::default(), &key, input)?;
        } else {
            (section.read)(self, &key, input)?;
        }
        if input.is_empty() {
            return Ok(());
        }
        input.parse::<Token![,]>().map(|_| ()).map_err(|error| {
            let message = format!(
                "missing `,` after the section `{key}`\nhelp: separate the sections with commas"
            );
            syn::Error::new(error.span(), message)
        })
    }
}

/// The section with this name.
fn find(key: &Ident) -> syn::Result<&'static Section> {
    if let Some(section) = SECTIONS.iter().find(|section| key == section.name) {
        return Ok(section);
    }
    let name = key.to_string();
    let message = if name == "resource_templates" {
        "`export!` has no section for resource templates\nhelp: list them in `resources`".to_owned()
    } else {
        let known: Vec<_> = SECTIONS.iter().map(|section| section.name).collect();
        let help = suggestion(&name, &known)
            .unwrap_or_else(|| format!("the sections are `{}`", known.join("`, `")));
        format!("unknown section `{name}` in `export!`\nhelp: {help}")
    };
    Err(syn::Error::new_spanned(key, message))
}

/// The items of a list in brackets.
fn list<T: Parse>(key: &Ident, input: ParseStream<'_>) -> syn::Result<Vec<T>> {
    if !input.peek(token::Bracket) {
        let value: TokenStream = up_to_comma(input);
        let message = format!(
            "`{key}` in `export!` takes a list\nhelp: put it in brackets: `{key}: [{value}]`"
        );
        let at: &dyn ToTokens = if value.is_empty() { key } else { &value };
        return Err(syn::Error::new_spanned(at, message));
    }
    let items;
    bracketed!(items in input);
    let items = Punctuated::<T, Token![,]>::parse_terminated(&items)?;
    Ok(items.into_iter().collect())
}

/// Skips the rest of a section with an error, and the comma after it.
fn skip_section(input: ParseStream<'_>) {
    up_to_comma(input);
    // Without a comma, the input is at its end.
    let _ = input.parse::<Token![,]>();
}

/// The tokens before the next comma.
fn up_to_comma(input: ParseStream<'_>) -> TokenStream {
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        tokens.extend(input.parse::<TokenTree>());
    }
    tokens
}

/// Reports `config.KEY` in `hosts` of a servlet without configuration.
fn check_hosts(hosts: &[Host], diagnostics: &mut Diagnostics) {
    for host in hosts {
        if let Host::OfConfig(key) = host {
            let message = format!(
                "`config.{key}` in `hosts` is the host of a configuration value\nhelp: add the type of the configuration to `export!`: `config: Type`"
            );
            diagnostics.error(key, message);
        }
    }
}
