//! Numbers and booleans as JSON in `const` evaluation, for defaults that are constants.

mod float;

use self::float::{Decoded, Digits, MOST_DIGITS};

/// The JSON of a constant; empty if it has none.
#[derive(Debug, Clone, Copy)]
pub struct Scalar {
    bytes: [u8; LONGEST],
    length: usize,
}

const LONGEST: usize = 48;

macro_rules! integers {
    ($($ty:ident),*) => {
        $(
            /// An integer.
            pub const fn $ty(value: $ty) -> Self {
                Self::integer(value as i128)
            }
        )*
    };
}

impl Scalar {
    const EMPTY: Self = Self {
        bytes: [0; LONGEST],
        length: 0,
    };

    integers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

    /// A boolean.
    pub const fn bool(value: bool) -> Self {
        Self::EMPTY.text(if value { "true" } else { "false" })
    }

    /// A float; empty for infinity and NaN, which JSON cannot represent.
    pub const fn f64(value: f64) -> Self {
        if !value.is_finite() {
            return Self::EMPTY;
        }
        if value == 0.0 {
            return Self::zero(value.is_sign_negative());
        }
        Self::float(value.is_sign_negative(), Decoded::f64(value))
    }

    /// A single-precision float.
    pub const fn f32(value: f32) -> Self {
        if !value.is_finite() {
            return Self::EMPTY;
        }
        if value == 0.0 {
            return Self::zero(value.is_sign_negative());
        }
        Self::float(value.is_sign_negative(), Decoded::f32(value))
    }

    const fn zero(is_negative: bool) -> Self {
        Self::EMPTY.text(if is_negative { "-0.0" } else { "0.0" })
    }

    /// The JSON.
    pub const fn json(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(json) => json,
            Err(_) => "",
        }
    }

    const fn integer(value: i128) -> Self {
        let sign = if value < 0 { "-" } else { "" };
        Self::EMPTY.text(sign).natural(value.unsigned_abs())
    }

    /// The shortest number that reads as the value, as `mcp_servlet_json::write_f64` writes it; empty for infinity and NaN.
    const fn float(is_negative: bool, decoded: Decoded) -> Self {
        let Digits {
            digits,
            count,
            exponent,
        } = decoded.shortest();
        let text = Self::EMPTY.text(if is_negative { "-" } else { "" });
        if 0 < exponent && exponent <= 16 {
            let whole = exponent.unsigned_abs() as usize;
            let text = text.some(&digits, 0, whole).text(".");
            return text.some(
                &digits,
                whole,
                if count > whole { count } else { whole + 1 },
            );
        }
        if -4 < exponent && exponent <= 0 {
            let zeros = [0; MOST_DIGITS];
            let text = text
                .text("0.")
                .some(&zeros, 0, exponent.unsigned_abs() as usize);
            return text.some(&digits, 0, count);
        }
        let mut text = text.some(&digits, 0, 1);
        if count > 1 {
            text = text.text(".").some(&digits, 1, count);
        }
        let sign = if exponent < 1 { "-" } else { "" };
        text.text("e")
            .text(sign)
            .natural((exponent - 1).unsigned_abs() as u128)
    }

    /// Appends the digits from `start` to `end`, zeros after the last digit.
    const fn some(mut self, digits: &[u8; MOST_DIGITS], start: usize, end: usize) -> Self {
        let mut at = start;
        while at < end {
            let digit = if at < MOST_DIGITS { digits[at] } else { 0 };
            self.bytes[self.length] = b'0' + digit;
            self.length += 1;
            at += 1;
        }
        self
    }

    const fn text(mut self, text: &str) -> Self {
        let mut at = 0;
        while at < text.len() {
            self.bytes[self.length] = text.as_bytes()[at];
            self.length += 1;
            at += 1;
        }
        self
    }

    const fn natural(mut self, value: u128) -> Self {
        let mut count = 1;
        let mut rest = value / 10;
        while rest > 0 {
            rest /= 10;
            count += 1;
        }
        let mut rest = value;
        let mut at = self.length + count;
        while at > self.length {
            at -= 1;
            self.bytes[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        self.length += count;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::Scalar;

    #[test]
    fn constants_round_trip() {
        for value in [
            0.0,
            1.0,
            0.1,
            -0.25,
            0.3,
            1e15,
            123.456,
            4_503_599_627_370_495.0,
        ] {
            let scalar = Scalar::f64(value);
            assert_eq!(scalar.json().parse::<f64>(), Ok(value), "{}", scalar.json());
        }
        for value in [0.1_f32, 16_777_216.0, -1.5, 3.4] {
            let scalar = Scalar::f32(value);
            assert_eq!(scalar.json().parse::<f32>(), Ok(value), "{}", scalar.json());
        }
        for value in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(Scalar::f64(value).json(), "");
        }
        assert_eq!(Scalar::f32(f32::NAN).json(), "");
        assert_eq!(Scalar::i64(i64::MIN).json(), "-9223372036854775808");
        assert_eq!(Scalar::u64(u64::MAX).json(), "18446744073709551615");
        assert_eq!(Scalar::u8(0).json(), "0");
        assert_eq!(Scalar::bool(true).json(), "true");
    }

    #[test]
    fn floats_are_written_as_serde_json_writes_them() {
        let edges = [
            (0.1 + 0.2, "0.30000000000000004"),
            (1.0 / 3.0, "0.3333333333333333"),
            (core::f64::consts::PI, "3.141592653589793"),
            (100.0, "100.0"),
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (f64::MAX, "1.7976931348623157e308"),
            (f64::from_bits(1), "5e-324"),
            (1e15, "1000000000000000.0"),
            (9.99e15, "9990000000000000.0"),
            (1e16, "1e16"),
            (1e-4, "0.0001"),
            (9.99e-5, "9.99e-5"),
            (1e-5, "1e-5"),
        ];
        for (value, json) in edges {
            assert_eq!(written(value), json, "the other writer");
            assert_eq!(Scalar::f64(value).json(), json);
        }
        // Each power of two is a boundary; the other values are spread over all bits.
        let powers = (1..2047_u64).step_by(5).map(|exponent| exponent << 52);
        let others = (1..2000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for value in powers
            .chain(others)
            .map(f64::from_bits)
            .filter(|value| value.is_finite())
        {
            let json = Scalar::f64(value);
            assert_eq!(json.json().parse(), Ok(value));
            assert_eq!(json.json(), written(value));
        }
        let others = (1..5000_u32).map(|n| n.wrapping_mul(0x9e37_79b9));
        for value in others.map(f32::from_bits).filter(|value| value.is_finite()) {
            let (json, mut expected) = (Scalar::f32(value), String::new());
            mcp_servlet_json::write_f32(&mut expected, value);
            assert_eq!(json.json().parse(), Ok(value));
            assert_eq!(json.json(), expected);
        }
    }

    /// The text of the writer that is not `const`.
    fn written(value: f64) -> String {
        let mut json = String::new();
        mcp_servlet_json::write_f64(&mut json, value);
        json
    }
}
