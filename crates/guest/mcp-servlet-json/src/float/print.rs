//! Converts floats to the shortest text that reads as the same float.

use std::cmp::Ordering;

use super::big::Big;
use super::{F32, F64, Format};
use crate::write::{write_i64, write_raw};

/// Appends a JSON number, or `null` for infinities and NaN.
///
/// Numbers from 10¹⁶ and below 10⁻⁴ have an exponent. Other whole numbers end with `.0`.
///
/// ```
/// let mut out = String::new();
/// for value in [0.1 + 0.2, -2.0, 1e16, 2.5e-7, f64::NAN] {
///     mcp_servlet_json::write_f64(&mut out, value);
///     out.push(' ');
/// }
/// assert_eq!(out, "0.30000000000000004 -2.0 1e16 2.5e-7 null ");
/// ```
pub fn write_f64(out: &mut String, value: f64) {
    if !value.is_finite() {
        return write_raw(out, "null");
    }
    Decimal::of_f64(value).write_json(out);
}

/// Appends a JSON number, or `null` for infinities and NaN, as [`write_f64`] does.
pub fn write_f32(out: &mut String, value: f32) {
    if !value.is_finite() {
        return write_raw(out, "null");
    }
    Decimal::of_f32(value).write_json(out);
}

/// Appends a number as `Display` writes it: never with an exponent, whole numbers without a point.
///
/// ```
/// let mut out = String::new();
/// for value in [0.5, -2.0, 1e16, f64::NEG_INFINITY] {
///     mcp_servlet_json::write_plain_f64(&mut out, value);
///     out.push(' ');
/// }
/// assert_eq!(out, "0.5 -2 10000000000000000 -inf ");
/// ```
pub fn write_plain_f64(out: &mut String, value: f64) {
    if value.is_finite() {
        Decimal::of_f64(value).write_plain(out, "");
    } else {
        write_special(out, value.is_nan(), value < 0.0);
    }
}

/// Appends a number as `Display` writes it, as [`write_plain_f64`] does.
pub fn write_plain_f32(out: &mut String, value: f32) {
    if value.is_finite() {
        Decimal::of_f32(value).write_plain(out, "");
    } else {
        write_special(out, value.is_nan(), value < 0.0);
    }
}

fn write_special(out: &mut String, nan: bool, negative: bool) {
    let text = match (nan, negative) {
        (true, _) => "NaN",
        (false, true) => "-inf",
        (false, false) => "inf",
    };
    write_raw(out, text);
}

/// The maximum number of digits that a float needs.
const MAX_DIGITS: usize = 17;

/// A float as a decimal: `0.digits` times a power of ten.
struct Decimal {
    negative: bool,
    /// In ASCII; zeros from `length` on.
    digits: [u8; MAX_DIGITS],
    length: usize,
    exponent: i32,
}

impl Decimal {
    #[inline(never)]
    fn of_f64(value: f64) -> Self {
        let mut decimal = Self::zero(value.is_sign_negative());
        if value != 0.0 && !decimal.short(value.abs()) {
            decimal.shortest(value.abs().to_bits(), F64);
        }
        decimal
    }

    fn of_f32(value: f32) -> Self {
        let mut decimal = Self::zero(value.is_sign_negative());
        if value != 0.0 {
            decimal.shortest(value.abs().to_bits().into(), F32);
        }
        decimal
    }

    fn zero(negative: bool) -> Self {
        Self {
            negative,
            digits: [b'0'; MAX_DIGITS],
            length: 1,
            exponent: 1,
        }
    }

    /// Finds the digits of a value that has only a few. Returns whether it does.
    ///
    /// Below 2⁵⁰ a product of floats differs by less than one half from the exact product. So if any decimal with this
    /// number of places reads as the value, it is the one that is tried, and it is the only one.
    fn short(&mut self, value: f64) -> bool {
        let mut power = 1.0;
        for places in 0..=22 {
            let scaled = value * power + 0.5;
            if scaled >= (1_u64 << 50) as f64 {
                return false;
            }
            let digits = scaled as u64;
            if digits as f64 / power == value {
                self.set(digits, places);
                return true;
            }
            power *= 10.0;
        }
        false
    }

    /// Sets the digits and the exponent of a number with this many decimal places.
    fn set(&mut self, mut number: u64, places: i32) {
        // Trailing zeros of a whole number are not part of the shortest digits.
        let mut dropped = 0;
        while number % 10 == 0 {
            number /= 10;
            dropped += 1;
        }
        let mut reversed = [0; MAX_DIGITS];
        let mut length = 0;
        for slot in &mut reversed {
            if number == 0 {
                break;
            }
            *slot = b'0' + (number % 10) as u8;
            number /= 10;
            length += 1;
        }
        let digits = reversed.iter().take(length).rev();
        for (digit, slot) in digits.zip(&mut self.digits) {
            *slot = *digit;
        }
        self.length = length;
        self.exponent = length as i32 + dropped - places;
    }

    /// Finds the digits of any number with the algorithm of Steele and White (1990), known as Dragon4.
    #[inline(never)]
    fn shortest(&mut self, bits: u64, format: Format) {
        let (mut scaled, exponent) = Scaled::new(bits, format);
        self.exponent = exponent;
        self.length = 0;
        loop {
            let digit = scaled.value.divide(&scaled.one);
            self.push(digit);
            let (down, up) = (scaled.reaches_below(), scaled.reaches_above());
            if down || up {
                scaled.value.multiply(2, 0);
                if up && (!down || scaled.value.compare(&scaled.one) != Ordering::Less) {
                    self.round_up();
                }
                return;
            }
            scaled.multiply_by_ten();
        }
    }

