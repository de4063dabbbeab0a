//! Short paths where no type of the schema has the same name, and the types chosen for JSON
//! that the schema leaves open.

use std::collections::BTreeSet;

use syn::visit_mut::{self, VisitMut};
use syn::{Type, parse_quote};

use crate::ir::TypeDef;

/// The types of the prelude that generated code names.
const PRELUDE: [(&str, &str); 4] = [
    ("Into", "::core::convert::Into"),
    ("Option", "::std::option::Option"),
    ("String", "::std::string::String"),
    ("Vec", "::std::vec::Vec"),
];

/// How types outside of the generated code are spelt in it.
#[derive(Debug)]
pub(crate) struct Paths {
    shadowed: BTreeSet<String>,
    free_form: Type,
    any: Type,
}

impl Paths {
    pub(crate) fn new(types: &[TypeDef], free_form: Type, any: Type) -> Self {
        let names = types.iter().map(|def| def.name.rust.clone());
        Self {
            shadowed: names.collect(),
            free_form,
            any,
        }
    }

    /// The spelling of a type of the prelude, as a string for serde's attributes.
    pub(crate) fn prelude(&self, short: &str) -> String {
        let long = PRELUDE.iter().find(|(name, _)| *name == short);
        match long {
            Some((_, long)) if self.shadowed.contains(short) => (*long).to_owned(),
            Some(_) | None => short.to_owned(),
        }
    }

    /// The same as tokens.
    pub(crate) fn prelude_path(&self, short: &str) -> syn::Path {
        let spelt = self.prelude(short);
        syn::parse_str(&spelt).expect("the paths of the prelude are Rust")
    }

    /// Respells a type that typify wrote.
    pub(crate) fn respell(&mut self, mut ty: Type) -> Type {
        self.visit_type_mut(&mut ty);
        ty
    }
}

impl VisitMut for Paths {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Path(path) = ty {
            match joined(&path.path).as_str() {
                "::serde_json::Map" => {
                    *ty = self.free_form.clone();
                    return;
                }
                "::serde_json::Value" => {
                    *ty = self.any.clone();
                    return;
                }
                _ => {}
            }
        }
        visit_mut::visit_type_mut(self, ty);
    }

    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        visit_mut::visit_path_mut(self, path);
        let long = joined(path);
        let known = PRELUDE.iter().find(|(_, known)| *known == long);
        let Some((short, _)) = known.filter(|(short, _)| !self.shadowed.contains(*short)) else {
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
pub(crate) fn joined(path: &syn::Path) -> String {
    let segments: Vec<_> = path.segments.iter().map(|s| s.ident.to_string()).collect();
    let leading = path.leading_colon.map_or("", |_| "::");
    format!("{leading}{}", segments.join("::"))
}
