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
///
/// The other root takes the memory of a proof, which the device need not have beside other proofs: it is tried only if `alone` gives
/// the device.
pub(super) fn explain<B: Backend, A>(
    backend: &B,
    key: &DeviceKey<B::Device>,
    vk: &VerifyingKey,
    failed: Failed<'_>,
    mut run: Run<B::Device>,
    alone: impl FnOnce() -> Option<A>,
) -> ProveError {
    let (root, other) = (key.quotient.root, key.quotient.root.other());
    let differing_input = differing_input(&failed);
    let alone = roots_differ(&key.quotient).then(alone);
    let outcome = match &alone {
        None => Ok(false),
        Some(None) => {
            let message = format!(
                "the witness does not satisfy the circuit, the key is not the circuit's, or its root of unity does not come from {root} \
                 (root {other} was not tried beside the other proofs under way)"
            );
            return ProveError::NotVerified { message, differing_input };
        }
        Some(Some(_)) => verifies_on_other_root(backend, key, vk, failed, &mut run),
    };
    let message = match outcome {
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
    run.check()?;
    let op = Quotient { root: key.quotient.root.other(), ..key.quotient };
    let stream = backend.device().stream("other root")?;
    let z = load::witness(backend, &stream, &failed.partition.witness)?;
    let scalars = quotient(backend, &stream, key, &z, &op, run)?;
    let h = h_msm(backend, &stream, key, &scalars)?.wait()?;
    let proof = assemble(vk, &failed.points.with_h(h), &failed.blinding);
    Ok(verify(vk, failed.public_inputs, &proof)?)
}
