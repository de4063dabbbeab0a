//! The client with a method for each tool, prompt, resource and resource template.

use std::collections::BTreeSet;

use mcp_catalog::{Catalog, Detail, Item, ItemKind, ResourceTemplate};
use proc_macro2::TokenStream;
use quote::quote;
use serde_json::Value;
use syn::parse_quote;

use super::items::{code, documented};
use super::lower::{Lowering, Root};
use super::{label, names, server_member};
use crate::format;
use crate::names::Taken;
use crate::types::{docs, ident};

/// All methods of a client, in the order of the catalog.
pub(super) struct Methods<'c> {
    methods: Vec<Method<'c>>,
    /// What the header says about names that were taken.
    renamed: Vec<String>,
}

struct Method<'c> {
    item: &'c Item,
    name: String,
    request: Request,
}

/// The request of a method, with the names of its types.
enum Request {
    Tool {
        input: Option<String>,
        /// The type of the result, and whether it is wrapped.
        output: Option<(String, bool)>,
    },
    Prompt {
        input: Option<String>,
    },
    Resource,
    Template(Vec<Variable>),
}

/// A variable of a URI template.
struct Variable {
    name: String,
    rust: String,
    is_optional: bool,
}

/// An item with the names that it has in Rust.
struct Named<'c> {
    item: &'c Item,
    method: String,
    input: String,
    output: String,
}

impl<'c> Methods<'c> {
    /// The methods of these items. Their types are added to `lowering`.
    pub(super) fn new(items: &[&'c Item], lowering: &mut Lowering) -> Self {
        let mut renamed = Vec::new();
        // Nested types have the names that are left, so that they change no name of an item.
        let named = named(items, lowering, &mut renamed);
        let methods = named.into_iter().filter_map(|named| {
            let (item, name) = (named.item, named.method.clone());
            let request = request(&named, lowering)?;
            Some(Method {
                item,
                name,
                request,
            })
        });
        Self {
            methods: methods.collect(),
            renamed,
        }
    }

    pub(super) fn renamed(&self) -> impl Iterator<Item = &str> {
        self.renamed.iter().map(String::as_str)
    }

    /// The source of everything but the types.
    pub(super) fn texts(&self, client: &str, catalog: &Catalog) -> Vec<String> {
        let name = ident(client);
        let about = match server_member(catalog, "name") {
            Some(server) => format!("A client of {}.", code(server)),
            None => "A client.".to_owned(),
        };
        let doc = docs::attributes(Some(&about), 0);
        let tools = self.of_kinds(&[ItemKind::Tool]);
        let prompts = self.of_kinds(&[ItemKind::Prompt]);
        let resources = self.of_kinds(&[ItemKind::Resource, ItemKind::ResourceTemplate]);
        let mut texts = vec![
            format::item(parse_quote! {
                #(#doc)*
                #[derive(Clone, Debug)]
                pub struct #name<C> {
                    caller: C,
                }
            }),
            format::item(self.entries()),
        ];
        let getters = [
            (&prompts, "prompts", "Prompts"),
            (&resources, "resources", "Resources"),
        ]
        .into_iter()
        .filter(|(methods, ..)| !methods.is_empty());
        let of_getters = getters.clone().map(|(_, getter, ty)| {
            let doc = format!(" The {getter}.");
            let (getter, ty) = (ident(getter), ident(ty));
            quote! {
                #[doc = #doc]
                #[must_use]
                pub const fn #getter(&self) -> #ty<'_, C> {
                    let caller = &self.caller;
                    #ty { caller }
                }
            }
        });
        let methods = tools.iter().map(|method| method.source(&quote!('_)));
        texts.push(format::block(parse_quote! {
            impl<C: ::mcp_caller::Caller> #name<C> {
                /// A client that calls through `caller`.
                #[must_use]
                pub const fn new(caller: C) -> Self {
                    Self { caller }
                }
                #(#methods)*
                #(#of_getters)*
            }
        }));
        for (methods, getter, ty) in getters {
            texts.extend(handle(client, getter, ty, methods));
        }
        texts
    }

    fn of_kinds(&self, kinds: &[ItemKind]) -> Vec<&Method<'c>> {
        let methods = self.methods.iter();
        methods
            .filter(|method| kinds.contains(&method.item.kind()))
            .collect()
    }

