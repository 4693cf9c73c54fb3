//! One element at a time: between the form of scalar code (R = 2^384, 64-bit limbs) and that of the lanes (R = 2^416, 52-bit limbs).

use blst::blst_fp;

use super::lanes::{merge, power_of_two, split};
use crate::curve::field::{BaseField, Fp, Fp2};

/// Eight 52-bit limbs, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[repr(C, align(64))]
pub(super) struct Limbs(pub(super) [u64; 8]);

/// Coordinates by components.
pub(super) trait Components<const N: usize>: BaseField {
    fn components(self) -> [Fp; N];
    fn compose(components: [Fp; N]) -> Self;
}

impl Components<1> for Fp {
    fn components(self) -> [Fp; 1] {
        [self]
    }
    fn compose([c0]: [Fp; 1]) -> Self {
        c0
    }
}

impl Components<2> for Fp2 {
    fn components(self) -> [Fp; 2] {
        [self.c0(), self.c1()]
    }
    fn compose([c0, c1]: [Fp; 2]) -> Self {
        Fp2::new(c0, c1)
    }
}

/// Limbs of constants in the form with R = 2^384: a product by 2^416 enters the form with R = 2^416, by 2^352 leaves it. The inverse of
/// a 2^416, read as if R were 2^384, is a^-1 2^352, and a product by 2^448 makes that a^-1 2^416.
const ENTER: [u64; 6] = merge(&power_of_two(416));
const LEAVE: [u64; 6] = merge(&power_of_two(352));
pub(super) const INVERTED: [u64; 6] = merge(&power_of_two(448));

pub(super) fn raw(limbs: [u64; 6]) -> Fp {
    Fp(blst_fp { l: limbs })
}

pub(super) fn pack<const N: usize, F: Components<N>>(x: F) -> [Limbs; N] {
    x.components().map(|c| Limbs(split(&c.mul(&raw(ENTER)).to_montgomery())))
}

pub(super) fn unpack<const N: usize, F: Components<N>>(x: &[Limbs; N]) -> F {
    F::compose(x.map(|l| raw(merge(&l.0)).mul(&raw(LEAVE))))
}

/// p - x, and 0 for 0.
pub(super) fn negated(x: &Limbs) -> Limbs {
    if x.0 == [0; 8] {
        return *x;
    }
    const P: [u64; 8] = split(&Fp::MODULUS);
    const MASK: u64 = (1 << 52) - 1;
    let mut borrow = 0;
    Limbs(std::array::from_fn(|i| {
        let d = P[i].wrapping_sub(x.0[i]).wrapping_sub(borrow);
        borrow = d >> 63;
        d & MASK
    }))
}

/// Limbs of an element that is still in the form with R = 2^384.
#[inline]
pub(super) fn split_all<const N: usize, F: Components<N>>(x: F) -> [Limbs; N] {
    x.components().map(|c| Limbs(split(&c.to_montgomery())))
}
