//! The only file of the crate that calls blst's C functions.
//!
//! Arithmetic on base fields: blstrs keeps its `Fp` and `Fp2` private, and the batched affine additions of the MSM and the
//! reading of points need them. Everything here is a total function on limbs.
#![expect(
    unsafe_code,
    reason = "foreign functions of blst, and transparent views between blstrs and blst types"
)]

use blst::{blst_fp, blst_fp2};

macro_rules! binary {
    ($name:ident, $t:ty, $f:path) => {
        #[inline(always)]
        pub(super) fn $name(a: &$t, b: &$t) -> $t {
            let mut out = <$t>::default();
            // SAFETY: the three pointers come from references to initialised values of the right type.
            unsafe { $f(&mut out, a, b) };
            out
        }
    };
}
macro_rules! unary {
    ($name:ident, $t:ty, $f:path) => {
        #[inline(always)]
        pub(super) fn $name(a: &$t) -> $t {
            let mut out = <$t>::default();
            // SAFETY: both pointers come from references to initialised values of the right type.
            unsafe { $f(&mut out, a) };
            out
        }
    };
}

binary!(fp_add, blst_fp, blst::blst_fp_add);
binary!(fp_sub, blst_fp, blst::blst_fp_sub);
binary!(fp_mul, blst_fp, blst::blst_fp_mul);
unary!(fp_sqr, blst_fp, blst::blst_fp_sqr);
unary!(fp_inverse, blst_fp, blst::blst_fp_eucl_inverse);
binary!(fp2_add, blst_fp2, blst::blst_fp2_add);
binary!(fp2_sub, blst_fp2, blst::blst_fp2_sub);
binary!(fp2_mul, blst_fp2, blst::blst_fp2_mul);
unary!(fp2_sqr, blst_fp2, blst::blst_fp2_sqr);
unary!(fp2_inverse, blst_fp2, blst::blst_fp2_eucl_inverse);

/// `a` or `-a`.
#[inline(always)]
pub(super) fn fp_cneg(a: &blst_fp, negate: bool) -> blst_fp {
    let mut out = blst_fp::default();
    // SAFETY: both pointers come from references to initialised values.
    unsafe { blst::blst_fp_cneg(&mut out, a, negate) };
    out
}

/// `a` or `-a`.
#[inline(always)]
pub(super) fn fp2_cneg(a: &blst_fp2, negate: bool) -> blst_fp2 {
    let mut out = blst_fp2::default();
    // SAFETY: both pointers come from references to initialised values.
    unsafe { blst::blst_fp2_cneg(&mut out, a, negate) };
    out
}
