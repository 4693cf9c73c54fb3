//! The curve as the rest of the crate sees it: blstrs types at every boundary, and the few facts about them that
//! memory layouts, kernels and file formats depend on.
//!
//! - `Scalar`: 4 little-endian 64-bit limbs in Montgomery form (R = 2^256), fully reduced.
//! - `G1Affine`: x, y; `G2Affine`: x.c0, x.c1, y.c0, y.c1; coordinates are 6 limbs in Montgomery form (R = 2^384), fully
//!   reduced. The identity is all zero: (0, 0) lies on neither curve.

mod blst;
mod element;
mod field;
mod group;
#[cfg(target_arch = "x86_64")]
pub mod ifma;
mod root;
mod scalar;

pub use blstrs::{Bls12, G1Affine, G1Projective, G2Affine, G2Projective, Scalar};

pub use element::{Element, as_bytes, as_bytes_mut};
pub use field::{BaseField, Fp, Fp2};
pub use group::{Curve, G1, G2};
pub use root::Root;
pub use scalar::{
    MONTGOMERY_R, RAW_ONE, SCALAR_MODULUS, canonical_limbs, from_raw_limbs, raw_limbs, scalar_add, scalar_sub,
};
