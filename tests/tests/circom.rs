//! Every circom fixture through the prover: points equal snarkjs's for the same r and s, proofs verify, wrong ones do not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use cuzk_core::backend::OpenOptions;
use cuzk_core::backend::cpu::CpuBackend;
use cuzk_core::circuit::{Matrices, check};
use cuzk_core::curve::Scalar;
use cuzk_core::key::{ProvingKey, VerifyingKey};
use cuzk_core::progress::Control;
use cuzk_core::prover::{
    Blinding, KeyShape, Partition, Placement, Plan, PlanRequest, ProofOutput, ProveError, load_key, prove_on,
};
use cuzk_core::verify::{VerifyError, verify, verify_batch};
use cuzk_core::witness::{PackedWitness, Witness};
use cuzk_tests::fixtures::{self, Fixture};
use ff::Field;
use std::sync::Arc;

fn backend() -> CpuBackend {
    CpuBackend::open(&OpenOptions::default()).unwrap()
}

fn prove(
    key: &ProvingKey,
    matrices: &Matrices,
    partition: &Partition,
    placement: Placement,
) -> Result<ProofOutput, ProveError> {
    let backend = backend();
    let control = Control::default();
    let request = PlanRequest { bases: Some(placement), in_flight: None };
    let shape = KeyShape::new(key, matrices);
    let plan = Plan::new(&backend, &shape, request)?;
    let device_key = load_key(&backend, key, matrices, &plan, &control)?;
    prove_on(&backend, &device_key, &key.vk, partition, &control)
}

fn partition(witness: Witness, blinding: Blinding) -> Partition {
    Partition { blinding, ..Partition::new(witness) }
}

fn packed(z: &[Scalar]) -> Witness {
    Witness::Packed(Arc::new(PackedWitness::from_dense(z)))
}

fn fixed_proof_has_snarkjs_points(fixture: &Fixture) {
    let zkey = fixture.zkey();
    let r1cs = fixture.r1cs().matrices;
    let z = fixture.witness("1");
    let zero = Blinding::Fixed { r: Scalar::ZERO, s: Scalar::ZERO };
    for (file, blinding) in [("proof_1_fixed0.json", zero), ("proof_1_fixed1.json", fixture.blinding())] {
        let expected = fixture.proof(file);
        for matrices in [&zkey.matrices, &r1cs] {
            for witness in [Witness::dense(z.clone()), packed(&z)] {
                for placement in [Placement::Resident, Placement::Streamed] {
                    let partition = partition(witness.clone(), blinding.clone());
                    let output = prove(&zkey.key, matrices, &partition, placement)
                        .unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
                    assert_eq!(
                        output.proof, expected,
                        "{}: {file}, {witness:?}, {placement:?}",
                        fixture.name
                    );
                    assert_eq!(output.public_inputs, fixture.public("1"), "{}", fixture.name);
                }
            }
        }
    }
}

#[test]
fn fixed_blinding_gives_snarkjs_points() {
    for fixture in fixtures::all() {
        fixed_proof_has_snarkjs_points(&fixture);
    }
}

#[test]
fn random_blinding_of_both_witnesses_verifies() {
    for fixture in fixtures::all() {
        let zkey = fixture.zkey();
        let mut batch = Vec::new();
        for which in ["1", "2"] {
            let partition = Partition::new(Witness::dense(fixture.witness(which)));
            let output = prove(&zkey.key, &zkey.matrices, &partition, Placement::Resident)
                .unwrap_or_else(|e| panic!("{} {which}: {e}", fixture.name));
            assert_eq!(output.public_inputs, fixture.public(which), "{} {which}", fixture.name);
            assert_ne!(output.proof, fixture.proof("proof_1_fixed0.json"), "{}", fixture.name);
            batch.push((output.public_inputs, output.proof));
            batch.push((fixture.public(which), fixture.proof(&format!("proof_{which}.json"))));
        }
        assert_eq!(verify_batch(&zkey.key.vk, &batch), Ok(true), "{}", fixture.name);
        // One public input off by one in one proof: the batch fails, and that proof alone does.
        let Some(input) = batch[2].0.first_mut() else { continue };
        *input += Scalar::ONE;
        assert_eq!(verify_batch(&zkey.key.vk, &batch), Ok(false), "{}", fixture.name);
        for (i, (inputs, proof)) in batch.iter().enumerate() {
            assert_eq!(verify(&zkey.key.vk, inputs, proof), Ok(i != 2), "{} {i}", fixture.name);
        }
    }
}

