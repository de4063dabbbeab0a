//! Checks on all expansions: their names resolve the same way in any scope, and they contain no logic.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, FnArg, Item, ItemFn, Meta, Path};

use crate::resource::Kind;
use crate::{completion, derive, export, prompt, resource, tool};

/// Attribute, its options, and a function. No function names an item of std, so such a name comes from the macro.
const FUNCTIONS: &[(&str, &str, &str)] = &[
    ("tool", "", "fn nothing() {}"),
    (
        "tool",
        "",
        "/// Says hello.\npub(crate) fn greet(/** who */ name: Text) -> Text { format!(\"{name}\") }",
    ),
    (
        "tool",
        r#"name = "add-up", title = "Add", description = "Adds.", read_only, destructive = false, idempotent, open_world,
            task = "required", icons = [icon()], ui = ui(), meta = [meta()]"#,
        "fn add(a: f64, #[arg(default = 1.5, min = -1.0, max = 2.0, example = 1.0, rename = \"$b\")] b: f64) -> f64 { a + b }",
    ),
    (
        "tool",
        "",
        "#[cfg(all())] #[doc = include_str!(\"x.md\")] #[doc = \"more\"] const fn odd(
            context: &Context,
            #[arg(default)] mut r#type: Maybe<List<Heap<u8>>>,
            #[allow(unused)] #[arg(default_str = \"x\")] text: texts::Text,
            #[arg(max = 3)] number: number!(),
        ) -> Outcome<Json<Found>, ToolError> where u8: Copy { body() }",
    ),
    (
        "tool",
        "",
        "fn flat(context: &Context, #[arg(flatten)] all: search::Query) -> Content { body() }",
    ),
    (
        "tool",
        "input_schema = include_str!(\"schema.json\")",
        "fn raw(all: RawJson) -> usize { 0 }",
    ),
    // With errors: the replacement for an invalid tool is an expansion too.
    (
        "tool",
        "",
        "async fn later(#[arg(min = 1)] times: u8) -> Text { text() }",
    ),
    (
        "tool",
        "nonsense",
        "fn show<F: Fn(u8) -> u8>(/** it */ f: F, #[arg(nonsense)] value: u8) {}",
    ),
    (
        "resource",
        r#"uri = "x:y", name = "n", title = "t", description = "d", mime_type = "m", size = 1, audience = "user", priority = 0.5, icons = [icon()], meta = [meta()]"#,
        "fn fixed(context: &Context) -> Text { body() }",
    ),
    (
        "resource",
        "uri = \"x:y\"",
        "/// Docs.\npub(crate) fn plain() -> Maybe<Json<Text>> { body() }",
    ),
    (
        "resource_template",
        "uri_template = \"x:{id}/{+rest}{?q,r}\"",
        "#[cfg(all())] fn family(rest: Text, #[arg(default)] q: u8, r: Maybe<Text>, id: u64) -> Text { body() }",
    ),
    (
        "prompt",
        r#"name = "ask-it", title = "Ask", icons = [icon()], meta = [meta()]"#,
        "/// Asks.\nfn ask(/** what */ #[arg(default = 2, max = 3)] what: u8, context: &Context) -> Messages { body() }",
    ),
    (
        "completion",
        "of = inner::ask.what",
        "fn whats(what: Text) -> Messages { body() }",
    ),
    // With errors.
    ("resource", "", "fn nowhere(id: u64) -> Text { body() }"),
    (
        "resource_template",
        "uri_template = \"x:{a}{b}\"",
        "fn both(#[arg(min = 1)] a: u8) {}",
    ),
    (
        "prompt",
        "nonsense",
        "fn flat(#[arg(flatten)] all: Query) {}",
    ),
    ("completion", "", "fn nothing(/** it */ a: u8) {}"),
];

/// The expansion of this macro for these options and this function.
fn expand(attribute: &str, options: &str, item: &str) -> TokenStream {
    let (options, item) = (tokens(options), tokens(item));
    match attribute {
        "tool" => tool::expand(options, item),
        "resource" => resource::expand(Kind::Fixed, options, item),
        "resource_template" => resource::expand(Kind::Template, options, item),
        "prompt" => prompt::expand(options, item),
        "completion" => completion::expand(options, item),
        _ => panic!("no macro is called {attribute}"),
    }
}

/// Types, to be expanded by `#[derive(Schema)]`.
const TYPES: &[&str] = &[
    "struct Unit;",
    "#[serde(rename_all = \"camelCase\")] struct Named { /// a\n r#type: u8, #[serde(default, alias = \"c\")] #[schema(example = 1)] b_b: Maybe<u8>, }",
    "struct Flat<'a, T: Clone, const N: usize> where T: Copy { #[serde(flatten)] inner: Inner<'a, T>, #[serde(skip_serializing)] x: [T; N] }",
    "/// Docs.\nstruct New<T>(#[schema(json = \"{}\")] T);",
    "#[serde(transparent)] struct Same { inner: Maybe<Text>, #[serde(skip)] other: () }",
    "#[serde(try_from = \"Text\", into = \"Text\")] struct Proxy { a: u8 }",
    "#[serde(deny_unknown_fields)] struct Closed { a: u8 }",
    "/// Docs.\nenum Units { /// the first\n A, #[serde(rename = \"b\")] B }",
    "enum External { A, B(u8), C { c: u8 } }",
    "#[serde(tag = \"t\")] enum Internal { A, B(New), C { c: u8 } }",
    "#[serde(tag = \"t\", content = \"c\")] enum Adjacent { A, B(Maybe<u8>), C { c: u8 } }",
    "#[serde(untagged)] enum Untagged { A, B(u8), C { c: u8 } }",
    // With an error.
    "struct Tuple(u8, u8);",
];

