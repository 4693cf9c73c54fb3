//! Structures that kernels take by value, laid out as in `kernels/`.
#![expect(unsafe_code, reason = "promises that these layouts are those of the kernels")]

use cuzk_core::curve::{Scalar, as_bytes};

use crate::driver::{Param, Pointer};

/// A scalar, Montgomery form: `FrParam` of io.cuh.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct FrParam([u32; 8]);

impl From<Scalar> for FrParam {
    fn from(scalar: Scalar) -> Self {
        let mut limbs = [0u32; 8];
        for (limb, bytes) in limbs.iter_mut().zip(as_bytes(std::slice::from_ref(&scalar)).chunks_exact(4)) {
            *limb = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        Self(limbs)
    }
}

/// base^(2^k): `Squares` of io.cuh.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Squares([FrParam; 32]);

impl Squares {
    pub(crate) fn of(base: Scalar) -> Self {
        let mut power = base;
        Self(std::array::from_fn(|_| {
            let now = power;
            power = ff::Field::square(&power);
            FrParam::from(now)
        }))
    }
}

/// `Twiddles` of ntt.cuh.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Twiddles {
    pub(crate) table: Pointer,
    pub(crate) fine: Pointer,
    pub(crate) log_table: u32,
    /// 1 on the coset of a primitive 2n-th root, else 0.
    pub(crate) odd: u32,
}

/// `Factors` of factors.cuh.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Factors {
    mode: u32,
    bits: u32,
    reversed: u32,
    padding: u32,
    low: Pointer,
    high: Pointer,
    constant: FrParam,
}

impl Factors {
    /// Every element by the same factor.
    pub(crate) fn constant(by: Scalar) -> Self {
        Self { mode: 1, constant: by.into(), ..Self::default() }
    }
    /// low\[j\]
    pub(crate) fn full(low: Pointer) -> Self {
        Self { mode: 3, low, ..Self::default() }
    }
    /// high\[j >> bits\] low\[j mod 2^bits\]
    pub(crate) fn split(low: Pointer, high: Pointer, bits: u32) -> Self {
        Self { mode: 2, bits, low, high, ..Self::default() }
    }
    /// The same where positions are bit-reversed indices.
    pub(crate) fn reversed(self, reversed: bool) -> Self {
        Self { reversed: reversed.into(), ..self }
    }
}

/// `Shifts` of spmv.cu.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Shifts {
    pub(crate) count: u32,
    pub(crate) from: [u32; 4],
    pub(crate) until: [u32; 4],
    pub(crate) stride: [u32; 4],
}

/// `Limits` of spmv.cu: lengths of the entries, the dictionary and z.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Limits(pub(crate) [u64; 3]);

// SAFETY: three 64-bit words.
unsafe impl Param for Limits {}
// SAFETY: 32-bit words only, as in the kernels.
unsafe impl Param for FrParam {}
// SAFETY: as above.
unsafe impl Param for Squares {}
// SAFETY: two addresses and two words, no padding.
unsafe impl Param for Twiddles {}
// SAFETY: four words, two addresses, eight words.
unsafe impl Param for Factors {}
// SAFETY: words only.
unsafe impl Param for Shifts {}

const _: () = assert!(size_of::<Factors>() == 64 && size_of::<Twiddles>() == 24 && size_of::<Shifts>() == 52);
