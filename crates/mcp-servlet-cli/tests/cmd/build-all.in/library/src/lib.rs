//! A crate that is no servlet.

pub const OK: i32 = 0;
