//! Integers and booleans as JSON in `const` evaluation, for defaults that are constants.

/// The JSON of a constant.
#[derive(Debug, Clone, Copy)]
pub struct Scalar {
    bytes: [u8; MAX_DIGITS],
    start: usize,
}

/// The length of `i64::MIN` and of `u64::MAX`.
const MAX_DIGITS: usize = 20;

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
    integers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

    /// A boolean.
    pub const fn bool(value: bool) -> Self {
        let json: &[u8] = if value { b"true" } else { b"false" };
        let mut scalar = Self::EMPTY;
        let mut rest = json.len();
        while rest > 0 {
            rest -= 1;
            scalar = scalar.after(json[rest]);
        }
        scalar
    }

    /// The JSON.
    pub const fn json(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.start).1) {
            Ok(json) => json,
            Err(_) => panic!("JSON of a scalar is ASCII"),
        }
    }

    const EMPTY: Self = Self {
        bytes: [0; MAX_DIGITS],
        start: MAX_DIGITS,
    };

    const fn integer(value: i128) -> Self {
        let mut rest = value.unsigned_abs();
        let mut scalar = Self::EMPTY;
        loop {
            scalar = scalar.after(b'0' + (rest % 10) as u8);
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if value < 0 {
            scalar.after(b'-')
        } else {
            scalar
        }
    }

    /// The same text after this character.
    const fn after(mut self, character: u8) -> Self {
        self.start -= 1;
        self.bytes[self.start] = character;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::Scalar;

    #[test]
    fn constants_are_json() {
        assert_eq!(Scalar::i64(i64::MIN).json(), "-9223372036854775808");
        assert_eq!(Scalar::u64(u64::MAX).json(), "18446744073709551615");
        assert_eq!(Scalar::i8(-10).json(), "-10");
        assert_eq!(Scalar::u8(0).json(), "0");
        assert_eq!(Scalar::bool(true).json(), "true");
        assert_eq!(Scalar::bool(false).json(), "false");
    }
}
