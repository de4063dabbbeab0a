//! Aliases that contain themselves. Rust has none, so they become structs of one field.

use std::collections::BTreeSet;

use crate::ir::{Kind, Module, Type, TypeId};

/// Turns each alias that leads back to itself into a newtype.
pub(super) fn close(module: &mut Module) {
    for index in 0..module.types.len() {
        let Kind::Alias(item) = &module.types[index].kind else {
            continue;
        };
        if contains_itself(module, TypeId(index)) {
            module.types[index].kind = Kind::Newtype(item.clone());
        }
    }
}

fn contains_itself(module: &Module, id: TypeId) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = targets(&module.get(id).kind);
    while let Some(next) = open.pop() {
        if next == id {
            return true;
        }
        if seen.insert(next) {
            open.extend(targets(&module.get(next).kind));
        }
    }
    false
}

/// The types that a type consists of.
fn targets(kind: &Kind) -> Vec<TypeId> {
    if let Kind::Union(union) = kind {
        return union.members.iter().map(|(_, id)| *id).collect();
    }
    let items = kind.items().into_iter();
    items.filter_map(|item| target(&item.ty)).collect()
}

/// The type definition that values consist of, however deep in lists and maps.
fn target(ty: &Type) -> Option<TypeId> {
    match ty {
        Type::Named(id) => Some(*id),
        Type::List(item) | Type::Map(item) => target(&item.ty),
        Type::Scalar(_) | Type::FreeForm | Type::Any => None,
    }
}
