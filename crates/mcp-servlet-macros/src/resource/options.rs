//! What `#[resource(…)]` and `#[resource_template(…)]` say.

use proc_macro2::TokenStream;
use quote::quote;
use syn::LitStr;

use super::Kind;
use crate::attributes::{Entries, Entry, unknown_key};
use crate::diagnostics::Diagnostics;
use crate::function::json_literal;
use crate::presentation::{Bearer, Presentation};

/// The options of either attribute.
pub(crate) struct ResourceOptions {
    /// The address, or the template of addresses.
    pub(crate) uri: Option<LitStr>,
    /// Whether an address was given, right or wrong.
    pub(crate) has_uri: bool,
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<TokenStream>,
    pub(crate) description: Option<TokenStream>,
    pub(crate) mime_type: Option<TokenStream>,
    pub(crate) size: Option<TokenStream>,
    pub(crate) audience: Option<LitStr>,
    /// A JSON number.
    pub(crate) priority: Option<String>,
    pub(crate) last_modified: Option<LitStr>,
    pub(crate) presentation: Presentation,
    /// The path of `mcp_servlet`.
    pub(crate) krate: TokenStream,
}

const KEYS: &[&str] = &[
    "name",
    "title",
    "description",
    "mime_type",
    "size",
    "audience",
    "priority",
    "last_modified",
    "icons",
    "meta",
    "ui",
    "crate",
];

impl ResourceOptions {
    pub(crate) fn parse(kind: Kind, attribute: TokenStream, diagnostics: &mut Diagnostics) -> Self {
        let mut options = Self {
            uri: None,
            has_uri: false,
            name: None,
            title: None,
            description: None,
            mime_type: None,
            size: None,
            audience: None,
            priority: None,
            last_modified: None,
            presentation: Presentation::default(),
            krate: quote!(::mcp_servlet),
        };
        let Some(entries) = diagnostics.ok(syn::parse2::<Entries>(attribute)) else {
            options.has_uri = true;
            return options;
        };
        entries.check_unique(diagnostics);
        for entry in &entries.0 {
            options.take(kind, entry, diagnostics);
        }
        options
    }

    fn take(&mut self, kind: Kind, entry: &Entry, diagnostics: &mut Diagnostics) {
        if (self.presentation).take(entry, Bearer::Resource, diagnostics) {
            return;
        }
        match entry.key.to_string().as_str() {
            key if key == kind.address() => {
                self.has_uri = true;
                self.uri = entry.string(diagnostics);
            }
            "name" => self.name = entry.string(diagnostics),
            "title" => self.title = entry.expression(diagnostics),
            "description" => self.description = entry.expression(diagnostics),
            "mime_type" => self.mime_type = mime_type(entry, diagnostics),
            "size" if kind == Kind::Fixed => self.size = entry.expression(diagnostics),
            "audience" => self.audience = audience(entry, diagnostics),
            "priority" => self.priority = priority(entry, diagnostics),
            "last_modified" => self.last_modified = last_modified(entry, diagnostics),
            "crate" => entry.path(&mut self.krate, diagnostics),
            "uri_template" => {
                // It is the address, so that no other error says that there is none.
                self.has_uri = true;
                let message = "an address with variables is a family of resources\nhelp: write `#[resource_template(uri_template = \"…\")]`";
                diagnostics.error(&entry.key, message);
            }
            _ => {
                let mut known = vec![kind.address()];
                known.extend(
                    KEYS.iter()
                        .filter(|key| kind == Kind::Fixed || **key != "size"),
                );
                unknown_key(diagnostics, kind.attribute(), &entry.key, &known);
            }
        }
    }
}

/// A media type, as far as it is a literal: clients choose by it how to show the contents.
fn mime_type(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<TokenStream> {
    let value = entry.expression(diagnostics)?;
    if let Ok(literal) = syn::parse2::<LitStr>(value.clone()) {
        let text = literal.value();
        let parts = text.split_once('/').unwrap_or_default();
        if parts.0.is_empty() || parts.1.is_empty() {
            let message = format!(
                "`{text}` is no media type\nhelp: write it as `type/subtype`, such as `text/plain`"
            );
            diagnostics.error(&literal, message);
        }
    }
    Some(value)
}

fn audience(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<LitStr> {
    let audience = entry.string(diagnostics)?;
    if !["user", "assistant"].contains(&&*audience.value()) {
        diagnostics.error(
            &audience,
            "the audience is `user` or `assistant`\nhelp: leave it out for both",
        );
    }
    Some(audience)
}

fn priority(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<String> {
    let value = entry.expression(diagnostics)?;
    let json = json_literal(&value);
    let number = json.as_ref().and_then(|json| json.parse::<f64>().ok());
    if !number.is_some_and(|number| (0.0..=1.0).contains(&number)) {
        diagnostics.error(&value, "`priority` is a number from 0 to 1");
    }
    json
}

fn last_modified(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<LitStr> {
    let time = entry.string(diagnostics)?;
    if !is_time(time.value().as_bytes()) {
        diagnostics.error(
            &time,
            "`last_modified` is a time as in RFC 3339\nhelp: write `2026-01-31T12:00:00Z`",
        );
    }
    Some(time)
}

/// Whether the text has the shape of RFC 3339: `2026-01-31T12:00:00`, perhaps a fraction, and a zone.
fn is_time(text: &[u8]) -> bool {
    let has_shape = |text: &[u8], shape: &[u8]| {
        text.len() == shape.len()
            && text.iter().zip(shape).all(|(byte, shape)| match shape {
                b'0' => byte.is_ascii_digit(),
                _ => byte == shape,
            })
    };
    let Some((start, mut zone)) = text.split_at_checked(19) else {
        return false;
    };
    if let [b'.', fraction @ ..] = zone {
        let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit());
        zone = &fraction[digits.count()..];
    }
    has_shape(start, b"0000-00-00T00:00:00")
        && (zone == b"Z" || has_shape(zone, b"+00:00") || has_shape(zone, b"-00:00"))
}
