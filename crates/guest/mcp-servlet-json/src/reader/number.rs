//! Numbers: the grammar, integers and floats.
//!
//! Reading integers never calls the float parser, so a servlet without floats does not link it.

use super::{Kind, Reader, scan};
use crate::error::{Error, ErrorKind};
use crate::float::{exponent, parse_f32, parse_f64};

/// A number in the type that `deserialize_any` passes to the visitor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
}

/// The expected type in the error for a literal that is not an integer.
const INTEGER: &[&str] = &["an integer"];

impl<'de> Reader<'de> {
    /// Reads a number and returns its text.
    ///
    /// # Errors
    /// If anything else follows, or the number breaks the grammar.
    pub fn number(&mut self) -> Result<&'de str, Error> {
        self.begin_number()?;
        let start = self.at;
        self.at = scan::number(self.input, start)?;
        self.text(start, self.at)
    }

    /// Reads an integer that is not negative. As in JSON Schema, `12.0` and `1.2e1` are integers.
    ///
    /// # Errors
    /// If anything else follows, or the number is out of range.
    pub fn unsigned(&mut self) -> Result<u64, Error> {
        match self.integer()? {
            (false, value) => Ok(value),
            (true, _) => Err(self.out_of_range()),
        }
    }

    /// Reads an integer. As in JSON Schema, `12.0` and `1.2e1` are integers.
    ///
    /// # Errors
    /// If anything else follows, or the number is out of range.
    pub fn signed(&mut self) -> Result<i64, Error> {
        let (negative, value) = self.integer()?;
        match i64::try_from(value) {
            _ if negative => Ok(0_i64.wrapping_sub_unsigned(value)),
            Ok(value) => Ok(value),
            Err(_) => Err(self.out_of_range()),
        }
    }

    /// Reads a number as the nearest float.
    ///
    /// # Errors
    /// If anything else follows, or the number is out of range.
    pub fn float(&mut self) -> Result<f64, Error> {
        let value = parse_f64(self.number()?);
        if value.is_infinite() {
            return Err(self.out_of_range());
        }
        Ok(value)
    }

    /// Reads a number as the nearest single-precision float.
    pub(crate) fn single_float(&mut self) -> Result<f32, Error> {
        let value = parse_f32(self.number()?);
        if value.is_infinite() {
            return Err(self.out_of_range());
        }
        Ok(value)
    }

    /// Reads an integer: whether it is below zero, and its absolute value. A negative integer fits in an `i64`.
    #[inline(never)]
    pub(crate) fn integer(&mut self) -> Result<(bool, u64), Error> {
        self.begin_number()?;
        let start = self.at;
        self.at = scan::number(self.input, start)?;
        let mut literal = self.input.get(start..self.at).unwrap_or_default();
        let negative = literal.first() == Some(&b'-');
        if negative {
            literal = literal.get(1..).unwrap_or_default();
        }
        let value = if let Some(value) = digits(literal) {
            value
        } else {
            self.respelled(literal, whole_u64(literal))?
        };
        match (negative, value) {
            (true, 0) if self.is_quoted() => Err(self.no_integer()),
            (true, 0x8000_0000_0000_0001..) => Err(self.out_of_range()),
            _ => Ok((negative && value > 0, value)),
        }
    }

    /// Reads an integer of up to 128 bits: whether it is below zero, and its absolute value.
    fn long_integer(&mut self) -> Result<(bool, u128), Error> {
        let literal = self.number()?;
        let absolute = literal.trim_start_matches('-');
        let negative = absolute.len() < literal.len();
        let value = match absolute.parse() {
            Ok(value) => value,
            Err(_) => self.respelled(absolute.as_bytes(), whole_u128(absolute.as_bytes()))?,
        };
        Ok((negative && value > 0, value))
    }

    /// Reads an integer of 128 bits that is not negative.
    pub(crate) fn long_unsigned(&mut self) -> Result<u128, Error> {
        match self.long_integer()? {
            (false, _) if self.is_quoted() && scan::byte(self.input, self.value) == b'-' => {
                Err(self.no_integer())
            }
            (false, value) => Ok(value),
            (true, _) => Err(self.out_of_range()),
        }
    }

    /// Reads an integer of 128 bits.
    pub(crate) fn long_signed(&mut self) -> Result<i128, Error> {
        let (negative, value) = self.long_integer()?;
        match i128::try_from(value) {
            Ok(value) if negative => Ok(-value),
            Ok(value) => Ok(value),
            Err(_) if negative && value == i128::MIN.unsigned_abs() => Ok(i128::MIN),
            Err(_) => Err(self.out_of_range()),
        }
    }

    /// Reads a number as an integer if it is one and fits, otherwise as a float. Only a float keeps the sign of `-0`.
    pub(crate) fn any_number(&mut self) -> Result<Number, Error> {
        let start = self.at;
        match self.integer() {
            Ok((true, value)) => Ok(Number::Signed(0_i64.wrapping_sub_unsigned(value))),
            Ok((false, value)) if value > 0 || scan::byte(self.input, self.value) != b'-' => {
                Ok(Number::Unsigned(value))
            }
            _ => {
                self.at = start;
                self.float().map(Number::Float)
            }
        }
    }

    /// The value of a literal that is not only digits, or is too large for its type.
    #[cold]
    #[inline(never)]
    fn respelled<T>(&self, literal: &[u8], whole: Whole<T>) -> Result<T, Error> {
        let is_text = self.is_quoted() && !literal.iter().all(u8::is_ascii_digit);
        match whole {
            Some(Some(value)) if !is_text => Ok(value),
            Some(None) if !is_text => Err(self.out_of_range()),
            _ => Err(self.no_integer()),
        }
    }

    /// Whether the number is in a key. Keys are strings, so only digits are integers there, as `propertyNames` says.
    fn is_quoted(&self) -> bool {
        let before = self.value.checked_sub(1);
        before.is_some_and(|at| scan::byte(self.input, at) == b'"')
    }

    #[cold]
    fn no_integer(&self) -> Error {
        Error::wrong_type(INTEGER, self.value)
    }

    /// The error for a number that does not fit the type.
    #[cold]
    pub(crate) fn out_of_range(&self) -> Error {
        Error::new(ErrorKind::NumberOutOfRange, self.value)
    }

    fn begin_number(&mut self) -> Result<(), Error> {
        let first = self.peek();
        self.expect(Kind::Number, first == b'-' || first.is_ascii_digit())
    }
}

