//! With any result of any operation spoilt, at any one call, `prove` ends in an error.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::HashSet;

use cuzk_core::backend::cpu::CpuBackend;
use cuzk_core::backend::{Backend, OpenOptions};
use cuzk_core::circuit::{Matrices, SetupForm, ToxicWaste, setup};
use cuzk_core::curve::{Root, Scalar};
use cuzk_core::key::ProvingKey;
use cuzk_core::progress::Control;
use cuzk_core::prover::{
    KeyShape, Partition, Placement, Plan, PlanRequest, ProofOutput, ProveError, load_key, prove_on,
};
use cuzk_core::verify::verify;
use cuzk_core::witness::{PackedWitness, Witness};
use cuzk_tests::corrupt::{self, Corrupt, Fault, Operation};
use cuzk_tests::small;
use ff::Field;
use std::sync::Arc;

struct Job {
    name: &'static str,
    key: ProvingKey,
    matrices: Matrices,
    witness: Witness,
    bases: Placement,
}

fn jobs() -> Vec<Job> {
    let matrices = small::circuit().unwrap();
    let z = small::witness(0x5a_f00d_1234, Scalar::from(0xdead_beef).square());
    let dense = Witness::dense(z.clone());
    let packed = Witness::Packed(Arc::new(PackedWitness::from_dense(&z)));
    let waste = ToxicWaste::from_seed(b"bites");
    let key = |form, root| setup(&matrices, form, root, &waste, &Control::default()).unwrap();
    let (bellman, snarkjs) = (key(SetupForm::Monomial, Root::Seven), key(SetupForm::OddCoset, Root::Five));
    let job = |name, key: &ProvingKey, witness: &Witness, bases| Job {
        name,
        key: key.clone(),
        matrices: matrices.clone(),
        witness: witness.clone(),
        bases,
    };
    vec![
        job("monomial, dense, resident", &bellman, &dense, Placement::Resident),
        job("monomial, packed, streamed", &bellman, &packed, Placement::Streamed),
        job("odd coset, packed, resident", &snarkjs, &packed, Placement::Resident),
    ]
}

fn prove<B: Backend>(backend: &B, job: &Job) -> Result<ProofOutput, ProveError> {
    let control = Control::default();
    let request = PlanRequest { bases: Some(job.bases), ..PlanRequest::default() };
    let plan = Plan::new(backend, &KeyShape::new(&job.key, &job.matrices), request)?;
    let key = load_key(backend, &job.key, &job.matrices, &plan, &control)?;
    prove_on(backend, &key, &job.key.vk, &Partition::new(job.witness.clone()), &control)
}

/// Proves with a fault; gives the outcome, and how often the operation was called and spoilt.
fn with_fault(job: &Job, fault: Fault) -> (Result<ProofOutput, ProveError>, usize, usize) {
    let witness = corrupt::Witness::default();
    let backend = Corrupt::watched(CpuBackend::open(&OpenOptions::default()).unwrap(), Some(fault), &witness);
    let outcome = prove(&backend, job);
    (outcome, witness.calls(), witness.spoilt())
}

#[test]
fn sound_backends_prove() {
    for job in jobs() {
        let backend = Corrupt::new(CpuBackend::open(&OpenOptions::default()).unwrap(), None);
        let output = prove(&backend, &job).unwrap();
        assert!(verify(&job.key.vk, &output.public_inputs, &output.proof).unwrap(), "{}", job.name);
    }
}

/// Every way in which every call of every operation can go wrong.
#[test]
fn no_proof_comes_from_a_spoilt_result() {
    let mut noticed = HashSet::new();
    for job in jobs() {
        for fault in Operation::ALL.into_iter().flat_map(Fault::of) {
            let (_, calls, _) = with_fault(&job, fault.at_call(usize::MAX));
            for fault in (0..calls).map(|call| fault.at_call(call)) {
                let (outcome, _, spoilt) = with_fault(&job, fault);
                match outcome {
                    Err(_) if spoilt > 0 => {
                        noticed.insert(fault.operation);
                    }
                    // Nothing to spoil: a sum of zeros was negated, the first of all results cannot be an earlier one.
                    Ok(_) if spoilt == 0 => {}
                    // What makes no difference to this proof: a class that is treated like the right one (small, full), a base
                    // whose scalar is zero, two bases whose scalars are equal.
                    Ok(output)
                        if [Operation::Classify, Operation::ConvertPoints].contains(&fault.operation) =>
                    {
                        assert!(verify(&job.key.vk, &output.public_inputs, &output.proof).unwrap());
                    }
                    outcome => panic!(
                        "{}: {fault}, {spoilt} results spoilt: {:?}",
                        job.name,
                        outcome.map(|o| o.proof)
                    ),
                }
            }
        }
    }
    // Keys are checked and made elsewhere; everything else is part of some proof.
    for operation in Operation::ALL {
        let elsewhere = [Operation::CheckPoints, Operation::FixedBase].contains(&operation);
        assert_eq!(noticed.contains(&operation), !elsewhere, "{operation:?}: {noticed:?}");
    }
}

/// The message says that the proof does not verify, and no witness value.
#[test]
fn the_reason_is_an_invalid_proof() {
    let job = &jobs()[0];
    for fault in [Operation::Quotient, Operation::Spmv, Operation::MsmG2].into_iter().flat_map(Fault::of) {
        let (outcome, ..) = with_fault(job, fault.at_call(0));
        if let Err(error) = outcome {
            assert!(matches!(error, ProveError::NotVerified { .. }), "{fault}: {error}");
        }
    }
}
