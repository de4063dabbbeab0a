//! What a plugin is made of besides types: a trait of its exports, and its host's functions.
//!
//! Generated code holds no `unsafe` and no logic; it calls the macros and functions of the
//! runtime, which are tested there.

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
use crate::spell::{Missing, Spelling};
use crate::types::ident;

pub(crate) use self::check::check;
pub(crate) use self::stubs::stubs;

/// What the emitters share.
pub(crate) struct Glue<'a> {
    module: &'a Module,
    spelling: &'a Spelling,
    /// The path of the runtime.
    runtime: syn::Path,
    little_endian: bool,
    copy_enums: bool,
    /// The name of the trait that the author implements.
    exports: syn::Ident,
    /// The name of the trait that a test's host implements.
    host: syn::Ident,
    /// How the error type is spelt.
    error: syn::Path,
}

impl<'a> Glue<'a> {
    pub(crate) fn new(
        module: &'a Module,
        spelling: &'a Spelling,
        options: &Options,
        runtime: syn::Path,
    ) -> Self {
        let mut taken = Taken::default();
        for def in &module.types {
            taken.take(&def.name.rust);
        }
        // A type of the schema may be called so; then the runtime's is spelt in full.
        let error = if taken.take("Error") == "Error" {
            parse_quote!(Error)
        } else {
            parse_quote!(#runtime::Error)
        };
        Self {
            module,
            spelling,
            runtime,
            little_endian: options.little_endian_text,
            copy_enums: !options.catch_all,
            exports: ident(&taken.take("Exports")),
            host: ident(&taken.take("Host")),
            error,
        }
    }

    /// All items as text, behind which the types may follow.
    pub(crate) fn texts(&self) -> Result<Vec<String>, Missing> {
        let mut texts: Vec<_> = self.in_scope().into_iter().map(format::item).collect();
        texts.extend(exports::texts(self)?);
        texts.extend(imports::item(self)?.map(format::block));
        texts.extend(self.words().map(format::item));
        Ok(texts)
    }

    /// Names of the runtime, unless the schema has them for something else.
    fn in_scope(&self) -> Option<Item> {
        let types = &self.module.types;
        let is_free = |name: &&str| !types.iter().any(|def| def.name.rust == **name);
        let names = ["Bytes", "Error"].into_iter().filter(is_free);
        let names: Vec<_> = names.map(ident).collect();
        let runtime = &self.runtime;
        (!names.is_empty()).then(|| parse_quote!(pub use #runtime::{#(#names),*};))
    }

    /// Enums travel as bare words in text.
    fn words(&self) -> impl Iterator<Item = Item> {
        let runtime = &self.runtime;
        let is_text = |def: &&crate::ir::TypeDef| matches!(def.kind, Kind::Enum(_));
        let enums = self.module.types.iter().filter(is_text);
        enums.map(move |def| {
            let name = ident(&def.name.rust);
            parse_quote!(impl #runtime::Word for #name {})
        })
    }

    /// The type of the runtime that stands for a content type.
    fn encoding(&self, content_type: ContentType) -> syn::Ident {
        ident(match content_type {
            ContentType::Json => "ApplicationJson",
            ContentType::Text if self.little_endian => "LittleEndian",
            ContentType::Text => "TextPlain",
            ContentType::Binary => "XBinary",
        })
    }
}
