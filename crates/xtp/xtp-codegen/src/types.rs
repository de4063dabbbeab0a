//! Generates readable Rust items for types.

mod alias;
mod dates;
pub(crate) mod docs;
mod enums;
mod structs;
mod union;

use syn::Item;

use crate::ir::{Kind, Module};
use crate::json_schema::Slot;
use crate::options::Options;
use crate::rust_types::{Missing, RustTypes};

/// The items of all types, in the order of the schema.
///
/// # Errors
/// If a slot has no type.
pub(crate) fn items(
    module: &Module,
    rust_types: &RustTypes,
    options: &Options,
) -> Result<Vec<Item>, Missing> {
    let mut items = Vec::new();
    for id in &module.order {
        let def = module.get(*id);
        match &def.kind {
            Kind::Struct(content) => {
                items.extend(structs::items(*id, def, content, rust_types, options)?);
            }
            Kind::Enum(values) => items.extend(enums::items(def, values, options)),
            Kind::Alias(_) => items.push(alias::alias(def, rust_types.get(Slot::Alias(*id))?)),
            Kind::Newtype(content) => {
                let ty = rust_types.get(Slot::Field(*id, 0))?;
                items.push(alias::newtype(def, content, ty));
            }
            Kind::Union(content) => items.extend(union::items(*id, def, content, rust_types)?),
        }
    }
    items.extend(dates::items(module, options));
    items.extend(structs::helper(module, options));
    items.extend(enums::error(module, options));
    Ok(items)
}

/// An identifier in source, raw or not.
pub(crate) fn ident(name: &str) -> syn::Ident {
    match name.strip_prefix("r#") {
        Some(keyword) => quote::format_ident!("r#{keyword}"),
        None => quote::format_ident!("{name}"),
    }
}