/// The value of a literal that consists of digits, if it fits.
fn digits(literal: &[u8]) -> Option<u64> {
    // Not `checked_mul`, because it calls a 128-bit multiplication on wasm32.
    const LAST: u64 = u64::MAX / 10;
    let mut value = 0_u64;
    for &byte in literal {
        let digit = u64::from(byte.wrapping_sub(b'0'));
        if digit > 9 || value > LAST || (value == LAST && digit > u64::MAX % 10) {
            return None;
        }
        value = value * 10 + digit;
    }
    Some(value)
}

/// The value of a literal: the outer `None` if it is not an integer, the inner one if it does not fit the type.
type Whole<T> = Option<Option<T>>;

macro_rules! whole {
    ($($whole:ident $times_ten:ident $ty:ident;)*) => {$(
        /// The value of a literal without sign, with or without a point and an exponent: `1.50e2` is 150.
        ///
        /// Zeros are counted, and multiplied only when another digit follows: with the zeros after the point, the value
        /// may not fit.
        #[cold]
        #[inline(never)]
        fn $whole(literal: &[u8]) -> Whole<$ty> {
            let mut value = Some(0);
            let (mut zeros, mut power, mut decimals) = (0, 0, 0);
            for (at, &byte) in literal.iter().enumerate() {
                match byte {
                    b'.' => decimals = 1,
                    b'e' | b'E' => {
                        power += i64::from(exponent(literal.get(at + 1..).unwrap_or_default()));
                        break;
                    }
                    _ => {
                        zeros += 1;
                        power -= decimals;
                        if byte != b'0' {
                            let digit = $ty::from(byte - b'0');
                            value = $times_ten(value, zeros).and_then(|value| value.checked_add(digit));
                            zeros = 0;
                        }
                    }
                }
            }
            if value == Some(0) {
                return Some(value);
            }
            let power = power + zeros;
            (power >= 0).then(|| $times_ten(value, power))
        }

        /// Multiplies by ten this many times.
        #[cold]
        #[inline(never)]
        fn $times_ten(value: Option<$ty>, times: i64) -> Option<$ty> {
            let mut value = value?;
            if value > 0 {
                for _ in 0..times {
                    if value > $ty::MAX / 10 {
                        return None;
                    }
                    value *= 10;
                }
            }
            Some(value)
        }
    )*};
}

whole! {
    whole_u64 times_ten_u64 u64;
    whole_u128 times_ten_u128 u128;
}
