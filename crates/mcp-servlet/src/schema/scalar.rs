//! Numbers and booleans as JSON in `const` evaluation, for defaults that are constants.

/// The JSON of a constant; empty if it has none, or none that is short.
#[derive(Debug, Clone, Copy)]
pub struct Scalar {
    bytes: [u8; LONGEST],
    length: usize,
}

const LONGEST: usize = 48;

/// Up to here, half of an integer is a float too, so that adding it rounds.
const EXACT: f64 = 4_503_599_627_370_496.0;

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

    /// A float that a few decimals tell exactly.
    pub const fn f64(value: f64) -> Self {
        Self::float(value, false)
    }

    /// The same in single precision.
    pub const fn f32(value: f32) -> Self {
        Self::float(value as f64, true)
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
        Self::EMPTY.text(sign).digits(value.unsigned_abs(), 1)
    }

    /// Tries more and more decimals, until they read as the value.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        clippy::float_cmp,
        reason = "what is not exact is not taken"
    )]
    const fn float(value: f64, single: bool) -> Self {
        let absolute = value.abs();
        let (mut power, mut decimals) = (1.0, 0);
        while absolute * power < EXACT && decimals <= 17 {
            let scaled = (absolute * power + 0.5) as u64;
            let read = scaled as f64 / power;
            if read == absolute || (single && read as f32 == absolute as f32) {
                let whole = scaled / power as u64;
                let fraction = scaled % power as u64;
                let sign = if value.is_sign_negative() { "-" } else { "" };
                let text = Self::EMPTY.text(sign).digits(whole as u128, 1).text(".");
                let least = if decimals == 0 { 1 } else { decimals };
                return text.digits(fraction as u128, least);
            }
            power *= 10.0;
            decimals += 1;
        }
        Self::EMPTY
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

    /// At least so many digits.
    const fn digits(mut self, value: u128, least: usize) -> Self {
        let mut count = 0;
        let mut rest = value;
        while rest > 0 || count < least {
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
    fn constants_read_as_they_were() {
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
        for value in [1e300, 1e-300, 0.1 + 0.2, f64::INFINITY, f64::NAN] {
            assert_eq!(Scalar::f64(value).json(), "");
        }
        assert_eq!(Scalar::i64(i64::MIN).json(), "-9223372036854775808");
        assert_eq!(Scalar::u64(u64::MAX).json(), "18446744073709551615");
        assert_eq!(Scalar::u8(0).json(), "0");
        assert_eq!(Scalar::bool(true).json(), "true");
    }
}
