//! Keys in memory: what `.params`, `.zkey`, `.vk` and verification_key.json have in common.

mod check;
mod fit;
mod points;

pub use check::{CheckError, CheckedCache, check_key};
pub use fit::{Misfit, fit_circuit, fit_witness};
pub use points::EncodedPoints;

use std::sync::Arc;

use crate::backend::Quotient;
use crate::curve::{Curve, G1, G1Affine, G2, G2Affine, Root};
use crate::format::point::Identity;

/// A verifying key. `ic` has one point per public input and one for the constant 1.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifyingKey {
    /// \[alpha\] in G1
    pub alpha_g1: G1Affine,
    /// \[beta\] in G1; identity where the format does not have it (verification_key.json).
    pub beta_g1: G1Affine,
    /// \[beta\] in G2
    pub beta_g2: G2Affine,
    /// \[gamma\] in G2
    pub gamma_g2: G2Affine,
    /// \[delta\] in G1; identity where the format does not have it.
    pub delta_g1: G1Affine,
    /// \[delta\] in G2
    pub delta_g2: G2Affine,
    /// \[(beta A_i + alpha B_i + C_i)(tau) / gamma\] for i in the inputs
    pub ic: Vec<G1Affine>,
}

/// Which variable each base of a query belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Variables {
    /// The circuit's densities say it: a `.params` file omits the identity and does not tell where.
    FromDensity,
    /// Every variable of the range, identities included (`.zkey`).
    Range(std::ops::Range<u32>),
}

/// One query of a key.
#[derive(Clone, Debug)]
pub struct Query<C: Curve> {
    /// The points, where the file holds them.
    pub points: EncodedPoints<C>,
    /// Whose they are.
    pub variables: Variables,
}

/// A proving key: small parts decoded, queries left in the file.
#[derive(Clone, Debug)]
pub struct ProvingKey {
    /// The verifying key inside.
    pub vk: VerifyingKey,
    /// Domain, root of unity, form of H.
    pub quotient: Quotient,
    /// Public inputs and the constant 1.
    pub inputs: usize,
    /// Auxiliary variables.
    pub aux: usize,
    /// H query.
    pub h: EncodedPoints<G1>,
    /// L query: all auxiliary variables.
    pub l: Query<G1>,
    /// A query.
    pub a: Query<G1>,
    /// B query in G1.
    pub b1: Query<G1>,
    /// B query in G2.
    pub b2: Query<G2>,
    /// Where it came from, for messages and for remembering checks.
    pub source: Arc<str>,
}

impl ProvingKey {
    /// m, the length of z.
    pub fn variables(&self) -> usize {
        self.inputs + self.aux
    }
    /// The same key on another root of unity (`--root`).
    pub fn with_root(mut self, root: Root) -> Self {
        self.quotient.root = root;
        self
    }
    /// Whether the identity stands in the queries of the witness for variables that do not occur: where A has a point for every
    /// variable (`.zkey`, and what snarkjs exports from one). bellman leaves such variables out.
    pub(crate) fn identity_of_absent(&self) -> Identity {
        match self.a.variables {
            Variables::FromDensity => Identity::Refused,
            Variables::Range(_) => Identity::Allowed,
        }
    }
    /// Whether delta is the generator: nobody contributed to phase 2, and anyone can forge.
    pub fn is_forgeable(&self) -> bool {
        self.vk.is_forgeable()
    }
}

impl VerifyingKey {
    /// Whether delta is the generator of G2.
    pub fn is_forgeable(&self) -> bool {
        use group::prime::PrimeCurveAffine;
        self.delta_g2 == G2Affine::generator()
    }
}
