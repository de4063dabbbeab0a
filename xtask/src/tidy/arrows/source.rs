//! What the files of a crate define, import and use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use quote::ToTokens as _;
use syn::{Ident, Item, UseTree, Visibility};

use super::paths;
use crate::tidy::rust_files;

/// A module.
#[derive(Default)]
pub(super) struct Source {
    /// The names that it defines.
    pub(super) items: BTreeSet<String>,
    /// The names that it imports, with the paths behind `use`.
    pub(super) imports: BTreeMap<String, Vec<String>>,
    /// The paths before `*` in its imports, each with `self` at its end.
    pub(super) globs: Vec<Vec<String>>,
    pub(super) uses: Vec<UsedPath>,
}

/// A path in the code of a module.
#[derive(Clone)]
pub(super) struct UsedPath {
    pub(super) file: PathBuf,
    pub(super) path: Vec<String>,
}

/// The modules of the crate whose sources are in a folder, without tests.
pub(super) fn read(folder: &Path) -> anyhow::Result<BTreeMap<Vec<String>, Source>> {
    let mut modules = BTreeMap::new();
    for file in rust_files(folder)? {
        let name = file.strip_prefix(folder)?;
        if name.components().any(|part| is_tests(part.as_os_str())) {
            continue;
        }
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let parsed = syn::parse_file(&text).with_context(|| file.display().to_string())?;
        read_items(&mut modules, name, &module_path(name), &parsed.items);
    }
    Ok(modules)
}

/// Adds the items of a module, and those of its inline modules, to what is known of them.
fn read_items(
    modules: &mut BTreeMap<Vec<String>, Source>,
    file: &Path,
    module: &[String],
    items: &[Item],
) {
    // A module without items is a module all the same.
    modules.entry(module.to_vec()).or_default();
    for item in items.iter().filter(|item| !is_for_tests(item)) {
        if is_exported_macro(item) && !module.is_empty() {
            export_macro(modules, module, item);
        }
        if let Item::Mod(inner) = item {
            let path = [module, &[inner.ident.to_string()]].concat();
            if let Some((_, items)) = &inner.content {
                read_items(modules, file, &path, items);
            }
            continue;
        }
        let source = modules.entry(module.to_vec()).or_default();
        source.read(file, item);
    }
}

/// Such a macro is at the crate root for those that use it.
fn export_macro(modules: &mut BTreeMap<Vec<String>, Source>, module: &[String], item: &Item) {
    if let Some(name) = name(item) {
        let path = [module, std::slice::from_ref(&name)].concat();
        let root = modules.entry(Vec::new()).or_default();
        root.imports.insert(name, path);
    }
}

impl Source {
    fn read(&mut self, file: &Path, item: &Item) {
        self.items.extend(name(item));
        let mut is_export = false;
        if let Item::Use(import) = item {
            self.import(&import.tree, &[]);
            is_export = !matches!(import.vis, Visibility::Inherited);
        }
        // A re-export does not use what it names.
        if !is_export {
            let paths = paths::find(item.to_token_stream()).into_iter();
            self.uses.extend(paths.map(|path| UsedPath {
                file: file.to_owned(),
                path,
            }));
        }
    }

    fn import(&mut self, tree: &UseTree, before: &[String]) {
        let longer = |name: &Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Name(name) if name.ident == "self" => {
                let name = before.last().cloned().unwrap_or_default();
                self.imports.insert(name, before.to_vec());
            }
            UseTree::Name(name) => self.bind(&name.ident, longer(&name.ident)),
            UseTree::Rename(name) => self.bind(&name.rename, longer(&name.ident)),
            UseTree::Path(path) => self.import(&path.tree, &longer(&path.ident)),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, before);
                }
            }
            UseTree::Glob(_) => self.globs.push([before, &["self".to_owned()]].concat()),
        }
    }

    fn bind(&mut self, name: &Ident, path: Vec<String>) {
        self.imports.insert(name.to_string(), path);
    }
}

/// The name that an item defines.
fn name(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
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

fn is_exported_macro(item: &Item) -> bool {
    let Item::Macro(item) = item else {
        return false;
    };
    let mut attributes = item.attrs.iter();
    attributes.any(|one| one.path().is_ident("macro_export"))
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
