//! Verification of proofs, single and batch.
//!
//! e(A, B) = e(alpha, beta) e(IC_0 + sum_i x_i IC_{i+1}, gamma) e(C, delta), with the pairing of the identity being 1: a proof
//! may hold the identity (the files that cannot write it are [`crate::format`](mod@crate::format)'s business).

use ff::Field;
use group::{Curve as _, Group};
use pairing::{MillerLoopResult as _, MultiMillerLoop};
use rayon::prelude::*;

use crate::backend::cpu;
use crate::curve::{Bls12, Curve, G1, G1Affine, G1Projective, G2, Scalar};
use crate::key::VerifyingKey;
use crate::{NoRandomness, Proof};

type Gt = <Bls12 as pairing::Engine>::Gt;
type Miller = <Bls12 as MultiMillerLoop>::Result;
type G2Prepared = <Bls12 as MultiMillerLoop>::G2Prepared;

/// Why a proof could not be judged. An invalid proof is no error: the answer is `false`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// Another number of public inputs than the verifying key has.
    #[error("the verifying key takes {expected} public inputs, {found} were given")]
    InputCount {
        /// What the key takes, the constant 1 not counted.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// The same, for one proof of a batch.
    #[error(
        "proof {index} of the batch: the verifying key takes {expected} public inputs, {found} were given"
    )]
    BatchInputCount {
        /// Which proof.
        index: usize,
        /// What the key takes, the constant 1 not counted.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// A verifying key without a point for the constant 1.
    #[error("the verifying key has no IC point; it needs one for the constant 1 and one per public input")]
    EmptyKey,
    /// The operating system gave no randomness for the combination of a batch.
    #[error(transparent)]
    Randomness(#[from] NoRandomness),
}

/// A verifying key with its fixed pairings done: about a third cheaper per proof.
#[derive(Clone, Debug)]
pub struct PreparedVk {
    alpha_beta: Gt,
    minus_gamma: G2Prepared,
    minus_delta: G2Prepared,
    ic: Vec<G1Affine>,
}

impl From<&VerifyingKey> for PreparedVk {
    fn from(vk: &VerifyingKey) -> Self {
        Self {
            alpha_beta: Bls12::multi_miller_loop(&[(&vk.alpha_g1, &vk.beta_g2.into())])
                .final_exponentiation(),
            minus_gamma: (-vk.gamma_g2).into(),
            minus_delta: (-vk.delta_g2).into(),
            ic: vk.ic.clone(),
        }
    }
}

impl PreparedVk {
    /// Whether `proof` proves that the circuit holds for `inputs` (without the constant 1).
    ///
    /// Points off the curve or outside the subgroup make it `false`.
    pub fn verify(&self, inputs: &[Scalar], proof: &Proof) -> Result<bool, VerifyError> {
        self.expect_inputs(inputs.len())?;
        if !is_well_formed(proof) {
            return Ok(false);
        }
        let ((ab, c), x) = rayon::join(
            || {
                rayon::join(
                    || Bls12::multi_miller_loop(&[(&proof.a, &proof.b.into())]),
                    || Bls12::multi_miller_loop(&[(&proof.c, &self.minus_delta)]),
                )
            },
            || {
                let sum = self.combine(&Scalar::ONE, inputs);
                Bls12::multi_miller_loop(&[(&sum.to_affine(), &self.minus_gamma)])
            },
        );
        Ok((ab + c + x).final_exponentiation() == self.alpha_beta)
    }

    /// Whether every proof of a batch is valid: one final exponentiation and one pairing per proof, for a random linear
    /// combination with 128-bit coefficients. A batch with an invalid proof passes with probability 2^-128; an empty one is valid.
    pub fn verify_batch(&self, batch: &[(Vec<Scalar>, Proof)]) -> Result<bool, VerifyError> {
        for (index, (inputs, _)) in batch.iter().enumerate() {
            self.expect_inputs(inputs.len()).map_err(|e| match e {
                VerifyError::InputCount { expected, found } => {
                    VerifyError::BatchInputCount { index, expected, found }
                }
                other => other,
            })?;
        }
        if batch.is_empty() {
            return Ok(true);
        }
        if !batch.par_iter().all(|(_, proof)| is_well_formed(proof)) {
            return Ok(false);
        }
        let coefficients =
            (0..batch.len()).map(|_| crate::random::short_scalar()).collect::<Result<Vec<_>, _>>()?;
        Ok(self.combination_holds(batch, &coefficients))
    }

    /// prod e(rho_i A_i, B_i) e(sum rho_i X_i, -gamma) e(sum rho_i C_i, -delta) = e(alpha, beta)^(sum rho_i)
    fn combination_holds(&self, batch: &[(Vec<Scalar>, Proof)], rho: &[Scalar]) -> bool {
        let products = || {
            batch
                .par_iter()
                .zip(rho)
                .map(|((_, p), rho)| pair(&(p.a * rho).to_affine(), &p.b.into()))
                .reduce_with(mul)
        };
        let c: G1Projective = batch.iter().zip(rho).map(|((_, p), rho)| p.c * rho).sum();
        let total: Scalar = rho.iter().sum();
        let inputs: Vec<Scalar> = (0..self.ic.len().saturating_sub(1))
            .map(|i| batch.iter().zip(rho).map(|((x, _), rho)| x[i] * rho).sum())
            .collect();
        let x = self.combine(&total, &inputs);
        let fixed = pair(&x.to_affine(), &self.minus_gamma) + pair(&c.to_affine(), &self.minus_delta);
        let left = products().map_or(fixed, |ab| ab + fixed);
        left.final_exponentiation() == self.alpha_beta * total
    }

    /// one IC_0 + sum_i x_i IC_{i+1}
    fn combine(&self, one: &Scalar, inputs: &[Scalar]) -> G1Projective {
        let Some((head, tail)) = self.ic.split_first() else { return G1Projective::identity() };
        head * one + cpu::msm::<G1>(tail, inputs)
    }

    fn expect_inputs(&self, found: usize) -> Result<(), VerifyError> {
        let expected = self.ic.len().checked_sub(1).ok_or(VerifyError::EmptyKey)?;
        if expected == found { Ok(()) } else { Err(VerifyError::InputCount { expected, found }) }
    }
}

/// Whether `proof` proves that the circuit of `vk` holds for `inputs` (without the constant 1). See [`PreparedVk`] for more than
/// one proof of a key.
pub fn verify(vk: &VerifyingKey, inputs: &[Scalar], proof: &Proof) -> Result<bool, VerifyError> {
    PreparedVk::from(vk).verify(inputs, proof)
}

/// Whether all proofs of a batch are valid; see [`PreparedVk::verify_batch`].
pub fn verify_batch(vk: &VerifyingKey, batch: &[(Vec<Scalar>, Proof)]) -> Result<bool, VerifyError> {
    PreparedVk::from(vk).verify_batch(batch)
}

fn pair(p: &G1Affine, q: &G2Prepared) -> Miller {
    Bls12::multi_miller_loop(&[(p, q)])
}

fn mul(a: Miller, b: Miller) -> Miller {
    a + b
}

/// On the curve and in the subgroup: outside it the equation says nothing, and combinations could cancel.
fn is_well_formed(proof: &Proof) -> bool {
    fn good<C: Curve>(p: &C::Affine) -> bool {
        C::is_on_curve(p) && C::is_in_subgroup(p)
    }
    good::<G1>(&proof.a) && good::<G2>(&proof.b) && good::<G1>(&proof.c)
}
