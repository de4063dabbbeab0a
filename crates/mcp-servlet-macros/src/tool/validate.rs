//! Every rule of `#[tool]`, in one place.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Ident, ReturnType, Type, Visibility};

use super::head::{FnHead, Param, Pattern, cfgs};
use super::options::{ArgDefault, ArgOptions, ToolOptions, json_literal};
use crate::diagnostics::Diagnostics;
use crate::docs;

/// A function that can be a tool.
pub(crate) struct ValidTool<'a> {
    pub(crate) options: &'a ToolOptions,
    pub(crate) cfgs: Vec<&'a Attribute>,
    pub(crate) visibility: &'a Visibility,
    pub(crate) function: &'a Ident,
    pub(crate) name: String,
    pub(crate) description: TokenStream,
    pub(crate) output: TokenStream,
    pub(crate) parameters: Vec<ValidParam<'a>>,
}

/// A parameter that a call can fill.
pub(crate) enum ValidParam<'a> {
    /// The context, and where its type stands.
    Context(Span),
    /// All arguments at once.
    Whole(&'a Type),
    /// One argument.
    Argument(Box<Argument<'a>>),
}

/// One argument.
pub(crate) struct Argument<'a> {
    pub(crate) ty: &'a Type,
    pub(crate) name: String,
    pub(crate) ident: &'a Ident,
    pub(crate) description: TokenStream,
    pub(crate) options: ArgOptions,
}

/// The checked tool, or `None` if there is nothing to make of it.
pub(crate) fn validate<'a>(
    head: &'a FnHead,
    options: &'a ToolOptions,
    diagnostics: &mut Diagnostics,
) -> Option<ValidTool<'a>> {
    check_qualifiers(head, diagnostics);
    check_marker(&head.name, diagnostics);
    let parameters = parameters(head, options, diagnostics);
    check_contexts(&parameters, head, diagnostics);
    check_names(&parameters, diagnostics);
    check_whole(&parameters, head, options, diagnostics);
    let description = match &options.description {
        Some(description) => description.clone(),
        None => docs::description(&head.attributes),
    };
    Some(ValidTool {
        options,
        cfgs: cfgs(head),
        visibility: &head.visibility,
        function: &head.name,
        name: tool_name(head, options, diagnostics),
        description,
        output: output(&head.output, diagnostics)?,
        parameters,
    })
}

fn check_qualifiers(head: &FnHead, diagnostics: &mut Diagnostics) {
    let name = &head.name;
    for qualifier in &head.qualifiers {
        let help = match qualifier.to_string().as_str() {
            "async" => "a servlet runs one call at a time: remove `async`",
            "unsafe" => "hosts call a tool with any arguments: remove `unsafe`",
            _ => "`export!` makes the wasm exports: remove `extern`",
        };
        diagnostics.error(
            qualifier,
            format!("tool `{name}` cannot be `{qualifier}`\nhelp: {help}"),
        );
    }
    if !head.generics.params.is_empty() {
        diagnostics.error(
            &head.generics,
            format!("tool `{name}` cannot be generic\nhelp: name concrete types"),
        );
    }
}

const PRIMITIVES: &[&str] = &[
    "bool", "char", "str", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64",
    "u128", "usize", "f32", "f64",
];

/// The marker type has the function's name, so it would hide a primitive type.
fn check_marker(name: &Ident, diagnostics: &mut Diagnostics) {
    if PRIMITIVES.contains(&name.to_string().as_str()) {
        diagnostics.error(
            name,
            format!(
                "tool `{name}` would hide the primitive type `{name}`\n\
                 help: rename the function and add `#[tool(name = \"{name}\")]`"
            ),
        );
    }
}

fn tool_name(head: &FnHead, options: &ToolOptions, diagnostics: &mut Diagnostics) -> String {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let Some(literal) = &options.name else {
        let name = head.name.unraw().to_string();
        if !name.chars().all(is_valid) {
            diagnostics.error(
                &head.name,
                format!("`{name}` cannot be the name of a tool\nhelp: add `#[tool(name = \"…\")]` with ASCII letters, digits, `_`, `-` and `.`"),
            );
        }
        return name;
    };
    let name = literal.value();
    if let Some(wrong) = name.chars().find(|c| !is_valid(*c)) {
        diagnostics.error(
            literal,
            format!(
                "a tool name cannot have `{}`\nhelp: take ASCII letters, digits, `_`, `-` and `.`",
                wrong.escape_debug()
            ),
        );
    }
    if name.is_empty() || name.len() > 128 {
        diagnostics.error(
            literal,
            format!(
                "a tool name has 1 to 128 characters, this one {}",
                name.len()
            ),
        );
    }
    name
}

