//! A crate that is not a servlet.

pub const OK: i32 = 0;