/// Declarations, to be expanded by `export!`.
const DECLARATIONS: &[&str] = &[
    "static EMPTY = {}",
    "#[doc(hidden)] pub static SERVLET = {
        name: \"n\", version: VERSION, instructions: include_str!(\"x.md\"), tools: [greet, #[cfg(all())] a::b],
        resources: [one, two], prompts: [review], completions: [languages], errors: [known, other::known],
        config: Settings, hosts: [\"api.example\", config.base_url], paths: [\"/data\"], calls: [\"a:*\"], reads: [\"b:*\"],
    };",
    // With an error.
    "static WRONG = { tool: [greet] }",
];

/// The names of parameters and variables in expansions. All of them have the hygiene of the macro.
const LOCALS: &[&str] = &["context", "arguments", "servlet", "error"];

fn tokens(source: &str) -> TokenStream {
    source
        .parse()
        .unwrap_or_else(|error| panic!("{error} in {source}"))
}

/// Each author's source, and the items of its expansion that are not the author's.
fn expansions() -> Vec<(String, Vec<Item>)> {
    let functions = FUNCTIONS.iter().map(|(attribute, options, item)| {
        let file: syn::File = syn::parse2(expand(attribute, options, item)).unwrap();
        (
            format!("#[{attribute}({options})] {item}"),
            file.items[1..].to_vec(),
        )
    });
    let types = TYPES.iter().map(|item| {
        let file: syn::File = syn::parse2(derive::expand(tokens(item))).unwrap();
        ((*item).to_owned(), file.items)
    });
    let declarations = DECLARATIONS.iter().map(|declaration| {
        let input = tokens(&format!("(::mcp_servlet) {declaration}"));
        let file: syn::File = syn::parse2(export::expand(input)).unwrap();
        ((*declaration).to_owned(), file.items)
    });
    functions.chain(types).chain(declarations).collect()
}

#[test]
fn every_path_is_absolute_or_the_authors() {
    for (source, items) in expansions() {
        let mut authors = BTreeSet::new();
        collect_idents(tokens(&source), &mut authors);
        // The path of a proxy type is in a string.
        collect_idents(
            tokens(
                &source
                    .replace('"', " ")
                    .replace("{}", "")
                    .replace("x.md", ""),
            ),
            &mut authors,
        );
        let mut paths = Paths {
            authors,
            foreign: Vec::new(),
        };
        for item in &items {
            paths.visit_item(item);
        }
        assert!(
            paths.foreign.is_empty(),
            "{source} expands to {:?}",
            paths.foreign
        );
    }
}

#[test]
fn expansions_hold_no_logic() {
    for (source, items) in expansions() {
        let mut logic = Logic { found: Vec::new() };
        for item in &items {
            logic.visit_item(item);
        }
        assert!(
            logic.found.is_empty(),
            "{source} expands to {:?}",
            logic.found
        );
    }
}

#[test]
fn function_comes_first_without_our_attributes() {
    for (attribute, options, item) in FUNCTIONS {
        let expansion: syn::File = syn::parse2(expand(attribute, options, item)).unwrap();
        let mut expected: ItemFn = syn::parse2(tokens(item)).unwrap();
        for input in &mut expected.sig.inputs {
            let FnArg::Typed(input) = input else {
                panic!("{item} has no receiver")
            };
            input.attrs.retain(|attribute| !is_ours(attribute));
        }
        let first = expansion.items[0].to_token_stream().to_string();
        assert_eq!(first, expected.to_token_stream().to_string());
    }
}

#[test]
fn function_that_does_not_parse_is_still_emitted() {
    let expansion = tool::expand(
        tokens(""),
        tokens("fn half(#[arg(min = 1)] a: u8, /** b */ b) -> ; { a }"),
    );
    let text = expansion.to_string();
    assert!(
        text.starts_with("fn half (a : u8 , b) -> ; { a }"),
        "{text}"
    );
    assert!(text.contains("compile_error"), "{text}");
}

fn is_ours(attribute: &Attribute) -> bool {
    attribute.path().is_ident("arg") || attribute.path().is_ident("doc")
}

fn collect_idents(tokens: TokenStream, idents: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => drop(idents.insert(ident.to_string())),
            TokenTree::Group(group) => collect_idents(group.stream(), idents),
            _ => {}
        }
    }
}

/// Finds paths that the author's scope could resolve differently.
struct Paths {
    authors: BTreeSet<String>,
    foreign: Vec<String>,
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_path(&mut self, path: &'ast Path) {
        let first = path.segments[0].ident.to_string();
        let is_fine = if path.is_ident("macro_rules") {
            true
        } else if path.leading_colon.is_some() {
            ["mcp_servlet", "core"].contains(&&*first)
        } else {
            first.starts_with("__") || LOCALS.contains(&&*first) || self.authors.contains(&first)
        };
        if !is_fine {
            self.foreign.push(path.to_token_stream().to_string());
        }
        visit::visit_path(self, path);
    }

    /// Skipped: attribute names belong to the compiler.
    fn visit_meta(&mut self, _: &'ast Meta) {}
}

/// Finds logic that belongs in `__private`.
struct Logic {
    found: Vec<String>,
}

impl<'ast> Visit<'ast> for Logic {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        let is_logic = matches!(
            expr,
            Expr::If(_)
                | Expr::Match(_)
                | Expr::ForLoop(_)
                | Expr::While(_)
                | Expr::Loop(_)
                | Expr::Binary(_)
        );
        if is_logic {
            self.found.push(expr.to_token_stream().to_string());
        }
        visit::visit_expr(self, expr);
    }
}
