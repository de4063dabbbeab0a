//! The rest of a plugin, in addition to types: a trait of its exports, and the functions of its host.
//!
//! Generated code contains no `unsafe` and no logic. It calls the macros and functions of the runtime, which have
//! their own tests.

mod check;
mod exports;
mod function;
mod imports;
mod stubs;

use syn::{Item, parse_quote};

use crate::document::ContentType;
use crate::format;
use crate::ir::{Kind, Module};
use crate::names::Taken;
use crate::options::Options;
use crate::rust_types::{Missing, RustTypes};
use crate::types::ident;

pub(crate) use self::check::check_glue;
pub(crate) use self::stubs::stubs;

/// State that all emitters share.
pub(crate) struct Glue<'a> {
    module: &'a Module,
    rust_types: &'a RustTypes,
    /// The path of the runtime.
    runtime: syn::Path,
    little_endian: bool,
    copy_enums: bool,
    /// The name of the trait that the author implements.
    exports: syn::Ident,
    /// The name of the trait that a test's host implements.
    host: syn::Ident,
    /// The path of the error type in generated code.
    error: syn::Path,
}

impl<'a> Glue<'a> {
    pub(crate) fn new(
        module: &'a Module,
        rust_types: &'a RustTypes,
        options: &Options,
        runtime: syn::Path,
    ) -> Self {
        let mut taken = Taken::default();
        for def in &module.types {
            taken.take(&def.name.rust);
        }
        // The schema may have a type of this name; then the runtime's has its full path.
        let error = if taken.take("Error") == "Error" {
            parse_quote!(Error)
        } else {
            parse_quote!(#runtime::Error)
        };
        Self {
            module,
            rust_types,
            runtime,
            little_endian: options.little_endian_text,
            copy_enums: !options.catch_all,
            exports: ident(&taken.take("Exports")),
            host: ident(&taken.take("Host")),
            error,
        }
    }

    /// The source of all items except the types, which follow them.
    pub(crate) fn texts(&self) -> Result<Vec<String>, Missing> {
        let mut texts: Vec<_> = self.in_scope().into_iter().map(format::item).collect();
        texts.extend(exports::texts(self)?);
        texts.extend(imports::item(self)?.map(format::block));
        texts.extend(self.words().map(format::item));
        Ok(texts)
    }

    /// Imports names of the runtime, except those that the schema uses itself.
    fn in_scope(&self) -> Option<Item> {
        let types = &self.module.types;
        let is_free = |name: &&str| !types.iter().any(|def| def.name.rust == **name);
        let names: Vec<_> = ["Bytes", "Error"]
            .into_iter()
            .filter(is_free)
            .map(ident)
            .collect();
        let runtime = &self.runtime;
        (!names.is_empty()).then(|| parse_quote!(pub use #runtime::{#(#names),*};))
    }

    /// Marks enums as payloads that are a plain word in `text/plain`.
    fn words(&self) -> impl Iterator<Item = Item> {
        let runtime = &self.runtime;
        let is_text = |def: &&crate::ir::TypeDef| matches!(def.kind, Kind::Enum(_));
        let enums = self.module.types.iter().filter(is_text);
        enums.map(move |def| {
            let name = ident(&def.name.rust);
            parse_quote!(impl #runtime::Word for #name {})
        })
    }

    /// The type of the runtime for a content type.
    fn encoding(&self, content_type: ContentType) -> syn::Ident {
        ident(match content_type {
            ContentType::Json => "ApplicationJson",
            ContentType::Text if self.little_endian => "LittleEndian",
            ContentType::Text => "TextPlain",
            ContentType::Binary => "XBinary",
        })
    }
}
