//! A Groth16 proof.

use crate::curve::{G1Affine, G2Affine};

/// (A, B, C). How it is written down is the business of [`crate::format`](mod@crate::format).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// A in G1.
    pub a: G1Affine,
    /// B in G2.
    pub b: G2Affine,
    /// C in G1.
    pub c: G1Affine,
}
