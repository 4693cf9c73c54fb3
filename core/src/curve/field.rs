//! Base fields of the two groups: Fp, and Fp2 = Fp[u]/(u^2 + 1). Limbs in Montgomery form, always fully reduced.

use ::blst::{blst_fp, blst_fp2};

use super::blst as ffi;

/// What curve formulas need of a coordinate field.
pub trait BaseField: Copy + Send + Sync + PartialEq + std::fmt::Debug + Default + 'static {
    /// Points with coordinates in this field, in the form of the vector unit.
    #[cfg(target_arch = "x86_64")]
    type Packed: super::ifma::PackedPoint<Self>;
    /// 1 in Montgomery form.
    const ONE: Self;
    /// a + b
    fn add(&self, b: &Self) -> Self;
    /// a - b
    fn sub(&self, b: &Self) -> Self;
    /// a * b
    fn mul(&self, b: &Self) -> Self;
    /// a^2
    fn square(&self) -> Self;
    /// 1/a, and 0 for 0. Variable time: never used on secrets.
    fn inverse(&self) -> Self;
    /// -a if `negate`, else a.
    fn negate_if(&self, negate: bool) -> Self;
    /// Whether a = 0.
    fn is_zero(&self) -> bool;
    /// 2a
    #[inline(always)]
    fn double(&self) -> Self {
        self.add(self)
    }
}

/// An element of Fp: 6 little-endian limbs, Montgomery form.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[repr(transparent)]
pub struct Fp(pub(super) blst_fp);

/// An element c0 + c1 u of Fp2.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[repr(transparent)]
pub struct Fp2(pub(super) blst_fp2);

/// 2^384 mod p: the Montgomery form of 1.
const R: [u64; 6] = [
    0x7609_0000_0002_fffd,
    0xebf4_000b_c40c_0002,
    0x5f48_9857_53c7_58ba,
    0x77ce_5853_7052_5745,
    0x5c07_1a97_a256_ec6d,
    0x15f6_5ec3_fa80_e493,
];

/// p, little-endian limbs.
const MODULUS: [u64; 6] = [
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
];

/// x + y and the carry out.
#[inline(always)]
fn add_limbs(x: &[u64; 6], y: &[u64; 6]) -> ([u64; 6], bool) {
    let mut carry = false;
    let sum = std::array::from_fn(|i| {
        let (s, c1) = x[i].overflowing_add(y[i]);
        let (s, c2) = s.overflowing_add(u64::from(carry));
        carry = c1 | c2;
        s
    });
    (sum, carry)
}

/// x - y and the borrow out.
#[inline(always)]
fn sub_limbs(x: &[u64; 6], y: &[u64; 6]) -> ([u64; 6], bool) {
    let mut borrow = false;
    let difference = std::array::from_fn(|i| {
        let (d, b1) = x[i].overflowing_sub(y[i]);
        let (d, b2) = d.overflowing_sub(u64::from(borrow));
        borrow = b1 | b2;
        d
    });
    (difference, borrow)
}

/// x + y mod p. Written out here rather than called in blst: inlined, it takes a third of the time, and an addition of points has as
/// many of these as of products.
#[inline(always)]
fn add_mod(x: &[u64; 6], y: &[u64; 6]) -> [u64; 6] {
    // Both are below p < 2^381, so nothing is carried out.
    let (sum, _) = add_limbs(x, y);
    let (reduced, below) = sub_limbs(&sum, &MODULUS);
    if below { sum } else { reduced }
}

/// x - y mod p.
#[inline(always)]
fn sub_mod(x: &[u64; 6], y: &[u64; 6]) -> [u64; 6] {
    let (difference, negative) = sub_limbs(x, y);
    let mask = u64::from(negative).wrapping_neg();
    add_limbs(&difference, &MODULUS.map(|limb| limb & mask)).0
}

impl Fp {
    /// p in little-endian limbs.
    pub const MODULUS: [u64; 6] = MODULUS;

    /// From limbs already in Montgomery form; `None` if they are not below p.
    pub fn from_montgomery(limbs: [u64; 6]) -> Option<Self> {
        let below = limbs.iter().rev().lt(MODULUS.iter().rev());
        below.then_some(Self(blst_fp { l: limbs }))
    }

    /// The limbs, in Montgomery form.
    pub fn to_montgomery(self) -> [u64; 6] {
        self.0.l
    }
}

impl Fp2 {
    /// c0 + c1 u
    #[inline(always)]
    pub fn new(c0: Fp, c1: Fp) -> Self {
        Self(blst_fp2 { fp: [c0.0, c1.0] })
    }

    /// The coordinate of 1.
    #[inline(always)]
    pub fn c0(&self) -> Fp {
        Fp(self.0.fp[0])
    }

    /// The coordinate of u.
    #[inline(always)]
    pub fn c1(&self) -> Fp {
        Fp(self.0.fp[1])
    }
}

impl BaseField for Fp {
    #[cfg(target_arch = "x86_64")]
    type Packed = super::ifma::Packed<1>;
    const ONE: Self = Self(blst_fp { l: R });
    #[inline(always)]
    fn add(&self, b: &Self) -> Self {
        Self(blst_fp { l: add_mod(&self.0.l, &b.0.l) })
    }
    #[inline(always)]
    fn sub(&self, b: &Self) -> Self {
        Self(blst_fp { l: sub_mod(&self.0.l, &b.0.l) })
    }
    #[inline(always)]
    fn mul(&self, b: &Self) -> Self {
        Self(ffi::fp_mul(&self.0, &b.0))
    }
    #[inline(always)]
    fn square(&self) -> Self {
        Self(ffi::fp_sqr(&self.0))
    }
    fn inverse(&self) -> Self {
        Self(ffi::fp_inverse(&self.0))
    }
    #[inline(always)]
    fn negate_if(&self, negate: bool) -> Self {
        if negate { Self::default().sub(self) } else { *self }
    }
    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.0.l == [0; 6]
    }
}

impl BaseField for Fp2 {
    #[cfg(target_arch = "x86_64")]
    type Packed = super::ifma::Packed<2>;
    const ONE: Self = Self(blst_fp2 { fp: [blst_fp { l: R }, blst_fp { l: [0; 6] }] });
    #[inline(always)]
    fn add(&self, b: &Self) -> Self {
        Self::new(self.c0().add(&b.c0()), self.c1().add(&b.c1()))
    }
    #[inline(always)]
    fn sub(&self, b: &Self) -> Self {
        Self::new(self.c0().sub(&b.c0()), self.c1().sub(&b.c1()))
    }
    #[inline(always)]
    fn mul(&self, b: &Self) -> Self {
        Self(ffi::fp2_mul(&self.0, &b.0))
    }
    #[inline(always)]
    fn square(&self) -> Self {
        Self(ffi::fp2_sqr(&self.0))
    }
    fn inverse(&self) -> Self {
        Self(ffi::fp2_inverse(&self.0))
    }
    #[inline(always)]
    fn negate_if(&self, negate: bool) -> Self {
        if negate { Self::default().sub(self) } else { *self }
    }
    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.0.fp[0].l == [0; 6] && self.0.fp[1].l == [0; 6]
    }
}
