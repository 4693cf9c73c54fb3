//! Byte equality with bellperson: keys made of the same secrets, proofs made with the same r and s, and its verdict on our proofs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use bellperson::gadgets::boolean::{AllocatedBit, Boolean};
use bellperson::gadgets::{multipack, sha256::sha256};
use bellperson::groth16::{self, Parameters};
use blstrs::{Bls12, G1Projective, G2Projective};
use cuzk_core::circuit::{Matrices, SetupForm, ToxicWaste, capture, capture_blank, setup, witness_of};
use cuzk_core::curve::{Curve, G1, G2, Root, Scalar};
use cuzk_core::format::{Source, params, proof};
use cuzk_core::key::{EncodedPoints, ProvingKey};
use cuzk_core::progress::Control;
use cuzk_core::prover::{Blinding, DeviceProver, Lane, Partition, ProofOutput};
use cuzk_core::witness::Witness;
use cuzk_tests::circuits::{Chain, Linear};
use ff::Field;
use group::Group;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use std::sync::Arc;

/// Secrets on generators that are not the standard ones.
fn secrets(seed: u64) -> ToxicWaste {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    ToxicWaste {
        g1: G1Projective::random(&mut rng).into(),
        g2: G2Projective::random(&mut rng).into(),
        ..ToxicWaste::from_seed(&seed.to_le_bytes())
    }
}

fn their_key<C: Circuit<Scalar>>(circuit: C, waste: &ToxicWaste) -> Parameters<Bls12> {
    let ToxicWaste { alpha, beta, gamma, delta, tau, g1, g2 } = waste.clone();
    groth16::generate_parameters(circuit, g1.into(), g2.into(), alpha, beta, gamma, delta, tau).unwrap()
}

fn our_key(matrices: &Matrices, waste: &ToxicWaste) -> ProvingKey {
    setup(matrices, SetupForm::Monomial, Root::Seven, waste, &Control::default()).unwrap()
}

fn decoded<C: Curve>(points: &EncodedPoints<C>) -> Vec<C::Affine> {
    let decode = |b| cuzk_core::format::point::decode::<C>(b, points.encoding()).unwrap();
    points.bytes().chunks_exact(C::BYTES).map(decode).collect()
}

fn assert_same_key(ours: &ProvingKey, theirs: &Parameters<Bls12>, name: &str) {
    assert_eq!(decoded::<G1>(&ours.h), *theirs.h, "{name}: H");
    assert_eq!(decoded::<G1>(&ours.l.points), *theirs.l, "{name}: L");
    assert_eq!(decoded::<G1>(&ours.a.points), *theirs.a, "{name}: A");
    assert_eq!(decoded::<G1>(&ours.b1.points), *theirs.b_g1, "{name}: B in G1");
    assert_eq!(decoded::<G2>(&ours.b2.points), *theirs.b_g2, "{name}: B in G2");
    let mut bytes = Vec::new();
    theirs.write(&mut bytes).unwrap();
    let mut written = Vec::new();
    params::write(&mut written, ours).unwrap();
    assert!(bytes == written, "{name}: the .params files differ");
}

/// Their file, read by us and used for a proof with fixed r and s.
fn our_proof(
    theirs: &Parameters<Bls12>,
    matrices: Matrices,
    z: Vec<Scalar>,
    blinding: Blinding,
) -> ProofOutput {
    let mut bytes = Vec::new();
    theirs.write(&mut bytes).unwrap();
    let key = params::read(&Source::from_bytes("their.params", bytes), None).unwrap();
    let backend = cuzk_core::backend::cpu::CpuBackend::open(&Default::default()).unwrap();
    let lane = Lane::new(backend).unwrap();
    let key = lane.load_key(Arc::new(key), Arc::new(matrices), None, &Control::default()).unwrap();
    let partition = Partition { blinding, ..Partition::new(Witness::dense(z).smaller()) };
    lane.submit(key, partition, Control::default()).unwrap().wait().unwrap()
}

/// `blank` has the structure of `circuit` and no values.
fn agrees<C: Circuit<Scalar> + Clone + Send>(name: &str, circuit: C, blank: C, seed: u64) {
    let waste = secrets(seed);
    let captured = capture(circuit.clone()).unwrap();
    let matrices = capture_blank(blank.clone()).unwrap();
    assert!(captured.matrices == matrices, "{name}: recorded with a witness and blank, the matrices differ");
    assert_eq!(witness_of(circuit.clone(), &matrices).unwrap(), captured.witness, "{name}");

    let theirs = their_key(blank, &waste);
    assert_same_key(&our_key(&matrices, &waste), &theirs, name);

    let mut rng = ChaCha20Rng::seed_from_u64(seed + 1);
    let (r, s) = (Scalar::random(&mut rng), Scalar::random(&mut rng));
    let inputs = captured.witness[1..matrices.inputs].to_vec();
    for (r, s) in [(r, s), (Scalar::ZERO, Scalar::ZERO), (-Scalar::ONE, Scalar::ONE)] {
        let expected = groth16::create_proof(circuit.clone(), &theirs, r, s).unwrap();
        let blinding = Blinding::Fixed { r, s };
        let ours = our_proof(&theirs, matrices.clone(), captured.witness.clone(), blinding);
        let mut bytes = Vec::new();
        expected.write(&mut bytes).unwrap();
        assert_eq!(proof::to_bytes(&ours.proof).unwrap().as_slice(), bytes, "{name}, seed {seed}");
        assert_eq!(ours.public_inputs, inputs, "{name}");
    }
    let ours = our_proof(&theirs, matrices, captured.witness, Blinding::Random).proof;
    let prepared = groth16::prepare_verifying_key(&theirs.vk);
    let ours = groth16::Proof { a: ours.a, b: ours.b, c: ours.c };
    assert!(
        groth16::verify_proof(&prepared, &ours, &inputs).unwrap(),
        "{name}: bellperson refuses our proof"
    );
}

#[test]
fn chains_agree() {
    // Rows 2 s + inputs: around powers of two, with and without public inputs.
    for (steps, publish) in [(1, 1), (1, 9), (2, 2), (3, 2), (7, 3), (15, 40), (16, 4), (200, 7)] {
        let circuit = Chain { start: Some(Scalar::from(3)), steps, publish };
        let blank = Chain { start: None, ..circuit };
        agrees(&format!("chain of {steps} steps, public every {publish}"), circuit, blank, steps as u64);
    }
}

#[test]
fn linear_circuits_agree() {
    let circuit = Linear { values: Some((Scalar::from(8), -Scalar::from(3))) };
    agrees("linear", circuit, Linear { values: None }, 5);
}

/// SHA-256 of 8 bytes with the digest as two public inputs: 98 % of the witness are bits.
#[derive(Clone)]
struct Sha {
    preimage: Option<[u8; 8]>,
}

impl Circuit<Scalar> for Sha {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let bit = |i: usize| self.preimage.map(|bytes| bytes[i / 8] >> (7 - i % 8) & 1 == 1);
        let bits = (0..64)
            .map(|i| Ok(Boolean::from(AllocatedBit::alloc(cs.namespace(|| format!("bit {i}")), bit(i))?)))
            .collect::<Result<Vec<_>, SynthesisError>>()?;
        let hash = sha256(cs.namespace(|| "sha256"), &bits)?;
        multipack::pack_into_inputs(cs.namespace(|| "pack"), &hash)
    }
}

#[test]
fn sha256_agrees() {
    agrees("sha256", Sha { preimage: Some(*b"preimage") }, Sha { preimage: None }, 9);
}