    fn push(&mut self, digit: u8) {
        if let Some(slot) = self.digits.get_mut(self.length) {
            *slot = b'0' + digit;
            self.length += 1;
        }
    }

    fn round_up(&mut self) {
        for slot in self.digits.iter_mut().take(self.length).rev() {
            if *slot < b'9' {
                *slot += 1;
                return;
            }
            *slot = b'0';
            self.length -= 1;
        }
        // All digits were nines.
        self.push(1);
        self.exponent += 1;
    }

    fn write_json(&self, out: &mut String) {
        if (-3..=16).contains(&self.exponent) {
            return self.write_plain(out, ".0");
        }
        self.write_sign(out);
        write_raw(out, self.text(0, 1));
        if self.length > 1 {
            write_raw(out, ".");
            write_raw(out, self.text(1, self.length));
        }
        write_raw(out, "e");
        write_i64(out, i64::from(self.exponent) - 1);
    }

    /// Writes the number without an exponent; `end` follows whole numbers.
    #[inline(never)]
    fn write_plain(&self, out: &mut String, end: &str) {
        self.write_sign(out);
        let point = usize::try_from(self.exponent).unwrap_or(0);
        write_raw(
            out,
            if point == 0 {
                "0"
            } else {
                self.text(0, point.min(self.length))
            },
        );
        write_zeros(out, point.saturating_sub(self.length));
        if point >= self.length {
            return write_raw(out, end);
        }
        write_raw(out, ".");
        write_zeros(out, usize::try_from(-self.exponent).unwrap_or(0));
        write_raw(out, self.text(point, self.length));
    }

    fn write_sign(&self, out: &mut String) {
        if self.negative {
            write_raw(out, "-");
        }
    }

    fn text(&self, start: usize, end: usize) -> &str {
        let digits = self.digits.get(start..end).unwrap_or_default();
        std::str::from_utf8(digits).unwrap_or_default()
    }
}

fn write_zeros(out: &mut String, count: usize) {
    for _ in 0..count {
        write_raw(out, "0");
    }
}

/// The rest of a value after some of its digits are written, in units of `1 / one`.
struct Scaled {
    value: Big,
    one: Big,
    /// Half the distance to the float below.
    below: Big,
    /// Half the distance to the float above, as a multiple of `below`.
    above: u32,
    /// Whether the mantissa is even: the midpoint between two floats reads as the one with the even mantissa.
    inclusive: bool,
}

impl Scaled {
    /// Scales a float so that its first digit is `value / one`, rounded down. Also returns the exponent of `0.digits`.
    fn new(bits: u64, format: Format) -> (Self, i32) {
        let stored = format.precision - 1;
        let fraction = bits & ((1 << stored) - 1);
        let biased = (bits >> stored) as i32;
        let mantissa = if biased > 0 {
            fraction | 1 << stored
        } else {
            fraction
        };
        // The float is the mantissa times two to this power.
        let exponent = biased.max(1) - 1 + format.min_exponent - stored;
        // Floats below a power of two are half as far apart as those above it.
        let above = if fraction == 0 && biased > 1 { 2 } else { 1 };
        let factor = u64::from(above) * 2;
        let mut scaled = Self {
            value: Big::new(mantissa * factor),
            one: Big::new(factor),
            below: Big::new(1),
            above,
            inclusive: mantissa % 2 == 0,
        };
        let power = exponent.unsigned_abs();
        if exponent < 0 {
            scaled.one.multiply_by_two_to(power);
        } else {
            scaled.value.multiply_by_two_to(power);
            scaled.below.multiply_by_two_to(power);
        }
        let ten = scaled.scale(64 - mantissa.leading_zeros() as i32 + exponent);
        (scaled, ten)
    }

    /// Divides by a power of ten and returns it. The value must be below two to the power `bits`.
    fn scale(&mut self, bits: i32) -> i32 {
        // The logarithm, rounded down: the power is this number or one more.
        let ten = ((i64::from(bits) * 1_292_913_986) >> 32) as i32;
        let power = ten.unsigned_abs();
        if ten < 0 {
            self.value.multiply_by_ten_to(power);
            self.below.multiply_by_ten_to(power);
        } else {
            self.one.multiply_by_ten_to(power);
        }
        // `divide` needs a highest limb of 28 bits.
        let shift = (28 - self.one.bits()).rem_euclid(32);
        for big in [&mut self.value, &mut self.below, &mut self.one] {
            big.multiply(1 << shift, 0);
        }
        if self.reaches_above() {
            return ten + 1;
        }
        self.multiply_by_ten();
        ten
    }

    fn multiply_by_ten(&mut self) {
        self.value.multiply(10, 0);
        self.below.multiply(10, 0);
    }

    /// Whether the rest is at most half the distance to the float below.
    fn reaches_below(&self) -> bool {
        let order = self.value.compare(&self.below);
        order == Ordering::Less || self.inclusive && order == Ordering::Equal
    }

    /// Whether the rest plus half the distance to the float above reaches one.
    fn reaches_above(&self) -> bool {
        let order = self.value.compare_with(&self.below, self.above, &self.one);
        order == Ordering::Greater || self.inclusive && order == Ordering::Equal
    }
}
