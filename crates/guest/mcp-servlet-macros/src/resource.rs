//! `#[resource]` and `#[resource_template]`: parse, check, expand.

mod emit;
mod template;
#[cfg(test)]
mod tests;
mod validate;

use proc_macro2::TokenStream;
use syn::{LitStr, Path};

use self::validate::ValidResource;
use crate::attributes::{CratePath, Entry, Key, key};
use crate::diagnostics::Diagnostics;
use crate::function::attribute::FunctionAttribute;
use crate::function::{FnHead, json_literal};
use crate::presentation::Presentation;

/// One of the two attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `#[resource]`: a fixed URI.
    Fixed,
    /// `#[resource_template]`: a URI template.
    Template,
}

impl Kind {
    /// The name of the attribute.
    fn attribute(self) -> &'static str {
        match self {
            Self::Fixed => "resource",
            Self::Template => "resource_template",
        }
    }

    /// The name of the option that takes the URI.
    fn address(self) -> &'static str {
        match self {
            Self::Fixed => "uri",
            Self::Template => "uri_template",
        }
    }
}

/// The options of either attribute.
#[derive(Default)]
pub(crate) struct ResourceOptions {
    /// The URI or the URI template.
    uri: Option<LitStr>,
    /// Whether the attribute has a URI, valid or not.
    has_uri: bool,
    name: Option<LitStr>,
    title: Option<TokenStream>,
    description: Option<TokenStream>,
    mime_type: Option<TokenStream>,
    size: Option<TokenStream>,
    audience: Option<LitStr>,
    /// A JSON number.
    priority: Option<String>,
    last_modified: Option<LitStr>,
    presentation: Presentation,
    /// The function that lists the resources of a template.
    list: Option<Path>,
    krate: CratePath,
}

/// The options of either attribute.
fn keys(kind: Kind) -> Vec<Key<ResourceOptions>> {
    let address = Key::new(
        kind.address(),
        |options: &mut ResourceOptions, entry, diagnostics| {
            options.has_uri = true;
            options.uri = entry.string(diagnostics);
        },
    );
    let mut keys = vec![address];
    keys.extend(FIRST_KEYS);
    match kind {
        Kind::Fixed => keys.extend(KEYS_OF_FIXED),
        Kind::Template => keys.push(LIST),
    }
    keys.extend(LAST_KEYS);
    keys
}

const FIRST_KEYS: [Key<ResourceOptions>; 4] = [
    key!(name: string),
    key!(title: expression),
    key!(description: expression),
    Key::new("mime_type", |options, entry, diagnostics| {
        options.mime_type = mime_type(entry, diagnostics);
    }),
];

const KEYS_OF_FIXED: [Key<ResourceOptions>; 3] = [
    key!(size: expression),
    Key::refused("list", |_, entry, diagnostics| {
        let message = "a resource with a fixed URI is always listed\nhelp: remove `list`, or use `#[resource_template]`";
        diagnostics.error(&entry.key, message);
    }),
    Key::refused("uri_template", |options, entry, diagnostics| {
        // Count it as the URI. Otherwise a second error would say that the URI is missing.
        options.has_uri = true;
        let message = "a fixed URI cannot have variables\nhelp: write `#[resource_template(uri_template = \"…\")]`";
        diagnostics.error(&entry.key, message);
    }),
];

const LIST: Key<ResourceOptions> = key!(list: path);

const LAST_KEYS: [Key<ResourceOptions>; 7] = [
    Key::new("audience", |options, entry, diagnostics| {
        options.audience = audience(entry, diagnostics);
    }),
    Key::new("priority", |options, entry, diagnostics| {
        options.priority = priority(entry, diagnostics);
    }),
    Key::new("last_modified", |options, entry, diagnostics| {
        options.last_modified = last_modified(entry, diagnostics);
    }),
    key!(presentation.icons),
    key!(presentation.meta),
    Key::new("ui", |options, entry, diagnostics| {
        options.presentation.page_ui(entry, diagnostics);
    }),
    key!(crate),
];

impl FunctionAttribute for Kind {
    type Options = ResourceOptions;
    type Valid<'a> = ValidResource<'a>;

    fn name(&self) -> &'static str {
        self.attribute()
    }

    fn keys(&self) -> Vec<Key<ResourceOptions>> {
        keys(*self)
    }

    /// Pretends that there is a URI, so that no second error says that it is missing.
    fn unknown_options(&self) -> ResourceOptions {
        ResourceOptions {
            has_uri: true,
            ..ResourceOptions::default()
        }
    }

    fn validate<'a>(
        &self,
        head: &'a FnHead,
        options: &'a ResourceOptions,
        diagnostics: &mut Diagnostics,
    ) -> Option<ValidResource<'a>> {
        validate::validate(*self, head, options, diagnostics)
    }

    fn emit(&self, resource: &ValidResource<'_>) -> TokenStream {
        emit::resource(resource)
    }

    fn placeholder(&self, head: &FnHead, options: &ResourceOptions) -> TokenStream {
        emit::placeholder(*self, head, &options.krate.private())
    }
}

/// The author's function, followed by the items that make it a resource, or by the errors.
pub(crate) fn expand(kind: Kind, attribute: TokenStream, item: TokenStream) -> TokenStream {
    kind.expand(attribute, item)
}

/// Reads a media type. Only a literal is checked: clients use it to decide how to show the contents.
fn mime_type(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<TokenStream> {
    let value = entry.expression(diagnostics)?;
    if let Ok(literal) = syn::parse2::<LitStr>(value.clone()) {
        let text = literal.value();
        let parts = text.split_once('/').unwrap_or_default();
        if parts.0.is_empty() || parts.1.is_empty() {
            let message = format!(
                "invalid media type `{text}`\nhelp: write it as `type/subtype`, such as `text/plain`"
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

/// Whether the text has the shape of an RFC 3339 time: `2026-01-31T12:00:00`, an optional fraction, and a zone.
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
