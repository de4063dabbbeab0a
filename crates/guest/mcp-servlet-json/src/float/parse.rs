//! Converts decimal text to the nearest float.

use std::cmp::Ordering;

use super::big::Big;
use super::{F32, F64, Format};

/// The number of digits that are used. Of the digits after them, it matters only whether any is not zero.
///
/// The midpoint between two adjacent floats never has more digits.
const MAX_DIGITS: usize = 770;

/// A parsed literal: its digits, as a number, times a power of ten.
struct Decimal<'a> {
    negative: bool,
    integer: &'a [u8],
    fraction: &'a [u8],
    exponent: i32,
}

/// The float nearest to a literal that keeps JSON's grammar; infinite if it is too large.
pub(crate) fn parse_f64(literal: &str) -> f64 {
    let decimal = Decimal::parse(literal.as_bytes());
    let value = match decimal.short() {
        Some(value) => value,
        None => f64::from_bits(decimal.nearest(F64)),
    };
    if decimal.negative { -value } else { value }
}

/// The same in single precision.
pub(crate) fn parse_f32(literal: &str) -> f32 {
    let decimal = Decimal::parse(literal.as_bytes());
    let value = f32::from_bits(decimal.nearest(F32) as u32);
    if decimal.negative { -value } else { value }
}

impl<'a> Decimal<'a> {
    fn parse(literal: &'a [u8]) -> Self {
        let (negative, literal) = match literal {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, literal),
        };
        let mut parts = literal.splitn(2, |byte| byte | 0x20 == b'e');
        let mantissa = parts.next().unwrap_or_default();
        let exponent = parts.next().map_or(0, exponent);
        let mut parts = mantissa.splitn(2, |&byte| byte == b'.');
        Self {
            negative,
            integer: parts.next().unwrap_or_default(),
            fraction: parts.next().unwrap_or_default(),
            exponent,
        }
    }

    /// The digits without leading zeros.
    fn digits(&self) -> impl Iterator<Item = u8> {
        let digits = self.integer.iter().chain(self.fraction);
        digits
            .skip_while(|&&digit| digit == b'0')
            .map(|digit| digit - b'0')
    }

    /// The power of ten that all digits, as an integer, are multiplied by.
    fn scale(&self) -> i64 {
        i64::from(self.exponent) - self.fraction.len() as i64
    }

    /// The value, if both the digits and the power of ten are exact floats: then a single operation rounds only once.
    fn short(&self) -> Option<f64> {
        let scale = self.scale();
        if !(-22..=22).contains(&scale) {
            return None;
        }
        let mut value = 0_u64;
        for digit in self.digits() {
            value = value * 10 + u64::from(digit);
            if value > 1 << 53 {
                return None;
            }
        }
        let mut power = 1.0;
        for _ in 0..scale.unsigned_abs() {
            power *= 10.0;
        }
        let value = value as f64;
        Some(if scale < 0 {
            value / power
        } else {
            value * power
        })
    }

    /// The bits of the nearest float, without the sign.
    #[inline(never)]
    fn nearest(&self, format: Format) -> u64 {
        let infinity = format.infinity();
        let mut digits = Big::new(0);
        let mut count = 0;
        let mut rest = 0;
        for digit in self.digits() {
            if count < MAX_DIGITS {
                digits.multiply(10, digit.into());
            } else {
                rest |= digit;
            }
            count += 1;
        }
        let mut scale = self.scale();
        // The value is below ten to this power.
        let magnitude = scale + count as i64;
        if digits.bits() == 0 || magnitude < -330 {
            return 0;
        }
        if magnitude > 310 {
            return infinity;
        }
        scale += count.saturating_sub(MAX_DIGITS) as i64;
        if rest > 0 {
            digits.multiply(10, 1);
            scale -= 1;
        }
        let mut one = Big::new(1);
        let larger = if scale < 0 { &mut one } else { &mut digits };
        larger.multiply_by_ten_to(scale.unsigned_abs() as u32);
        round(digits, one, format).min(infinity)
    }
}

/// The bits of the float nearest to a quotient.
fn round(mut value: Big, mut one: Big, format: Format) -> u64 {
    // First scale so that `one <= value < 2 * one`, then find one bit after the other.
    let mut exponent = value.bits() - one.bits();
    let smaller = if exponent < 0 { &mut value } else { &mut one };
    smaller.multiply_by_two_to(exponent.unsigned_abs());
    if value.compare(&one) == Ordering::Less {
        value.multiply(2, 0);
        exponent -= 1;
    }
    let lost = (format.min_exponent - exponent).max(0);
    if lost > format.precision {
        return 0;
    }
    let mut mantissa = 0_u64;
    for _ in lost..format.precision {
        mantissa *= 2;
        if value.compare(&one) != Ordering::Less {
            value.subtract(&one, 1);
            mantissa += 1;
        }
        value.multiply(2, 0);
    }
    let up = match value.compare(&one) {
        Ordering::Less => 0,
        Ordering::Equal => mantissa & 1,
        Ordering::Greater => 1,
    };
    // The highest bit of the mantissa is not stored: the addition carries it into the exponent, as it does a carry from
    // rounding.
    let exponent = (exponent - format.min_exponent).max(0) as u64;
    (exponent << (format.precision - 1)) + mantissa + up
}

/// The number in an exponent, capped at one that is beyond every float.
pub(crate) fn exponent(text: &[u8]) -> i32 {
    let mut value = 0;
    for digit in text.iter().filter(|byte| byte.is_ascii_digit()) {
        value = (value * 10 + i32::from(digit - b'0')).min(1 << 24);
    }
    if text.first() == Some(&b'-') {
        -value
    } else {
        value
    }
}
