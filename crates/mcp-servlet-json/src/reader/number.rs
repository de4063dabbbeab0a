//! Numbers: the grammar, the integers, and apart from them the floats.
//!
//! What parses a float is called by nothing that reads integers, so a servlet without floats does not link it.

use std::str::FromStr;

use super::{Kind, Reader, scan};
use crate::error::{Error, ErrorKind};
use crate::float::{exponent, parse_f32, parse_f64};

/// A number in the type in which `deserialize_any` hands it over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
}

/// What an integer target is told about a literal that is no integer.
const INTEGER: &[&str] = &["an integer"];

impl<'de> Reader<'de> {
    /// Reads a number and returns it as it is written.
    ///
    /// # Errors
    /// If anything else comes, or the number breaks the grammar.
    pub fn number(&mut self) -> Result<&'de str, Error> {
        self.begin_number()?;
        let start = self.at;
        self.at = scan::number(self.input, start)?;
        self.text(start, self.at)
    }

    /// Reads an integer that is not negative. As in JSON Schema, `12.0` and `1.2e1` are integers.
    ///
    /// # Errors
    /// If anything else comes, or the number is out of range.
    pub fn unsigned(&mut self) -> Result<u64, Error> {
        match self.integer()? {
            (false, value) => Ok(value),
            (true, _) => Err(self.out_of_range()),
        }
    }

    /// Reads an integer. As in JSON Schema, `12.0` and `1.2e1` are integers.
    ///
    /// # Errors
    /// If anything else comes, or the number is out of range.
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
    /// If anything else comes, or the number is out of range.
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

    /// Reads an integer: whether it is below zero, and its absolute value, which then fits an `i64` with the sign.
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
            let digits_only = self.digits_only(literal)?;
            digits(&digits_only).ok_or_else(|| self.out_of_range())?
        };
        match (negative, value) {
            (true, 0) if self.is_quoted() => Err(self.no_integer()),
            (true, 0x8000_0000_0000_0001..) => Err(self.out_of_range()),
            _ => Ok((negative && value > 0, value)),
        }
    }

    /// Reads an integer into a type of 128 bits.
    pub(crate) fn long_integer<T: FromStr>(&mut self) -> Result<T, Error> {
        let literal = self.number()?;
        if let Ok(value) = literal.parse() {
            return Ok(value);
        }
        let absolute = literal.trim_start_matches('-');
        let mut text = self.digits_only(absolute.as_bytes())?;
        if absolute.len() < literal.len() && text != b"0" {
            text.insert(0, b'-');
        }
        let value = std::str::from_utf8(&text).ok().map(str::parse);
        value
            .and_then(Result::ok)
            .ok_or_else(|| self.out_of_range())
    }

    /// Reads a number as an integer if it is one that fits, else as a float. Only a float keeps the sign of `-0`.
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

    /// The digits of an integer that is written with a point or an exponent, or is too large for 64 bits.
    #[cold]
    #[inline(never)]
    fn digits_only(&self, literal: &[u8]) -> Result<Vec<u8>, Error> {
        match whole(literal) {
            Some(digits) if digits == literal || !self.is_quoted() => Ok(digits),
            _ => Err(self.no_integer()),
        }
    }

    /// Whether the number is a key. Keys are text, so an integer is written as digits there, as `propertyNames` says.
    fn is_quoted(&self) -> bool {
        let before = self.value.checked_sub(1);
        before.is_some_and(|at| scan::byte(self.input, at) == b'"')
    }

    #[cold]
    fn no_integer(&self) -> Error {
        Error::wrong_type(INTEGER, self.value)
    }

    /// The number that was read does not fit.
    #[cold]
    pub(crate) fn out_of_range(&self) -> Error {
        Error::new(ErrorKind::NumberOutOfRange, self.value)
    }

    fn begin_number(&mut self) -> Result<(), Error> {
        let first = self.peek();
        self.expect(Kind::Number, first == b'-' || first.is_ascii_digit())
    }
}

/// The value of a literal of digits only, if it fits.
fn digits(literal: &[u8]) -> Option<u64> {
    // `checked_mul` would do, but on wasm32 it calls a 128-bit multiplication.
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

/// More digits than any integer type has.
const LONGEST: usize = 40;

/// A literal without its point and its exponent, if that leaves an integer: `1.50e2` is `150`.
fn whole(literal: &[u8]) -> Option<Vec<u8>> {
    let end = literal.iter().position(|byte| byte | 0x20 == b'e');
    let (mantissa, power) = literal.split_at(end.unwrap_or(literal.len()));
    // Of the ten that the digits count in the end.
    let mut power = i64::from(exponent(power.get(1..).unwrap_or_default()));
    let mut digits = Vec::new();
    let mut step = 0;
    for &byte in mantissa {
        if byte == b'.' {
            step = 1;
            continue;
        }
        power -= step;
        if byte != b'0' || !digits.is_empty() {
            digits.push(byte);
        }
    }
    while power < 0 && digits.last() == Some(&b'0') {
        digits.pop();
        power += 1;
    }
    if digits.is_empty() {
        return Some(vec![b'0']);
    }
    let zeros = usize::try_from(power).ok()?;
    digits.resize(digits.len() + zeros.min(LONGEST), b'0');
    Some(digits)
}
