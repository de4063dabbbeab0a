//! The shortest digits that read as a float, in `const` evaluation.
//!
//! Steele and White's algorithm with integers of any size, as in `mcp_servlet_json::write_f64` and `core`, which are not
//! `const`. The wasm does not contain it.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_lossless,
    reason = "limbs are cut on purpose, and `const` functions have no `From`"
)]
#![allow(clippy::struct_field_names, reason = "digits are what there is")]

/// Enough for the largest and the smallest float, times ten.
const LIMBS: usize = 40;

/// The maximum of digits that distinguish two floats.
pub(super) const MOST_DIGITS: usize = 17;

/// `0.d₁d₂… × 10^exponent`
#[derive(Debug, Clone, Copy)]
pub(super) struct Digits {
    pub(super) digits: [u8; MOST_DIGITS],
    pub(super) count: usize,
    pub(super) exponent: i32,
}

/// A positive finite float, `mantissa × 2^exponent`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decoded {
    mantissa: u64,
    exponent: i32,
    /// Whether the float below is nearer than the one above.
    is_at_boundary: bool,
}

impl Decoded {
    pub(super) const fn f64(value: f64) -> Self {
        let bits = value.to_bits();
        Self::of(
            bits & ((1 << 52) - 1),
            (bits >> 52 & 0x7ff) as i32,
            52,
            1075,
        )
    }

    pub(super) const fn f32(value: f32) -> Self {
        let bits = value.to_bits() as u64;
        Self::of(bits & ((1 << 23) - 1), (bits >> 23 & 0xff) as i32, 23, 150)
    }

    const fn of(fraction: u64, exponent: i32, bits: u32, offset: i32) -> Self {
        if exponent == 0 {
            return Self {
                mantissa: fraction,
                exponent: 1 - offset,
                is_at_boundary: false,
            };
        }
        Self {
            mantissa: fraction | 1 << bits,
            exponent: exponent - offset,
            is_at_boundary: fraction == 0 && exponent > 1,
        }
    }

    /// The shortest digits in the interval that rounds to the value, the nearest of these.
    pub(super) const fn shortest(self) -> Digits {
        let inclusive = self.mantissa % 2 == 0;
        let mut fraction = Fraction::of(self);
        let mut found = Digits {
            digits: [0; MOST_DIGITS],
            count: 0,
            exponent: fraction.scale(inclusive),
        };
        loop {
            found.digits[found.count] = fraction.next_digit();
            found.count += 1;
            let down = is_less(&fraction.value, &fraction.below, inclusive);
            let up = is_less(
                &fraction.one,
                &sum(&fraction.value, &fraction.above),
                inclusive,
            );
            if down || up {
                let double = sum(&fraction.value, &fraction.value);
                if up && (!down || is_less(&fraction.one, &double, true)) {
                    found.round_up();
                }
                return found;
            }
        }
    }
}

impl Digits {
    const fn round_up(&mut self) {
        while self.count > 0 && self.digits[self.count - 1] == 9 {
            self.count -= 1;
        }
        if self.count == 0 {
            (self.digits[0], self.count) = (1, 1);
            self.exponent += 1;
        } else {
            self.digits[self.count - 1] += 1;
        }
    }
}

/// Little-endian.
type Big = [u32; LIMBS];

/// The remainder of the value and half the distances to its neighbours, in units of `1 / one`.
struct Fraction {
    value: Big,
    below: Big,
    above: Big,
    one: Big,
}

impl Fraction {
    const fn of(decoded: Decoded) -> Self {
        // All are doubled for the halves, and twice at a boundary, where the distance below is half of that above.
        let extra = if decoded.is_at_boundary { 2 } else { 1 };
        let (up, down) = if decoded.exponent >= 0 {
            (decoded.exponent as u32, 0)
        } else {
            (0, decoded.exponent.unsigned_abs())
        };
        Self {
            value: shifted(decoded.mantissa, up + extra),
            below: shifted(1, up),
            above: shifted(1, up + extra - 1),
            one: shifted(1, down + extra),
        }
    }

    /// Scales the value to between a tenth and one, and returns the power of ten.
    const fn scale(&mut self, inclusive: bool) -> i32 {
        let mut exponent = 0;
        while is_less(&self.one, &sum(&self.value, &self.above), inclusive) {
            times_ten(&mut self.one);
            exponent += 1;
        }
        loop {
            let mut next = sum(&self.value, &self.above);
            times_ten(&mut next);
            if is_less(&self.one, &next, inclusive) {
                return exponent;
            }
            self.times_ten();
            exponent -= 1;
        }
    }

    const fn next_digit(&mut self) -> u8 {
        self.times_ten();
        let mut digit = 0;
        while is_less(&self.one, &self.value, true) {
            subtract(&mut self.value, &self.one);
            digit += 1;
        }
        digit
    }

    const fn times_ten(&mut self) {
        times_ten(&mut self.value);
        times_ten(&mut self.below);
        times_ten(&mut self.above);
    }
}

const fn shifted(value: u64, bits: u32) -> Big {
    let mut big = [0; LIMBS];
    let (limb, bits) = ((bits / 32) as usize, bits % 32);
    let value = (value as u128) << bits;
    let mut at = 0;
    while at < 3 && limb + at < LIMBS {
        big[limb + at] = (value >> (32 * at)) as u32;
        at += 1;
    }
    big
}

const fn times_ten(big: &mut Big) {
    let (mut carry, mut at) = (0, 0);
    while at < LIMBS {
        let limb = big[at] as u64 * 10 + carry;
        big[at] = limb as u32;
        carry = limb >> 32;
        at += 1;
    }
}

const fn sum(left: &Big, right: &Big) -> Big {
    let mut sum = [0; LIMBS];
    let (mut carry, mut at) = (0, 0);
    while at < LIMBS {
        let limb = left[at] as u64 + right[at] as u64 + carry;
        sum[at] = limb as u32;
        carry = limb >> 32;
        at += 1;
    }
    sum
}

/// `left` must not be smaller than `right`.
const fn subtract(left: &mut Big, right: &Big) {
    let (mut borrow, mut at) = (0, 0);
    while at < LIMBS {
        let limb = left[at] as i64 - right[at] as i64 - borrow;
        left[at] = limb as u32;
        borrow = (limb < 0) as i64;
        at += 1;
    }
}

/// Whether `left < right`, or `left <= right` with `or_equal`.
const fn is_less(left: &Big, right: &Big, or_equal: bool) -> bool {
    let mut at = LIMBS;
    while at > 0 {
        at -= 1;
        if left[at] != right[at] {
            return left[at] < right[at];
        }
    }
    or_equal
}
