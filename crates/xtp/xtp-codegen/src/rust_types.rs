//! The Rust type of each type of a schema.

use syn::visit_mut::{self, VisitMut};
use syn::{Type, parse_quote};

use crate::ir::Module;
use crate::json_schema::{self, Leaf, Slot, TYPE};
use crate::options::Types;
use crate::typify;

/// The Rust types of all slots.
#[derive(Debug)]
pub(crate) struct RustTypes {
    types: typify::Types,
}

impl RustTypes {
    /// Lets typify find the types of a module, and replaces its names.
    ///
    /// # Errors
    /// If typify fails, which is a bug of the generator.
    pub(crate) fn find(module: &Module, outside: &Types) -> Result<Self, typify::Failure> {
        let definitions = json_schema::definitions(module, outside.byte);
        let mut types = typify::types(definitions, &json_schema::leaves(module))?;
        let mut rename = Rename { module, outside };
        for ty in types.values_mut() {
            rename.visit_type_mut(ty);
        }
        Ok(Self { types })
    }

    /// The type of a slot. The tests of all goldens check that typify leaves none out.
    ///
    /// # Errors
    /// With the name of the slot.
    pub(crate) fn get(&self, slot: Slot) -> Result<&Type, Missing> {
        let address = slot.address();
        self.types.get(&address).ok_or(Missing { address })
    }
}

/// typify did not generate a requested type.
#[derive(Debug, thiserror::Error)]
#[error("typify generated no `{}.{}`", address.0, address.1)]
pub(crate) struct Missing {
    address: (String, String),
}

/// The types of the prelude that generated code names. No type of a schema has such a name.
const PRELUDE: [(&str, &str); 4] = [
    ("Box", "::std::boxed::Box"),
    ("Option", "::std::option::Option"),
    ("String", "::std::string::String"),
    ("Vec", "::std::vec::Vec"),
];

struct Rename<'a> {
    module: &'a Module,
    outside: &'a Types,
}

impl Rename<'_> {
    /// The replacement of a type of typify's; `None` if it stays.
    fn replacement(&self, path: &str) -> Option<Type> {
        let named = path.strip_prefix(TYPE).and_then(|id| id.parse().ok());
        if let Some(def) = named.and_then(|id: usize| self.module.types.get(id)) {
            let ident = syn::Ident::new(&def.name.rust, proc_macro2::Span::call_site());
            return Some(parse_quote!(#ident));
        }
        match path {
            "::serde_json::Map" => Some(self.outside.free_form.clone()),
            "::serde_json::Value" => Some(self.outside.any_json.clone()),
            _ if path == Leaf::Bytes.format() => Some(self.outside.bytes.clone()),
            _ if path == Leaf::DateTime.format() => Some(self.outside.date_time.clone()),
            _ => None,
        }
    }
}

impl VisitMut for Rename<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Path(path) = ty
            && let Some(replacement) = self.replacement(&joined(&path.path))
        {
            *ty = replacement;
            return;
        }
        visit_mut::visit_type_mut(self, ty);
    }

    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        visit_mut::visit_path_mut(self, path);
        let long = joined(path);
        let Some((short, _)) = PRELUDE.iter().find(|(_, known)| *known == long) else {
            return;
        };
        let Some(mut last) = path.segments.pop() else {
            return;
        };
        last.ident = syn::Ident::new(short, last.ident.span());
        *path = parse_quote!(#last);
    }
}

/// A path without its generic arguments.
fn joined(path: &syn::Path) -> String {
    let segments: Vec<_> = path.segments.iter().map(|s| s.ident.to_string()).collect();
    let leading = path.leading_colon.map_or("", |_| "::");
    format!("{leading}{}", segments.join("::"))
}