fn output(output: &ReturnType, diagnostics: &mut Diagnostics) -> Option<TokenStream> {
    match output {
        ReturnType::Default => Some(quote!(())),
        ReturnType::Type(_, ty) if matches!(**ty, Type::ImplTrait(_)) => {
            diagnostics.error(ty, "a tool returns a concrete type\nhelp: name the type");
            None
        }
        ReturnType::Type(_, ty) => Some(ty.to_token_stream()),
    }
}

fn parameters<'a>(
    head: &'a FnHead,
    options: &ToolOptions,
    diagnostics: &mut Diagnostics,
) -> Vec<ValidParam<'a>> {
    let params = head.parameters.iter();
    params
        .filter_map(|param| parameter(param, head, options, diagnostics))
        .collect()
}

fn parameter<'a>(
    param: &'a Param,
    head: &FnHead,
    options: &ToolOptions,
    diagnostics: &mut Diagnostics,
) -> Option<ValidParam<'a>> {
    let (ident, ty) = match &param.pattern {
        Pattern::Name(ident, ty) => (ident, ty),
        Pattern::Receiver(receiver) => {
            let name = &head.name;
            diagnostics.error(
                receiver,
                format!("tool `{name}` cannot be a method\nhelp: make it a free function, and keep state in `Context::set_var`"),
            );
            return None;
        }
        Pattern::Other(tokens) => {
            diagnostics.error(
                tokens,
                "an argument needs a name\nhelp: take it apart in the body",
            );
            return None;
        }
    };
    check_attributes(&param.attributes, diagnostics);
    let arg = ArgOptions::parse(&param.attributes, diagnostics);
    match &**ty {
        Type::Reference(reference) => {
            check_context(reference, ident, &arg, diagnostics);
            Some(ValidParam::Context(reference.and_token.span))
        }
        _ if ident == "_" => {
            diagnostics.error(
                ident,
                "an argument needs a name\nhelp: give it one, or remove it",
            );
            None
        }
        Type::ImplTrait(_) => {
            diagnostics.error(
                ty,
                format!("argument `{ident}` needs a concrete type\nhelp: name the type"),
            );
            None
        }
        _ if arg.flatten.is_some() || options.input_schema.is_some() => {
            check_flatten(&arg, diagnostics);
            Some(ValidParam::Whole(ty))
        }
        _ => Some(ValidParam::Argument(Box::new(argument(
            param,
            ident,
            ty,
            arg,
            diagnostics,
        )))),
    }
}

fn argument<'a>(
    param: &Param,
    ident: &'a Ident,
    ty: &'a Type,
    options: ArgOptions,
    diagnostics: &mut Diagnostics,
) -> Argument<'a> {
    for (key, bound) in [("min", &options.min), ("max", &options.max)] {
        if let Some(bound) = bound {
            check_literal(key, "a number", bound, is_number, diagnostics);
        }
    }
    if let Some(example) = &options.example {
        check_literal("example", "a literal", example, |_| true, diagnostics);
    }
    check_bounds(&options, diagnostics);
    let name = match &options.rename {
        Some(rename) => {
            if rename.value().is_empty() {
                diagnostics.error(rename, "the name of an argument cannot be empty");
            }
            rename.value()
        }
        None => ident.unraw().to_string(),
    };
    Argument {
        ty,
        name,
        ident,
        description: docs::description(&param.attributes),
        options,
    }
}

