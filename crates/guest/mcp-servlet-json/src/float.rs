//! Exact conversion between floats and decimal text in little code.
//!
//! The code in `core` takes 20 KB for each direction, mostly tables. This module converts short decimals, the usual
//! case, by one multiplication or division that is known to be exact. For all others it uses integers of any size,
//! which is slower than tables and always exact: a decimal is read as the nearest float, and a float is written as the
//! shortest text that reads as the same float.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "limbs are half words, lengths and exponents are small, and floats are compared exactly on purpose"
)]

mod big;
mod parse;
mod print;
#[cfg(test)]
mod tests;

pub(crate) use parse::{exponent, parse_f32, parse_f64};
pub use print::{write_f32, write_f64, write_plain_f32, write_plain_f64};

/// The binary format of a float type.
#[derive(Clone, Copy)]
struct Format {
    /// The bits of the mantissa, including the one that is not stored.
    precision: i32,
    /// The exponent of the smallest normal float, if its mantissa is from one to two.
    min_exponent: i32,
}

impl Format {
    /// The bits of infinity: all bits of the exponent are set.
    fn infinity(self) -> u64 {
        let exponent = u64::from(self.min_exponent.unsigned_abs() * 2 + 3);
        exponent << (self.precision - 1)
    }
}

const F64: Format = Format {
    precision: 53,
    min_exponent: -1022,
};

const F32: Format = Format {
    precision: 24,
    min_exponent: -126,
};
