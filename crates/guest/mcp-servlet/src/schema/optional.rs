//! Tells whether a field is optional, for types without a [`Schema`](super::Schema).

use std::marker::PhantomData;

/// Whether `T` is an `Option`: the inherent constant of `Optional<Option<_>>` takes precedence over the trait's.
#[derive(Debug)]
pub struct Optional<T>(PhantomData<T>);

impl<T> Optional<Option<T>> {
    /// It is.
    pub const IS: bool = true;
}

/// See [`Optional`].
pub trait NotOptional {
    /// It is not.
    const IS: bool = false;
}

impl<T> NotOptional for Optional<T> {}