fn is_number(json: &str) -> bool {
    json.starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

/// Bounds that no value meets, or that the default does not meet, would be the model's to suffer from.
fn check_bounds(options: &ArgOptions, diagnostics: &mut Diagnostics) {
    let number = |value: &TokenStream| json_literal(value)?.parse::<f64>().ok();
    let min = options.min.as_ref().and_then(number);
    let max = options.max.as_ref().and_then(number);
    if let (Some(least), Some(most), Some(token)) = (min, max, &options.max) {
        if least > most {
            diagnostics.error(token, "`max` is below `min`, so no value fits");
        }
    }
    let default = match &options.default {
        Some(ArgDefault::Value(value)) => Some(value),
        _ => None,
    };
    for (key, value) in [("default", default), ("example", options.example.as_ref())] {
        let outside = value.and_then(number).is_some_and(|number| {
            min.is_some_and(|min| number < min) || max.is_some_and(|max| number > max)
        });
        if let (true, Some(value)) = (outside, value) {
            diagnostics.error(value, format!("the {key} lies outside the bounds"));
        }
    }
}

fn check_literal(
    key: &str,
    what: &str,
    value: &TokenStream,
    is_right: impl Fn(&str) -> bool,
    diagnostics: &mut Diagnostics,
) {
    if !json_literal(value).is_some_and(|json| is_right(&json)) {
        diagnostics.error(
            value,
            format!("`{key}` takes {what}, because it is part of the schema"),
        );
    }
}

fn check_attributes(attributes: &[Attribute], diagnostics: &mut Diagnostics) {
    for attribute in attributes {
        if attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr") {
            diagnostics.error(
                attribute,
                "an argument cannot be conditional\nhelp: put the `#[cfg]` on two versions of the function",
            );
        }
    }
}

fn check_context(
    reference: &syn::TypeReference,
    ident: &Ident,
    options: &ArgOptions,
    diagnostics: &mut Diagnostics,
) {
    let borrowed = reference.elem.to_token_stream().to_string();
    if borrowed == "str" || matches!(*reference.elem, Type::Slice(_)) {
        let owned = if borrowed == "str" {
            "String"
        } else {
            "Vec<…>"
        };
        diagnostics.error(
            reference,
            format!("argument `{ident}` cannot be borrowed\nhelp: take `{owned}`; only the `&Context` is a reference"),
        );
    } else if reference.mutability.is_some() {
        diagnostics.error(reference, "the context is shared\nhelp: take `&Context`");
    } else if options.any {
        diagnostics.error(ident, "the context is no argument\nhelp: remove `#[arg]`");
    }
}

fn check_flatten(options: &ArgOptions, diagnostics: &mut Diagnostics) {
    let others = options.rename.is_some()
        || options.default.is_some()
        || options.example.is_some()
        || options.min.is_some()
        || options.max.is_some();
    if let (Some(flatten), true) = (&options.flatten, others) {
        diagnostics.error(
            flatten,
            "`flatten` stands alone\nhelp: put the other options on the struct's fields",
        );
    }
}

fn check_contexts(parameters: &[ValidParam<'_>], head: &FnHead, diagnostics: &mut Diagnostics) {
    let contexts = parameters
        .iter()
        .filter(|param| matches!(param, ValidParam::Context(_)))
        .count();
    if contexts > 1 {
        let name = &head.name;
        diagnostics.error(name, format!("tool `{name}` takes more than one reference\nhelp: only the `&Context` is one; take arguments by value"));
    }
}

fn check_names(parameters: &[ValidParam<'_>], diagnostics: &mut Diagnostics) {
    let mut seen: Vec<&Argument<'_>> = Vec::new();
    for param in parameters {
        let ValidParam::Argument(argument) = param else {
            continue;
        };
        let name = &argument.name;
        if seen.iter().any(|earlier| earlier.name == *name) {
            let at: &dyn ToTokens = match &argument.options.rename {
                Some(rename) => rename,
                None => argument.ident,
            };
            diagnostics.error(
                at,
                format!("two arguments are called `{name}`\nhelp: rename one of them"),
            );
        }
        seen.push(argument);
    }
}

fn check_whole(
    parameters: &[ValidParam<'_>],
    head: &FnHead,
    options: &ToolOptions,
    diagnostics: &mut Diagnostics,
) {
    let wholes = parameters
        .iter()
        .filter(|param| matches!(param, ValidParam::Whole(_)))
        .count();
    let others = parameters
        .iter()
        .filter(|param| matches!(param, ValidParam::Argument(_)))
        .count();
    let name = &head.name;
    if options.input_schema.is_some() && wholes != 1 {
        diagnostics.error(
            name,
            format!("with `input_schema`, tool `{name}` takes one argument, and has {wholes}\nhelp: take one value that all arguments are read into"),
        );
    } else if wholes > 1 || (wholes == 1 && others > 0) {
        diagnostics.error(
            name,
            format!("tool `{name}` takes other arguments beside a flattened one\nhelp: move them into the struct"),
        );
    }
}

/// The default as JSON, where it is a literal.
pub(crate) fn default_json(default: &ArgDefault) -> Option<String> {
    match default {
        ArgDefault::OfType => None,
        ArgDefault::Value(value) => json_literal(value),
    }
}
