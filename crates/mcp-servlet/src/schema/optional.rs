//! Whether a field may be left out, for types without a [`Schema`](super::Schema) to ask.

use std::marker::PhantomData;

/// Tells whether `T` is an `Option`: the constant of `Optional<Option<_>>` itself comes before the trait's.
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
