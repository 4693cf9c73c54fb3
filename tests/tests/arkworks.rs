//! ark-groth16 judges our proofs, and its proofs and verdicts are ours.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use ark_bls12_381::{Bls12_381, Fr, G1Affine as ArkG1, G2Affine as ArkG2};
use ark_ff::PrimeField;
use ark_groth16::{Groth16, Proof as ArkProof, VerifyingKey as ArkVk, prepare_verifying_key};
use ark_serialize::CanonicalDeserialize;
use blstrs::{G1Affine, G2Affine};
use cuzk_core::Proof;
use cuzk_core::circuit::{SetupForm, ToxicWaste, capture, setup};
use cuzk_core::curve::{Root, Scalar};
use cuzk_core::key::VerifyingKey;
use cuzk_core::progress::Control;
use cuzk_core::prover::prove;
use cuzk_core::verify::verify;
use cuzk_core::witness::Witness;
use cuzk_tests::circuits::Chain;
use cuzk_tests::fixtures;
use ff::Field;

/// Both libraries write BLS12-381 in zcash's form.
fn g1(p: &G1Affine) -> ArkG1 {
    ArkG1::deserialize_uncompressed(&p.to_uncompressed()[..]).unwrap()
}

fn g2(p: &G2Affine) -> ArkG2 {
    ArkG2::deserialize_uncompressed(&p.to_uncompressed()[..]).unwrap()
}

fn fr(s: &Scalar) -> Fr {
    Fr::from_le_bytes_mod_order(&s.to_bytes_le())
}

fn ark_accepts(vk: &VerifyingKey, inputs: &[Scalar], proof: &Proof) -> bool {
    let vk = ArkVk::<Bls12_381> {
        alpha_g1: g1(&vk.alpha_g1),
        beta_g2: g2(&vk.beta_g2),
        gamma_g2: g2(&vk.gamma_g2),
        delta_g2: g2(&vk.delta_g2),
        gamma_abc_g1: vk.ic.iter().map(g1).collect(),
    };
    let proof = ArkProof { a: g1(&proof.a), b: g2(&proof.b), c: g1(&proof.c) };
    let inputs: Vec<Fr> = inputs.iter().map(fr).collect();
    Groth16::<Bls12_381>::verify_proof(&prepare_verifying_key(&vk), &proof, &inputs).unwrap()
}

/// Both give the same verdict, which is returned.
fn verdict(vk: &VerifyingKey, inputs: &[Scalar], proof: &Proof) -> bool {
    let ours = verify(vk, inputs, proof).unwrap();
    assert_eq!(ours, ark_accepts(vk, inputs, proof));
    ours
}

#[test]
fn circom_proofs_are_accepted() {
    for fixture in fixtures::all() {
        let zkey = fixture.zkey();
        let vk = &zkey.key.vk;
        for which in ["1", "2"] {
            let output = prove(&zkey.key, &zkey.matrices, Witness::dense(fixture.witness(which))).unwrap();
            assert!(verdict(vk, &output.public_inputs, &output.proof), "{} {which}", fixture.name);
            let snarkjs = fixture.proof(&format!("proof_{which}.json"));
            assert!(verdict(vk, &fixture.public(which), &snarkjs), "{} {which}", fixture.name);
            let swapped = Proof { c: output.proof.a, ..output.proof };
            assert!(!verdict(vk, &output.public_inputs, &swapped), "{} {which}", fixture.name);
            if let Some((last, rest)) = output.public_inputs.split_last() {
                let wrong = [rest, &[*last + Scalar::ONE]].concat();
                assert!(!verdict(vk, &wrong, &output.proof), "{} {which}", fixture.name);
            }
        }
    }
}

#[test]
fn proofs_of_keys_of_either_form_and_root_are_accepted() {
    let captured = capture(Chain { start: Some(Scalar::from(11)), steps: 40, publish: 6 }).unwrap();
    let waste = ToxicWaste::from_seed(b"arkworks");
    for form in [SetupForm::Monomial, SetupForm::OddCoset] {
        for root in [Root::Five, Root::Seven] {
            let key = setup(&captured.matrices, form, root, &waste, &Control::default()).unwrap();
            let output = prove(&key, &captured.matrices, Witness::dense(captured.witness.clone())).unwrap();
            assert!(verdict(&key.vk, &output.public_inputs, &output.proof), "{form:?}, root {root}");
            let other = key.clone().with_root(root.other());
            let error =
                prove(&other, &captured.matrices, Witness::dense(captured.witness.clone())).unwrap_err();
            assert!(error.to_string().contains(&format!("pass --root {root}")), "{form:?}: {error}");
        }
    }
}
