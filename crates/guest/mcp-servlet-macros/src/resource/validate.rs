//! Every rule of `#[resource]` and `#[resource_template]`, in one place.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::LitStr;
use syn::ext::IdentExt;

use super::template::{Part, Template, check_scheme, check_text};
use super::{Kind, ResourceOptions};
use crate::diagnostics::Diagnostics;
use crate::docs;
use crate::function::parameters::{arguments, parameters};
use crate::function::{FnHead, ValidParam, check};

/// A function that can be a resource or a resource template.
pub(crate) struct ValidResource<'a> {
    pub(crate) options: &'a ResourceOptions,
    pub(crate) head: &'a FnHead,
    pub(crate) uri: &'a LitStr,
    pub(crate) name: String,
    pub(crate) description: TokenStream,
    pub(crate) output: TokenStream,
    pub(crate) parameters: Vec<ValidParam<'a>>,
    /// `None` for `#[resource]`.
    pub(crate) template: Option<Template>,
}

/// The checked resource, or `None` if the function cannot be expanded.
pub(crate) fn validate<'a>(
    kind: Kind,
    head: &'a FnHead,
    options: &'a ResourceOptions,
    diagnostics: &mut Diagnostics,
) -> Option<ValidResource<'a>> {
    let attribute = kind.attribute();
    check::check_signature(attribute, head, diagnostics);
    let parameters = parameters(attribute, head, false, diagnostics);
    check::no_whole(attribute, &parameters, head, diagnostics);
    if !options.has_uri {
        let (name, key) = (&head.name, kind.address());
        diagnostics.error(
            name,
            format!("missing option `{key}` in `#[{attribute}]`\nhelp: write `#[{attribute}({key} = \"…\")]`"),
        );
    }
    let template = match kind {
        Kind::Fixed => {
            check_fixed(&parameters, head, options.uri.as_ref(), diagnostics);
            None
        }
        Kind::Template => template(&parameters, options.uri.as_ref(), diagnostics),
    };
    check_ui(options, diagnostics);
    let name = match &options.name {
        Some(name) => name.value(),
        None => head.name.unraw().to_string(),
    };
    Some(ValidResource {
        options,
        head,
        uri: options.uri.as_ref()?,
        name,
        description: match &options.description {
            Some(description) => description.clone(),
            None => docs::description(&head.attributes),
        },
        output: check::output(attribute, &head.output, diagnostics)?,
        parameters,
        template,
    })
}

fn check_fixed(
    parameters: &[ValidParam<'_>],
    head: &FnHead,
    uri: Option<&LitStr>,
    diagnostics: &mut Diagnostics,
) {
    for argument in arguments(parameters) {
        let (name, ident) = (&head.name, argument.ident);
        diagnostics.error(
            ident,
            format!("resource `{name}` has a fixed URI, which has no variable `{ident}`\nhelp: use `#[resource_template(uri_template = \"…/{{{ident}}}\")]`"),
        );
    }
    let Some(uri) = uri else { return };
    let text = uri.value();
    let outcome = if text.contains(['{', '}']) {
        Err(
            "a fixed URI cannot have variables\nhelp: use `#[resource_template(uri_template = \"…\")]`"
                .to_owned(),
        )
    } else {
        check_text(&text).and_then(|()| check_scheme(Some(&Part::Text(text))))
    };
    if let Err(problem) = outcome {
        diagnostics.error(uri, problem);
    }
}

/// Clients load user interfaces only from `ui://` URIs.
fn check_ui(options: &ResourceOptions, diagnostics: &mut Diagnostics) {
    let Some(uri) = &options.uri else { return };
    if options.presentation.has_ui() && !uri.value().starts_with("ui://") {
        diagnostics.error(uri, "the URI of a user interface begins with `ui://`");
    }
}

fn template(
    parameters: &[ValidParam<'_>],
    uri: Option<&LitStr>,
    diagnostics: &mut Diagnostics,
) -> Option<Template> {
    let uri = uri?;
    let template = match Template::parse(&uri.value()) {
        Ok(template) => template,
        Err(problem) => {
            diagnostics.error(uri, problem);
            return None;
        }
    };
    for variable in template.variables() {
        if !arguments(parameters).any(|argument| argument.name == *variable) {
            diagnostics.error(
                uri,
                format!("no parameter takes the variable `{variable}`\nhelp: add a parameter `{variable}: String`"),
            );
        }
    }
    for argument in arguments(parameters) {
        let name = &argument.name;
        if !template.variables().any(|variable| variable == name) {
            let at: &dyn ToTokens = match &argument.options.rename {
                Some(rename) => rename,
                None => argument.ident,
            };
            diagnostics.error(
                at,
                format!("the template has no variable `{name}`\nhelp: add `{{{name}}}` to it, or remove the parameter"),
            );
        }
    }
    Some(template)
}