#[test]
fn invalid_witnesses_end_without_a_proof() {
    for fixture in fixtures::all() {
        if !fixture.has("witness_invalid.wtns") {
            assert_eq!(fixture.name, "no_constraints");
            continue;
        }
        let z = fixture.witness("invalid");
        let matrices = fixture.r1cs().matrices;
        let found = check(&matrices, &z, &Control::default()).unwrap().map(|u| u.constraint);
        assert_eq!(found, fixture.invalid_constraint(), "{}", fixture.name);
        assert_eq!(check(&matrices, &fixture.witness("2"), &Control::default()).unwrap(), None);
        let zkey = fixture.zkey();
        for witness in [Witness::dense(z.clone()), packed(&z)] {
            let error =
                prove(&zkey.key, &zkey.matrices, &Partition::new(witness), Placement::Resident).unwrap_err();
            assert!(matches!(error, ProveError::NotVerified { .. }), "{}: {error}", fixture.name);
        }
    }
}

#[test]
fn the_wrong_root_is_named() {
    for fixture in fixtures::all() {
        let zkey = fixture.zkey();
        let wrong = zkey.key.clone().with_root(zkey.key.quotient.root.other());
        let partition = Partition::new(Witness::dense(fixture.witness("1")));
        let outcome = prove(&wrong, &zkey.matrices, &partition, Placement::Resident);
        // A quotient that is zero on every point (linear circuits) does not depend on the root.
        match outcome {
            Ok(_) => assert!(
                zkey.key.quotient.log_n < 2 || ["linear_only"].contains(&fixture.name.as_str()),
                "{}",
                fixture.name
            ),
            Err(e) => assert!(e.to_string().contains("--root 5"), "{}: {e}", fixture.name),
        }
    }
}

#[test]
fn stated_public_inputs_must_be_those_of_the_witness() {
    let fixture = fixtures::named("sort16");
    let zkey = fixture.zkey();
    let mut stated = fixture.public("1");
    let mut partition = Partition::new(Witness::dense(fixture.witness("1")));
    partition.public_inputs = Some(stated.clone());
    prove(&zkey.key, &zkey.matrices, &partition, Placement::Resident).unwrap();
    stated[3] += Scalar::ONE;
    partition.public_inputs = Some(stated.clone());
    let error = prove(&zkey.key, &zkey.matrices, &partition, Placement::Resident).unwrap_err();
    assert!(matches!(error, ProveError::NotVerified { differing_input: Some(3), .. }), "{error}");
    stated.pop();
    partition.public_inputs = Some(stated);
    let error = prove(&zkey.key, &zkey.matrices, &partition, Placement::Resident).unwrap_err();
    assert!(error.to_string().contains("takes 17 public inputs, 16 were given"), "{error}");
}

#[test]
fn tampered_proofs_are_refused() {
    let fixture = fixtures::named("mul3");
    let vk = fixture.zkey().key.vk;
    let inputs = fixture.public("1");
    let good = fixture.proof("proof_1.json");
    assert_eq!(verify(&vk, &inputs, &good), Ok(true));
    let other = fixture.proof("proof_2.json");
    let identity = |mut p: cuzk_core::Proof, which: usize| {
        use group::prime::PrimeCurveAffine;
        match which {
            0 => p.a = PrimeCurveAffine::identity(),
            1 => p.b = PrimeCurveAffine::identity(),
            _ => p.c = PrimeCurveAffine::identity(),
        }
        p
    };
    let tampered = [
        cuzk_core::Proof { a: other.a, ..good },
        cuzk_core::Proof { b: other.b, ..good },
        cuzk_core::Proof { c: other.c, ..good },
        cuzk_core::Proof { a: -good.a, ..good },
        cuzk_core::Proof { b: -good.b, ..good },
        cuzk_core::Proof { c: -good.c, ..good },
        identity(good, 0),
        identity(good, 1),
        identity(good, 2),
    ];
    for (i, proof) in tampered.iter().enumerate() {
        assert_eq!(verify(&vk, &inputs, proof), Ok(false), "tampering {i}");
        let batch = [(inputs.clone(), good), (inputs.clone(), *proof)];
        assert_eq!(verify_batch(&vk, &batch), Ok(false), "tampering {i}");
    }
    let counts = VerifyError::InputCount { expected: inputs.len(), found: 0 };
    assert_eq!(verify(&vk, &[], &good), Err(counts));
    let batch = [(inputs.clone(), good), (vec![inputs[0]; 2], good)];
    let counts = VerifyError::BatchInputCount { index: 1, expected: inputs.len(), found: 2 };
    assert_eq!(verify_batch(&vk, &batch), Err(counts));
    assert_eq!(verify_batch(&vk, &[]), Ok(true));
    let empty = VerifyingKey { ic: Vec::new(), ..vk.clone() };
    assert_eq!(verify(&empty, &[], &good), Err(VerifyError::EmptyKey));
    // (-A, -B, C) is another valid proof of the same statement.
    assert_eq!(verify(&vk, &inputs, &cuzk_core::Proof { a: -good.a, b: -good.b, c: good.c }), Ok(true));
}
