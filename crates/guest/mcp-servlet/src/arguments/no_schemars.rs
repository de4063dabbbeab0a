//! Replaces the feature `schemars` when it is off, so that the compiler's error names it.

use super::{Argument, Whole};

/// A type with `#[arg(schemars)]`, which no type can have without the feature.
#[diagnostic::on_unimplemented(
    message = "`#[arg(schemars)]` needs the feature `schemars` of `mcp-servlet`",
    label = "a schema of schemars",
    note = "turn it on in Cargo.toml: `features = [\"schemars\"]` of the dependency `mcp-servlet`"
)]
pub trait FeatureSchemars {}

/// A parameter with `#[arg(schemars)]`.
pub const fn schemars_argument<T: FeatureSchemars>(
    _: &'static str,
    _: &'static str,
    _: bool,
) -> Argument<T> {
    panic!("no type has the feature")
}

/// A parameter with `#[arg(flatten, schemars)]`.
pub const fn schemars_whole<T: FeatureSchemars>() -> Whole<T> {
    panic!("no type has the feature")
}
