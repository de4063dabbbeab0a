//! Types that are too complex where they are used. They get a name, so that clippy's `type_complexity` does not warn.

use crate::ir::{Item, Type};

/// The complexity that clippy allows: ten points for each type, times its depth in others.
const MAX_COMPLEXITY: usize = 250;
/// The types around a type: their points, and the depth inside them.
#[derive(Clone, Copy)]
pub(crate) struct Around(usize, usize);

/// `Option<Option<…>>`, which the type of a field can be.
pub(crate) const FIELD: Around = Around(30, 3);
/// `Result<…, Error>`, with an `Option` if the value may be null.
pub(crate) const PARAMETER: Around = Around(30, 2);

/// Whether a type is complex where it is used.
pub(crate) fn is_complex(item: &Item, Around(points, depth): Around) -> bool {
    let nullable = item.nullable && depth == PARAMETER.1;
    let option = if nullable { 10 * depth } else { 0 };
    points + option + score(&item.ty, depth + usize::from(nullable)) > MAX_COMPLEXITY
}

fn score(ty: &Type, depth: usize) -> usize {
    let own = 10 * depth;
    match ty {
        Type::Scalar(_) | Type::Any | Type::Named(_) => own,
        // By default, a map from strings to values.
        Type::FreeForm => own + 20 * (depth + 1),
        Type::List(item) => own + nullable(item, depth + 1),
        Type::Map(item) => own + 10 * (depth + 1) + nullable(item, depth + 1),
    }
}

/// The points of an item, with its `Option` if it may be null.
fn nullable(item: &Item, depth: usize) -> usize {
    if item.nullable {
        10 * depth + score(&item.ty, depth + 1)
    } else {
        score(&item.ty, depth)
    }
}
