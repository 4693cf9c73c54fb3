//! Types that may lie in device memory, and their bytes.
//!
//! One of the few files with `unsafe`: the blstrs types are transparent wrappers of blst's C structures, without padding, and
//! every bit pattern is a value of the limbs they are made of (whether it is a *reduced* field element is a matter of the
//! contract, not of memory safety).
#![expect(unsafe_code, reason = "views plain old data as bytes")]

use super::{G1Affine, G2Affine, Scalar};

/// A type whose values are plain limbs: no padding, no pointers, every bit pattern inhabited.
///
/// # Safety
/// `Self` must have no padding, no interior mutability and no invalid bit patterns; the all-zero pattern must be a value.
pub unsafe trait Element: Copy + Send + Sync + PartialEq + std::fmt::Debug + 'static {
    /// The value whose bytes are all zero: 0 of a field, the identity of a curve.
    fn zeroed() -> Self;
    /// For messages: "Scalar", "G1Affine", "u32".
    const NAME: &'static str;
}

macro_rules! integer_elements {
    ($($t:ty),*) => {$(
        // SAFETY: an integer has no padding and no invalid patterns.
        unsafe impl Element for $t {
            fn zeroed() -> Self { 0 }
            const NAME: &'static str = stringify!($t);
        }
    )*};
}
integer_elements!(u8, u16, u32, u64);

const _: () =
    assert!(size_of::<Scalar>() == 32 && size_of::<G1Affine>() == 96 && size_of::<G2Affine>() == 192);

// SAFETY: `Scalar` is a transparent `blst_fr`, `[u64; 4]`.
unsafe impl Element for Scalar {
    fn zeroed() -> Self {
        <Scalar as ff::Field>::ZERO
    }
    const NAME: &'static str = "Scalar";
}

// SAFETY: `G1Affine` is a transparent `blst_p1_affine`, two `[u64; 6]`.
unsafe impl Element for G1Affine {
    fn zeroed() -> Self {
        <G1Affine as group::prime::PrimeCurveAffine>::identity()
    }
    const NAME: &'static str = "G1Affine";
}

// SAFETY: `G2Affine` is a transparent `blst_p2_affine`, two pairs of `[u64; 6]`.
unsafe impl Element for G2Affine {
    fn zeroed() -> Self {
        <G2Affine as group::prime::PrimeCurveAffine>::identity()
    }
    const NAME: &'static str = "G2Affine";
}

/// The bytes of a slice, as a device or a file holds them.
pub fn as_bytes<T: Element>(values: &[T]) -> &[u8] {
    // SAFETY: `Element` promises no padding, so all `size_of_val` bytes are initialised; u8 has no alignment.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The bytes of a slice, writable: what a download fills.
pub fn as_bytes_mut<T: Element>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as above, and `Element` promises that whatever bytes are written form values.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}
