//! Integers of any size, with the operations that converting floats needs.

use std::cmp::Ordering;

/// The number of limbs that suffices for converting a float, unless the decimal is a long one.
const LIMBS: usize = 36;

pub(super) struct Big {
    /// 32 bits each, the lowest first; the last is not zero.
    limbs: Vec<u32>,
}

impl Big {
    pub(super) fn new(value: u64) -> Self {
        let mut limbs = Vec::with_capacity(LIMBS);
        for limb in [value as u32, (value >> 32) as u32] {
            if value >> (32 * limbs.len()) > 0 {
                limbs.push(limb);
            }
        }
        Self { limbs }
    }

    /// Multiplies by a factor, then adds.
    #[inline(never)]
    pub(super) fn multiply(&mut self, factor: u32, plus: u32) {
        let mut carry = u64::from(plus);
        for limb in &mut self.limbs {
            carry += u64::from(*limb) * u64::from(factor);
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.limbs.push(carry as u32);
        }
    }

    /// Multiplies by a power of ten.
    pub(super) fn multiply_by_ten_to(&mut self, mut exponent: u32) {
        while exponent > 0 {
            let step = exponent.min(9);
            self.multiply(10_u32.pow(step), 0);
            exponent -= step;
        }
    }

    /// Multiplies by a power of two.
    pub(super) fn multiply_by_two_to(&mut self, mut exponent: u32) {
        while exponent > 0 {
            let step = exponent.min(31);
            self.multiply(1 << step, 0);
            exponent -= step;
        }
    }

    /// Subtracts a multiple of another number. The result must not be negative.
    #[inline(never)]
    pub(super) fn subtract(&mut self, other: &Self, times: u32) {
        let mut borrow = 0;
        for (index, limb) in self.limbs.iter_mut().enumerate() {
            let take = other.limb(index) * u64::from(times) + borrow;
            let (rest, below) = limb.overflowing_sub(take as u32);
            *limb = rest;
            borrow = (take >> 32) + u64::from(below);
        }
        while self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
    }

    fn limb(&self, index: usize) -> u64 {
        self.limbs.get(index).map_or(0, |&limb| limb.into())
    }

    fn top(&self) -> u32 {
        self.limbs.last().map_or(0, |&limb| limb)
    }

    /// The length in bits.
    pub(super) fn bits(&self) -> i32 {
        let bits = 32 * self.limbs.len() as u32;
        match self.limbs.last() {
            Some(top) => (bits - top.leading_zeros()) as i32,
            None => 0,
        }
    }

    /// Divides by a number that is more than a tenth of this one and whose highest limb has 28 bits. Keeps the
    /// remainder.
    pub(super) fn divide(&mut self, by: &Self) -> u8 {
        let mut quotient = 0;
        if self.limbs.len() == by.limbs.len() {
            // The highest limbs are large enough that this is at most one too small.
            quotient = self.top() / (by.top() + 1);
            self.subtract(by, quotient);
        }
        if self.compare(by) != Ordering::Less {
            self.subtract(by, 1);
            quotient += 1;
        }
        quotient as u8
    }

    #[inline(never)]
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let order = self.limbs.len().cmp(&other.limbs.len());
        order.then_with(|| self.limbs.iter().rev().cmp(other.limbs.iter().rev()))
    }

    /// Compares the sum of this and a small multiple to another number.
    #[inline(never)]
    pub(super) fn compare_with(&self, plus: &Self, times: u32, other: &Self) -> Ordering {
        let times = u64::from(times);
        let top = other.limbs.len().saturating_sub(1);
        if self.limbs.len().max(plus.limbs.len()) > top + 1 {
            return Ordering::Greater;
        }
        // The carry from the lower limbs is at most `times`, so usually the highest limb decides.
        if self.limb(top) + plus.limb(top) * times + times < other.limb(top) {
            return Ordering::Less;
        }
        let mut order = Ordering::Equal;
        let mut carry = 0;
        for (index, limb) in other.limbs.iter().enumerate() {
            carry += self.limb(index) + plus.limb(index) * times;
            // A higher limb outweighs all lower ones.
            order = (carry as u32).cmp(limb).then(order);
            carry >>= 32;
        }
        if carry > 0 { Ordering::Greater } else { order }
    }
}
