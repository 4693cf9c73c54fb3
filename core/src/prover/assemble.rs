//! From the five sums to the three points of a proof.

use group::Curve;

use super::{ProveError, Sums};
use crate::Proof;
use crate::curve::{G1Projective, G2Projective, Scalar};
use crate::key::VerifyingKey;
use crate::random;

/// Where r and s come from.
#[derive(Clone)]
pub enum Blinding {
    /// From the operating system: what makes the proof zero-knowledge.
    Random,
    /// Given, for tests: whoever knows r and s of two proofs learns about the witness.
    Fixed {
        /// Blinds A.
        r: Scalar,
        /// Blinds B.
        s: Scalar,
    },
}

/// Blinding factors are secrets: only their origin is shown.
impl std::fmt::Debug for Blinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if matches!(self, Blinding::Random) { "Random" } else { "Fixed" })
    }
}

/// r and s of one proof. Deliberately without `Debug`.
pub(super) struct Factors {
    r: Scalar,
    s: Scalar,
}

impl Blinding {
    pub(super) fn draw(&self) -> Result<Factors, ProveError> {
        match self {
            Blinding::Random => Ok(Factors { r: random::scalar()?, s: random::scalar()? }),
            Blinding::Fixed { r, s } => Ok(Factors { r: *r, s: *s }),
        }
    }
}

/// The five sums.
pub(super) struct Points {
    l: G1Projective,
    a: G1Projective,
    b1: G1Projective,
    b2: G2Projective,
    h: G1Projective,
}

impl Points {
    /// The same with another sum over H.
    pub(super) fn with_h(self, h: G1Projective) -> Self {
        Self { h, ..self }
    }
}

/// Waits for the device.
pub(super) fn wait(sums: Sums) -> Result<Points, ProveError> {
    let Sums { witness, h } = sums;
    Ok(Points {
        l: witness.l.wait()?,
        a: witness.a.wait()?,
        b1: witness.b1.wait()?,
        b2: witness.b2.wait()?,
        h: h.wait()?,
    })
}

/// A = alpha + a + r delta, B = beta + b + s delta, C = l + h + s A + r B1 - r s delta.
pub(super) fn assemble(vk: &VerifyingKey, points: &Points, blinding: &Factors) -> Proof {
    let Factors { r, s } = blinding;
    let a = points.a + vk.alpha_g1 + vk.delta_g1 * r;
    let b1 = points.b1 + vk.beta_g1 + vk.delta_g1 * s;
    let b2 = points.b2 + vk.beta_g2 + vk.delta_g2 * s;
    let c = points.l + points.h + a * s + b1 * r - vk.delta_g1 * (*r * s);
    Proof { a: a.to_affine(), b: b2.to_affine(), c: c.to_affine() }
}
