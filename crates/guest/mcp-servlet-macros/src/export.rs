//! `export!`: parse the declaration and its sections, and expand them to a static and the wasm exports.
//!
//! The macro of this name in `mcp-servlet` passes `($crate)` and what the author wrote.

mod emit;
#[cfg(test)]
mod tests;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Member, Path, Token, Type, Visibility, bracketed, token};

pub(crate) use self::emit::marker;
use crate::attributes::suggestion;
use crate::diagnostics::Diagnostics;

/// The static and the wasm exports; sections with errors are left out, so that they cause no further ones.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let declaration = match syn::parse2::<Declaration>(input) {
        Ok(declaration) => declaration,
        Err(error) => return error.into_compile_error(),
    };
    let mut diagnostics = Diagnostics::default();
    let tokens = declaration.sections.clone();
    let parse = |input: ParseStream<'_>| Ok(Sections::parse(input, &mut diagnostics));
    let sections = parse.parse2(tokens).unwrap_or_default();
    let servlet = emit::servlet(&declaration, &sections);
    let errors = diagnostics.into_tokens();
    quote!(#servlet #errors)
}

/// `#[…] pub static NAME = { … }`
struct Declaration {
    /// The path of `mcp_servlet`.
    krate: TokenStream,
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    /// The tokens between the braces.
    sections: TokenStream,
}

impl Parse for Declaration {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let krate;
        syn::parenthesized!(krate in input);
        let krate = krate.parse()?;
        Self::after_crate(krate, input).map_err(|error| {
            let message = "`export!` takes one declaration\nhelp: write `export!(static SERVLET = { tools: [greet] });`";
            syn::Error::new(error.span(), message)
        })
    }
}

impl Declaration {
    fn after_crate(krate: TokenStream, input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        input.parse::<Token![static]>()?;
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        let sections;
        syn::braced!(sections in input);
        let sections = sections.parse()?;
        input.parse::<Option<Token![;]>>()?;
        if !input.is_empty() {
            return Err(input.error("one declaration"));
        }
        Ok(Self {
            krate,
            attributes,
            visibility,
            name,
            sections,
        })
    }
}

/// What the sections contain. One that is missing or has an error is empty.
#[derive(Default)]
struct Sections {
    name: Option<Expr>,
    version: Option<Expr>,
    instructions: Option<Expr>,
    tools: Vec<Function>,
    resources: Vec<Function>,
    prompts: Vec<Function>,
    completions: Vec<Function>,
    errors: Vec<Function>,
    config: Option<Type>,
    hosts: Vec<Host>,
    paths: Vec<Expr>,
    calls: Vec<Expr>,
    reads: Vec<Expr>,
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

/// The path of a function, with its `#[cfg]`s.
struct Function {
    attributes: Vec<Attribute>,
    path: Path,
}

impl Function {
    /// The function's name.
    fn span(&self) -> Span {
        let name = self.path.segments.last();
        name.map_or_else(Span::call_site, |last| last.ident.span())
    }
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self {
            attributes: input.call(Attribute::parse_outer)?,
            path: input.call(Path::parse_mod_style)?,
        })
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.path.to_tokens(tokens);
    }
}

/// An entry of `hosts`.
enum Host {
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
    fn parse(input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> Self {
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
