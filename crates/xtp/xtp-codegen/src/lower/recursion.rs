//! Aliases that contain themselves. Rust does not allow them, so they become structs with one field.

use crate::ir::{Kind, Module, Type, TypeDef, TypeId};

/// Turns an alias that leads back to itself into a newtype, if a Rust `type` cannot express it: if the path contains
/// only aliases, or no list or map that can end a value.
pub(super) fn close(module: &mut Module) {
    let is_alias = |def: &TypeDef| matches!(def.kind, Kind::Alias(_));
    let aliases: Vec<_> = module.types.iter().map(is_alias).collect();
    let through = |follows: &dyn Fn(&TypeDef, TypeId, bool) -> bool| {
        let edges = module.types.iter().map(|def| {
            targets(&def.kind)
                .into_iter()
                .filter(|(target, is_direct)| follows(def, *target, *is_direct))
                .map(|(TypeId(id), _)| id)
                .collect()
        });
        on_circles(&edges.collect::<Vec<_>>())
    };
    let named = through(&|def, TypeId(target), _| is_alias(def) && aliases[target]);
    let direct = through(&|_, _, is_direct| is_direct);
    for (index, def) in module.types.iter_mut().enumerate() {
        if let Kind::Alias(item) = &def.kind
            && (named[index] || direct[index])
        {
            def.kind = Kind::Newtype(item.clone());
        }
    }
}

/// The types that a type consists of, and whether directly, outside of lists and maps.
pub(crate) fn targets(kind: &Kind) -> Vec<(TypeId, bool)> {
    let direct = |ty| target(ty, true);
    match kind {
        Kind::Union(union) => union
            .members
            .iter()
            .filter_map(|(_, ty)| direct(ty))
            .collect(),
        Kind::Struct(def) => {
            let fields = def
                .fields
                .iter()
                .filter_map(|field| direct(&field.value.ty));
            // Further properties are a map.
            let extra = def
                .extra
                .iter()
                .filter_map(|(_, item)| target(&item.ty, false));
            fields.chain(extra).collect()
        }
        Kind::Alias(item) | Kind::Newtype(item) => direct(&item.ty).into_iter().collect(),
        Kind::Enum(_) => Vec::new(),
    }
}

/// The type definition that values consist of, at any depth of lists and maps.
fn target(ty: &Type, is_direct: bool) -> Option<(TypeId, bool)> {
    match ty {
        Type::Named(id) => Some((*id, is_direct)),
        Type::List(item) | Type::Map(item) => target(&item.ty, false),
        Type::Scalar(_) | Type::FreeForm | Type::Any => None,
    }
}

/// Which nodes of a graph lead back to themselves: those in a strongly connected component with another node, or with
/// an edge to themselves (Tarjan's algorithm, with a stack of its own).
fn on_circles(edges: &[Vec<usize>]) -> Vec<bool> {
    const UNSEEN: usize = usize::MAX;
    let mut order = vec![UNSEEN; edges.len()];
    let mut lowest = vec![UNSEEN; edges.len()];
    let mut is_open = vec![false; edges.len()];
    let mut found = vec![false; edges.len()];
    let (mut open, mut count) = (Vec::new(), 0);
    for start in 0..edges.len() {
        let mut way = Vec::new();
        if order[start] == UNSEEN {
            way.push((start, 0));
        }
        while let Some((node, next)) = way.last_mut() {
            let node = *node;
            if *next == 0 {
                (order[node], lowest[node]) = (count, count);
                count += 1;
                open.push(node);
                is_open[node] = true;
            }
            let edge = edges[node].get(*next).copied();
            *next += 1;
            if let Some(target) = edge {
                found[node] |= target == node;
                if order[target] == UNSEEN {
                    way.push((target, 0));
                } else if is_open[target] {
                    lowest[node] = lowest[node].min(order[target]);
                }
                continue;
            }
            way.pop();
            if let Some((parent, _)) = way.last() {
                lowest[*parent] = lowest[*parent].min(lowest[node]);
            }
            if lowest[node] == order[node] {
                let first = open.iter().rposition(|open| *open == node).unwrap_or(0);
                let is_circle = open.len() - first > 1;
                for member in open.drain(first..) {
                    is_open[member] = false;
                    found[member] |= is_circle;
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::on_circles;

    #[test]
    fn finds_recursive_types() {
        let graph = [
            vec![1],
            vec![2, 3],
            vec![1],
            vec![4],
            vec![],
            vec![5, 0],
            vec![3],
        ];
        let expected = [false, true, true, false, false, true, false];
        assert_eq!(on_circles(&graph), expected);
        let chain: Vec<_> = (0..100_000).map(|n| vec![(n + 1) % 100_000]).collect();
        assert!(on_circles(&chain).into_iter().all(|found| found));
    }
}
