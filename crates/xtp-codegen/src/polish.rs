//! Makes what typify generates pleasant to read and to use.
//!
//! typify decides which Rust type a value has; names, order, docs and attributes are decided
//! here, from the same types that typify was given.

mod constructor;
mod docs;
mod enums;
mod paths;
mod structs;

use std::collections::BTreeMap;

use syn::{Item, ItemEnum, ItemImpl, ItemStruct, Type};

pub(crate) use self::paths::Paths;
use crate::ir::{Kind, TypeDef};

/// typify did not generate something that was asked of it.
#[derive(Debug, thiserror::Error)]
#[error("typify generated no `{name}`")]
pub(crate) struct Missing {
    pub(crate) name: String,
}

/// Rewrites typify's items in the order of `types`.
///
/// # Errors
/// If typify left out a type, a field or a variant.
pub(crate) fn polish(
    raw: syn::File,
    types: &[TypeDef],
    paths: &mut Paths,
    conversions: bool,
) -> Result<Vec<Item>, Missing> {
    let mut raw = Raw::sort(raw);
    let mut items = Vec::new();
    for def in types {
        match &def.kind {
            Kind::Struct(fields) => {
                let ty = raw.take_struct(&def.name.rust)?;
                items.extend(structs::items(def, fields, &ty, paths)?);
            }
            Kind::Enum(values) => {
                let ty = raw.take_enum(&def.name.rust)?;
                items.push(Item::Enum(enums::item(def, values, ty)?));
                let impls = raw.impls.remove(&def.name.rust).unwrap_or_default();
                let wanted = impls.into_iter().filter(|item| {
                    let display = enums::trait_name(item) == Some("Display".to_owned());
                    display || conversions
                });
                items.extend(wanted.map(Item::Impl));
            }
        }
    }
    items.extend(structs::helper(types));
    if conversions {
        items.extend(raw.error.map(Item::Mod));
    }
    Ok(items)
}

/// typify's items by the names of their types.
#[derive(Default)]
struct Raw {
    structs: BTreeMap<String, ItemStruct>,
    enums: BTreeMap<String, ItemEnum>,
    impls: BTreeMap<String, Vec<ItemImpl>>,
    /// The error type of the conversions.
    error: Option<syn::ItemMod>,
}

impl Raw {
    fn sort(file: syn::File) -> Self {
        let mut raw = Self::default();
        for item in file.items {
            match item {
                Item::Struct(item) => {
                    raw.structs.insert(item.ident.to_string(), item);
                }
                Item::Enum(item) => {
                    raw.enums.insert(item.ident.to_string(), item);
                }
                Item::Impl(item) => {
                    let ty = self_type(&item);
                    raw.impls.entry(ty).or_default().push(item);
                }
                Item::Mod(item) if item.ident == "error" => raw.error = Some(item),
                _ => {}
            }
        }
        raw
    }

    fn take_struct(&mut self, name: &str) -> Result<ItemStruct, Missing> {
        self.structs.remove(name).ok_or_else(|| missing(name))
    }

    fn take_enum(&mut self, name: &str) -> Result<ItemEnum, Missing> {
        self.enums.remove(name).ok_or_else(|| missing(name))
    }
}

fn missing(name: &str) -> Missing {
    Missing {
        name: name.to_owned(),
    }
}

fn self_type(item: &ItemImpl) -> String {
    match item.self_ty.as_ref() {
        Type::Path(ty) => paths::joined(&ty.path),
        _ => String::new(),
    }
}
