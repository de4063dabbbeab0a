//! Numbers: the grammar, the integers, and apart from them the floats.
//!
//! What parses a float is called by nothing that reads integers, so a servlet without floats does not link it.

use super::{Kind, Reader, scan};
use crate::error::{Error, ErrorKind};
use crate::float::{parse_f32, parse_f64};

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

    /// Reads an integer that is not negative.
    ///
    /// # Errors
    /// If anything else comes, or the number is out of range.
    pub fn unsigned(&mut self) -> Result<u64, Error> {
        match self.integer()? {
            (false, value) => Ok(value),
            (true, _) => Err(self.out_of_range()),
        }
    }

    /// Reads an integer.
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

    /// Reads an integer: whether it is negative, and its absolute value, which then fits an `i64` with the sign.
    ///
    /// `-0` is not one, as in `serde_json`: only a float keeps its sign.
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
        let value = match digits(literal) {
            Some(value) => value,
            None if literal.iter().all(u8::is_ascii_digit) => return Err(self.out_of_range()),
            None => return Err(Error::wrong_type(INTEGER, start)),
        };
        match (negative, value) {
            (true, 0) => Err(Error::wrong_type(INTEGER, start)),
            (true, 0x8000_0000_0000_0001..) => Err(self.out_of_range()),
            found => Ok(found),
        }
    }

    /// Reads a number as an integer if it is one that fits, else as a float.
    pub(crate) fn any_number(&mut self) -> Result<Number, Error> {
        let start = self.at;
        match self.integer() {
            Ok((false, value)) => Ok(Number::Unsigned(value)),
            Ok((true, value)) => Ok(Number::Signed(0_i64.wrapping_sub_unsigned(value))),
            Err(_) => {
                self.at = start;
                self.float().map(Number::Float)
            }
        }
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
