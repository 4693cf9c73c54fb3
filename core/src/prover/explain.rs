//! Why a finished proof does not verify, as far as it can be told. Runs only after a failure.

use super::assemble::{Factors, Points, assemble};
use super::run::Run;
use super::{Partition, ProveError, h_msm, load, quotient};
use crate::backend::{Backend, Device, DeviceKey, Quotient, QuotientForm};
use crate::curve::Scalar;
use crate::key::VerifyingKey;
use crate::verify::verify;

/// What went into the failed proof.
pub(super) struct Failed<'a> {
    pub(super) partition: &'a Partition,
    pub(super) public_inputs: &'a [Scalar],
    pub(super) points: Points,
    pub(super) blinding: Factors,
}

/// The error for a proof that does not verify. If the sum over H on the other root of unity makes it valid, the key was read with
/// the wrong root, and the message says which one to take.
pub(super) fn explain<B: Backend>(
    backend: &B,
    key: &DeviceKey<B::Device>,
    vk: &VerifyingKey,
    failed: Failed<'_>,
    mut run: Run<B::Device>,
) -> ProveError {
    let (root, other) = (key.quotient.root, key.quotient.root.other());
    let differing_input = differing_input(&failed);
    let message = match verifies_on_other_root(backend, key, vk, failed, &mut run) {
        Ok(true) => format!(
            "the key's root of unity was taken to come from {root}; with root {other} the proof verifies: pass --root {other}"
        ),
        Ok(false) => "the witness does not satisfy the circuit, or the key is not the circuit's".to_string(),
        Err(stop @ (ProveError::Cancelled | ProveError::Deadline)) => return stop,
        Err(e) => format!("and the other root of unity could not be tried: {e}"),
    };
    ProveError::NotVerified { message, differing_input }
}

fn differing_input(failed: &Failed<'_>) -> Option<usize> {
    let in_witness = failed.partition.witness.inputs(failed.public_inputs.len() + 1);
    in_witness.iter().skip(1).zip(failed.public_inputs).position(|(z, x)| z != x)
}

/// Whether the choice of root changes the scalars of H: the domain (for odd-coset keys also its double) must go beyond order 4, up to
/// which the roots agree.
pub(super) fn roots_differ(op: &Quotient) -> bool {
    op.log_n
        >= match op.form {
            QuotientForm::Monomial => 3,
            QuotientForm::OddCoset => 2,
        }
}

fn verifies_on_other_root<B: Backend>(
    backend: &B,
    key: &DeviceKey<B::Device>,
    vk: &VerifyingKey,
    failed: Failed<'_>,
    run: &mut Run<B::Device>,
) -> Result<bool, ProveError> {
    if !roots_differ(&key.quotient) {
        return Ok(false);
    }
    run.check()?;
    // Beside the next partition's work, so the device may not have the memory; the message then says that.
    let op = Quotient { root: key.quotient.root.other(), ..key.quotient };
    let stream = backend.device().stream("other root")?;
    let z = load::witness(backend, &stream, &failed.partition.witness)?;
    let scalars = quotient(backend, &stream, key, &z, &op, run)?;
    let h = h_msm(backend, &stream, key, &scalars)?.wait()?;
    let proof = assemble(vk, &failed.points.with_h(h), &failed.blinding);
    Ok(verify(vk, failed.public_inputs, &proof)?)
}
