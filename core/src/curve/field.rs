//! Base fields of the two groups: Fp, and Fp2 = Fp[u]/(u^2 + 1). Limbs in Montgomery form, always fully reduced.

use ::blst::{blst_fp, blst_fp2};

use super::blst as ffi;

/// What curve formulas need of a coordinate field.
pub trait BaseField: Copy + Send + Sync + PartialEq + std::fmt::Debug + Default + 'static {
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
    pub fn new(c0: Fp, c1: Fp) -> Self {
        Self(blst_fp2 { fp: [c0.0, c1.0] })
    }

    /// The coordinate of 1.
    pub fn c0(&self) -> Fp {
        Fp(self.0.fp[0])
    }

    /// The coordinate of u.
    pub fn c1(&self) -> Fp {
        Fp(self.0.fp[1])
    }
}

impl BaseField for Fp {
    const ONE: Self = Self(blst_fp { l: R });
    #[inline(always)]
    fn add(&self, b: &Self) -> Self {
        Self(ffi::fp_add(&self.0, &b.0))
    }
    #[inline(always)]
    fn sub(&self, b: &Self) -> Self {
        Self(ffi::fp_sub(&self.0, &b.0))
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
        Self(ffi::fp_cneg(&self.0, negate))
    }
    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.0.l == [0; 6]
    }
}

impl BaseField for Fp2 {
    const ONE: Self = Self(blst_fp2 { fp: [blst_fp { l: R }, blst_fp { l: [0; 6] }] });
    #[inline(always)]
    fn add(&self, b: &Self) -> Self {
        Self(ffi::fp2_add(&self.0, &b.0))
    }
    #[inline(always)]
    fn sub(&self, b: &Self) -> Self {
        Self(ffi::fp2_sub(&self.0, &b.0))
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
        Self(ffi::fp2_cneg(&self.0, negate))
    }
    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.0.fp[0].l == [0; 6] && self.0.fp[1].l == [0; 6]
    }
}
