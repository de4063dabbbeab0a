//! Arguments of types that implement `schemars::JsonSchema`.

use super::{Argument, FromJson, Whole};
use crate::schema::schemars_types::{Described, Schemars};
use crate::schema::{Property, Schema};

/// A parameter of type `T` with `#[arg(schemars)]`; `optional` if it is an `Option`.
pub const fn schemars_argument<T: Described + FromJson>(
    name: &'static str,
    description: &'static str,
    optional: bool,
) -> Argument<T> {
    let node = <Schemars<T> as Schema>::NODE;
    Argument::new(Property::with_node(name, description, node, optional))
}

/// A parameter of type `T` with `#[arg(flatten, schemars)]`, which takes all arguments.
pub const fn schemars_whole<T: Described + FromJson>() -> Whole<T> {
    Whole::new(*<Schemars<T> as Schema>::NODE)
}