    fn entries(&self) -> syn::Item {
        let entries = self.methods.iter().map(|method| {
            let constructor = ident(match method.item.kind() {
                ItemKind::Tool => "tool",
                ItemKind::Resource => "resource",
                ItemKind::ResourceTemplate => "resource_template",
                ItemKind::Prompt => "prompt",
            });
            let (key, sha256) = (method.item.key(), &method.item.sha256);
            quote!(::mcp_caller::Entry::#constructor(#key, #sha256))
        });
        parse_quote! {
            /// What the catalog had, to find out whether the server has changed.
            pub const ENTRIES: &[::mcp_caller::Entry] = &[#(#entries),*];
        }
    }
}

/// A struct with the methods of one kind of item.
fn handle(client: &str, getter: &str, ty: &str, methods: &[&Method<'_>]) -> [String; 2] {
    let doc = format!(" The {getter} of [`{client}`].");
    let ty = ident(ty);
    let methods = methods.iter().map(|method| method.source(&quote!('c)));
    [
        format::item(parse_quote! {
            #[doc = #doc]
            #[derive(Clone, Copy, Debug)]
            pub struct #ty<'c, C> {
                caller: &'c C,
            }
        }),
        format::block(parse_quote! {
            impl<'c, C: ::mcp_caller::Caller> #ty<'c, C> { #(#methods)* }
        }),
    ]
}

/// Gives each item its names. An item that no request reaches has none.
fn named<'c>(
    items: &[&'c Item],
    lowering: &mut Lowering,
    renamed: &mut Vec<String>,
) -> Vec<Named<'c>> {
    let [mut tools, mut prompts, mut resources] = [(); 3].map(|()| Taken::default());
    for name in ["new", "prompts", "resources"] {
        tools.take(name);
    }
    let mut seen = BTreeSet::new();
    let mut named = Vec::new();
    for item in items.iter().copied() {
        let (kind, key) = (item.kind(), item.key());
        if key.is_empty() || !seen.insert((kind.label(), key)) {
            let message = "is left out: no request reaches the item".to_owned();
            lowering.warn(&label(item), String::new(), message);
            continue;
        }
        let (taken, has_types) = match kind {
            ItemKind::Tool => (&mut tools, true),
            ItemKind::Prompt => (&mut prompts, true),
            ItemKind::Resource | ItemKind::ResourceTemplate => (&mut resources, false),
        };
        // A resource without a name has one after its URI.
        let name = Some(item.name.as_str())
            .filter(|name| !name.is_empty())
            .unwrap_or(key);
        let method = taken.take_member(&names::member(name));
        let mut given = vec![(method.clone(), names::member(name))];
        let mut claim = |wanted: String, is_needed: bool| {
            let name = if is_needed {
                lowering.claim(&wanted)
            } else {
                wanted.clone()
            };
            given.push((name.clone(), wanted));
            name
        };
        let input = claim(names::ty(name), has_types);
        let output = claim(
            format!("{}Output", names::ty(name)),
            matches!(&item.detail, Detail::Tool(tool) if tool.output.is_some()),
        );
        let changed: Vec<_> = given
            .iter()
            .filter(|(name, wanted)| name != wanted)
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        if !changed.is_empty() {
            let changed = changed.join(" and ");
            renamed.push(format!(
                "The {} is {changed}, because its name is taken.",
                label(item)
            ));
        }
        named.push(Named {
            item,
            method,
            input,
            output,
        });
    }
    named
}

/// The request of an item; `None` if it cannot be made.
fn request(named: &Named<'_>, lowering: &mut Lowering) -> Option<Request> {
    let item = label(named.item);
    let root = |schema, pointer, name: &str, docs: &str| Root {
        item: item.clone(),
        pointer,
        schema,
        name: name.to_owned(),
        docs: format!(
            "{docs} the {} {}.",
            named.item.kind().label(),
            code(named.item.key())
        ),
    };
    Some(match &named.item.detail {
        Detail::Tool(tool) => {
            let schema = &tool.input.json;
            let input = lowering.input(&root(schema, "/inputSchema", &named.input, "Arguments of"));
            let output = tool.output.as_ref().map(|output| {
                let is_wrapped =
                    output.json.get("x-fastmcp-wrap-result") == Some(&Value::Bool(true));
                let root = root(&output.json, "/outputSchema", &named.output, "Result of");
                (lowering.output(&root, is_wrapped), is_wrapped)
            });
            Request::Tool { input, output }
        }
        Detail::Prompt(prompt) => {
            let root = root(
                &prompt.input.json,
                "/arguments",
                &named.input,
                "Arguments of",
            );
            Request::Prompt {
                input: lowering.input(&root),
            }
        }
        Detail::Resource(_) => Request::Resource,
        Detail::ResourceTemplate(template) => match variables(template) {
            Ok(variables) => Request::Template(variables),
            Err(problem) => {
                let message = format!("is left out: {problem}");
                lowering.warn(&item, "/uriTemplate".to_owned(), message);
                return None;
            }
        },
    })
}

/// The variables of a template. Those that only queries have may be left out.
fn variables(template: &ResourceTemplate) -> Result<Vec<Variable>, String> {
    let expressions = template
        .uri_template
        .split('{')
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('}')?.0));
    let of_paths = expressions.filter(|expression| !expression.starts_with(['?', '&']));
    let in_paths: BTreeSet<&str> = of_paths
        .flat_map(|expression| {
            expression
                .trim_start_matches(['+', '#', '.', '/', ';'])
                .split(',')
        })
        .filter_map(|variable| variable.split([':', '*']).next())
        .collect();
    let mut taken = Taken::default();
    let variables = template.variables()?.into_iter().map(|name| Variable {
        name: name.to_owned(),
        rust: taken.take_member(&names::member(name)),
        is_optional: !in_paths.contains(name),
    });
    Ok(variables.collect())
}

impl Method<'_> {
    /// The source of the method. Its answer borrows the caller for `lifetime`.
    fn source(&self, lifetime: &TokenStream) -> TokenStream {
        let docs = self.docs();
        let name = ident(&self.name);
        let key = self.item.key();
        let (parameters, answer, body) = match &self.request {
            Request::Tool { input, output } => {
                let (parameter, arguments) = arguments(input.as_deref());
                if let Some((output, is_wrapped)) = output {
                    let output = ident(output);
                    let wrap = ident(if *is_wrapped { "Result" } else { "No" });
                    let body = quote! {
                        self.caller.call(#key, #arguments, ::mcp_caller::Wrap::#wrap)
                    };
                    (parameter, quote!(#output), body)
                } else {
                    let body = quote!(self.caller.call_untyped(#key, #arguments));
                    (parameter, quote!(C::Content), body)
                }
            }
            Request::Prompt { input } => {
                let (parameter, arguments) = arguments(input.as_deref());
                let body = quote!(self.caller.prompt(#key, #arguments));
                (parameter, quote!(C::Messages), body)
            }
            Request::Resource => (
                TokenStream::new(),
                quote!(C::Contents),
                quote!(self.caller.read(#key)),
            ),
            Request::Template(variables) => {
                let parameters = variables.iter().map(Variable::parameter);
                let values = variables.iter().map(Variable::value);
                let body = quote! {
                    let uri = ::mcp_caller::expand(#key, &[#(#values),*]);
                    self.caller.read(&uri)
                };
                (quote!(#(#parameters),*), quote!(C::Contents), body)
            }
        };
        quote! {
            #(#docs)*
            #[must_use]
            pub fn #name(&self, #parameters) -> C::Answer<#lifetime, #answer> { #body }
        }
    }

    /// The description of the item, and what it is.
    fn docs(&self) -> Vec<TokenStream> {
        let item = self.item;
        let texts = [&item.title, &item.description];
        let text = texts.into_iter().flatten().next_back();
        let is_set = |hint: &str| {
            let annotations = item.meta.annotations.as_ref();
            annotations.and_then(|all| all.get(hint)) == Some(&Value::Bool(true))
        };
        let hints: String = [
            ("readOnlyHint", ", read-only"),
            ("destructiveHint", ", destructive"),
            ("idempotentHint", ", idempotent"),
        ]
        .into_iter()
        .filter(|(hint, _)| is_set(hint))
        .map(|(_, text)| text)
        .collect();
        let kind = match item.kind() {
            ItemKind::Tool => "Tool",
            ItemKind::Resource => "Resource",
            ItemKind::ResourceTemplate => "Template",
            ItemKind::Prompt => "Prompt",
        };
        let what = format!("{kind} {}{hints}.", code(item.key()));
        documented(text.map(String::as_str), &what, 4)
    }
}

/// The parameter for arguments, and how they are passed on.
fn arguments(input: Option<&str>) -> (TokenStream, TokenStream) {
    match input {
        Some(input) => {
            let ty = ident(input);
            (quote!(arguments: &#ty), quote!(arguments))
        }
        None => (TokenStream::new(), quote!(&::mcp_caller::NoArguments {})),
    }
}

impl Variable {
    fn parameter(&self) -> TokenStream {
        let name = ident(&self.rust);
        if self.is_optional {
            quote!(#name: Option<&str>)
        } else {
            quote!(#name: &str)
        }
    }

    fn value(&self) -> TokenStream {
        let (name, rust) = (&self.name, ident(&self.rust));
        if self.is_optional {
            quote!((#name, #rust))
        } else {
            quote!((#name, Some(#rust)))
        }
    }
}
