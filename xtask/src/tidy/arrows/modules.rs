//! Which top-level modules of a crate use which, by the paths in their code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Item, UseTree, Visibility};

use super::{Graph, shortest_circle};
use crate::tidy::rust_files;

/// The name for items that `lib.rs` or `main.rs` defines.
const ROOT: &str = "the crate root";

/// The top-level modules of a crate.
pub(super) struct Modules {
    /// The module that defines each name that the crate root re-exports.
    exports: BTreeMap<String, String>,
    names: BTreeSet<String>,
    graph: Graph<String>,
    /// For each arrow, a file and the path in it.
    evidence: BTreeMap<(String, String), String>,
}

impl Modules {
    /// Reads the crate whose sources are in a folder.
    pub(super) fn read(source: &Path) -> anyhow::Result<Self> {
        let mut modules = Self {
            exports: BTreeMap::new(),
            names: BTreeSet::new(),
            graph: Graph::new(),
            evidence: BTreeMap::new(),
        };
        let roots = ["lib.rs", "main.rs"].map(|file| source.join(file));
        for root in roots.iter().filter(|root| root.exists()) {
            modules.read_root(&parse(root)?);
        }
        for file in rust_files(source)? {
            let name = file.strip_prefix(source)?;
            if name.components().any(|part| is_tests(part.as_os_str())) {
                continue;
            }
            let path = module_path(name);
            modules.read_items(name, &path, &parse(&file)?);
        }
        Ok(modules)
    }

    /// The shortest cycle, with a file for each of its arrows.
    pub(super) fn circle(&self) -> Option<String> {
        let circle = shortest_circle(&self.graph)?;
        let arrows = circle.windows(2).map(|pair| {
            let evidence = self.evidence.get(&(pair[0].clone(), pair[1].clone()));
            let evidence = evidence.map_or("", String::as_str);
            format!("\n      {} uses {}: {evidence}", pair[0], pair[1])
        });
        Some(arrows.collect())
    }

    fn read_root(&mut self, items: &[Item]) {
        for item in items {
            if let Item::Mod(module) = item {
                self.names.insert(module.ident.to_string());
            }
        }
        for item in items {
            if let Item::Use(import) = item
                && !matches!(import.vis, Visibility::Inherited)
            {
                self.read_export(&import.tree, &[]);
            }
        }
    }

    fn read_export(&mut self, tree: &UseTree, before: &[String]) {
        let mut add = |name: String| {
            if let Some(module) = before.iter().find(|name| self.names.contains(*name)) {
                self.exports.insert(name, module.clone());
            }
        };
        match tree {
            UseTree::Name(name) => add(name.ident.to_string()),
            UseTree::Rename(rename) => add(rename.rename.to_string()),
            UseTree::Path(path) => {
                let mut longer = before.to_vec();
                longer.push(path.ident.to_string());
                self.read_export(&path.tree, &longer);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.read_export(tree, before);
                }
            }
            UseTree::Glob(_) => {}
        }
    }

    fn read_items(&mut self, file: &Path, module: &[String], items: &[Item]) {
        for item in items {
            let is_root = module.is_empty();
            match item {
                _ if is_for_tests(item) => {}
                Item::Mod(inner) => {
                    let mut path = module.to_vec();
                    path.push(inner.ident.to_string());
                    if let Some((_, items)) = &inner.content {
                        self.read_items(file, &path, items);
                    }
                }
                // A re-export does not use what it names.
                Item::Use(import) if is_root && !matches!(import.vis, Visibility::Inherited) => {}
                item => {
                    for path in paths(item.to_token_stream()) {
                        self.add(file, module, &path);
                    }
                }
            }
        }
    }

    /// Records that a module mentions a path that begins with `crate`, `self` or `super`.
    fn add(&mut self, file: &Path, module: &[String], path: &[String]) {
        let mut place = match path[0].as_str() {
            "crate" => Vec::new(),
            _ => module.to_vec(),
        };
        let mut rest = path
            .iter()
            .filter(|name| *name != "crate" && *name != "self");
        let mut next = rest.next();
        while next.is_some_and(|name| name == "super") {
            place.pop();
            next = rest.next();
        }
        place.extend(next.cloned());
        let Some(first) = place.first() else { return };
        let used = match self.exports.get(first) {
            Some(module) => module.clone(),
            None if self.names.contains(first) => first.clone(),
            None => ROOT.to_owned(),
        };
        let from = module.first().map_or(ROOT, String::as_str).to_owned();
        if used == from {
            return;
        }
        let mention = format!("{} has `{}`", file.display(), path.join("::"));
        let arrow = (from.clone(), used.clone());
        self.evidence.entry(arrow).or_insert(mention);
        self.graph.entry(from).or_default().insert(used);
    }
}

fn parse(file: &Path) -> anyhow::Result<Vec<Item>> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let parsed = syn::parse_file(&text).with_context(|| file.display().to_string())?;
    Ok(parsed.items)
}

/// The path of the module in a file, from the crate root.
fn module_path(file: &Path) -> Vec<String> {
    let mut path: PathBuf = file.with_extension("");
    if ["lib", "main", "mod"]
        .iter()
        .any(|name| path.ends_with(name))
    {
        path.pop();
    }
    let names = path.iter().map(|name| name.to_string_lossy().into_owned());
    names.collect()
}

/// Whether a component of a path belongs to a module with tests.
fn is_tests(part: &std::ffi::OsStr) -> bool {
    part == "tests" || part == "tests.rs"
}

/// Whether an item is compiled only for tests.
fn is_for_tests(item: &Item) -> bool {
    let attributes = match item {
        Item::Mod(item) if item.ident == "tests" => return true,
        Item::Mod(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => return false,
    };
    let mut attributes = attributes.iter();
    attributes.any(|one| one.meta.to_token_stream().to_string() == "cfg (test)")
}

/// All paths that begin with `crate`, `self` or `super`, including those in groups and macros.
fn paths(tokens: TokenStream) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    collect(tokens, &mut all);
    all
}

fn collect(tokens: TokenStream, all: &mut Vec<Vec<String>>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token {
            TokenTree::Ident(name) if ["crate", "self", "super"].iter().any(|one| name == one) => {
                at = path(&tokens, at, Vec::new(), all);
            }
            TokenTree::Group(group) => {
                collect(group.stream(), all);
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// Reads one path and the paths of a group at its end; returns the index behind it.
fn path(
    tokens: &[TokenTree],
    from: usize,
    mut names: Vec<String>,
    all: &mut Vec<Vec<String>>,
) -> usize {
    let is_colon =
        |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(one)) if one.as_char() == ':');
    let mut at = from;
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(name)) => names.push(name.to_string()),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                for part in inner
                    .split(|token| matches!(token, TokenTree::Punct(one) if one.as_char() == ','))
                {
                    path(part, 0, names.clone(), all);
                }
                return at + 1;
            }
            _ => break,
        }
        at += 1;
        if !(is_colon(at) && is_colon(at + 1)) {
            break;
        }
        at += 2;
    }
    if names.len() > 1 {
        all.push(names);
    }
    at
}
