//! The only file of the crate that calls blst's C functions.
//!
//! Arithmetic on base fields: blstrs keeps its `Fp` and `Fp2` private, and the batched affine additions of the MSM and the
//! reading of points need them. Everything here is a total function on limbs.
#![expect(
    unsafe_code,
    reason = "foreign functions of blst, and transparent views between blstrs and blst types"
)]

use std::mem::MaybeUninit;

use blst::{blst_fp, blst_fp2};

macro_rules! binary {
    ($name:ident, $t:ty, $f:path) => {
        #[inline(always)]
        pub(super) fn $name(a: &$t, b: &$t) -> $t {
            let mut out = MaybeUninit::uninit();
            // SAFETY: the function reads `a` and `b`, initialised values of the right type, and writes all of `out`.
            unsafe {
                $f(out.as_mut_ptr(), a, b);
                out.assume_init()
            }
        }
    };
}
macro_rules! unary {
    ($name:ident, $t:ty, $f:path) => {
        #[inline(always)]
        pub(super) fn $name(a: &$t) -> $t {
            let mut out = MaybeUninit::uninit();
            // SAFETY: the function reads `a`, an initialised value of the right type, and writes all of `out`.
            unsafe {
                $f(out.as_mut_ptr(), a);
                out.assume_init()
            }
        }
    };
}

binary!(fp_mul, blst_fp, blst::blst_fp_mul);
unary!(fp_sqr, blst_fp, blst::blst_fp_sqr);
unary!(fp_inverse, blst_fp, blst::blst_fp_eucl_inverse);
binary!(fp2_mul, blst_fp2, blst::blst_fp2_mul);
unary!(fp2_sqr, blst_fp2, blst::blst_fp2_sqr);
unary!(fp2_inverse, blst_fp2, blst::blst_fp2_eucl_inverse);
