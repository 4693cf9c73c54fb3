//! ark-groth16 as a command, for side-by-side measurements: it gets the circuit as ready matrices, its best case.
//!
//!     ark_groth16 setup CIRCUIT.r1cs KEY
//!     ark_groth16 prove CIRCUIT.r1cs WITNESS.wtns KEY
//!
//! Its keys are its own (root of unity from 7, written uncompressed and read unchecked).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a measuring tool: any failure ends it")]

use std::path::Path;

use ark_bls12_381::{Bls12_381, Fr};
use ark_ff::PrimeField as _;
use ark_groth16::r1cs_to_qap::LibsnarkReduction;
use ark_groth16::{Groth16, ProvingKey};
use ark_relations::gr1cs::{
    ConstraintSynthesizer, ConstraintSystemRef, LinearCombination, SynthesisError, Variable,
};
use ark_serialize::{CanonicalDeserialize, CanonicalSerialize};
use cuzk_core::circuit::{Matrices, Matrix};
use cuzk_core::format::{Source, r1cs, wtns};
use rand_core::SeedableRng;

type Rows = Vec<Vec<(Fr, usize)>>;

fn fr(s: &blstrs::Scalar) -> Fr {
    Fr::from_le_bytes_mod_order(&s.to_bytes_le())
}

fn rows(matrices: &Matrices, matrix: &Matrix) -> Rows {
    let dictionary: Vec<Fr> = matrices.dictionary.iter().map(fr).collect();
    let mut out = Rows::with_capacity(matrices.constraints);
    matrix.for_each_row(|row, entries| {
        if row < matrices.constraints {
            out.push(entries.map(|e| (dictionary[e.code as usize], e.col as usize)).collect());
        }
    });
    out
}

struct Circuit {
    rows: [Rows; 3],
    inputs: usize,
    aux: usize,
}

impl ConstraintSynthesizer<Fr> for Circuit {
    fn generate_constraints(self, cs: ConstraintSystemRef<Fr>) -> Result<(), SynthesisError> {
        let mut variables = vec![Variable::One];
        for _ in 1..self.inputs {
            variables.push(cs.new_input_variable(|| Ok(Fr::from(0u64)))?);
        }
        for _ in 0..self.aux {
            variables.push(cs.new_witness_variable(|| Ok(Fr::from(0u64)))?);
        }
        let lc = |terms: &[(Fr, usize)]| {
            LinearCombination(terms.iter().map(|(c, v)| (*c, variables[*v])).collect())
        };
        let [a, b, c] = &self.rows;
        for ((a, b), c) in a.iter().zip(b).zip(c) {
            cs.enforce_r1cs_constraint(|| lc(a), || lc(b), || lc(c))?;
        }
        Ok(())
    }
}

fn circuit(path: &str) -> Circuit {
    let matrices = r1cs::read(&Source::open(Path::new(path)).unwrap()).unwrap().matrices;
    let c = matrices.c.as_ref().unwrap();
    let rows = [rows(&matrices, &matrices.a), rows(&matrices, &matrices.b), rows(&matrices, c)];
    Circuit { rows, inputs: matrices.inputs, aux: matrices.aux }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(7);
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[1..] {
        ["setup", r1cs, key] => {
            let pk = Groth16::<Bls12_381>::generate_random_parameters_with_reduction(circuit(r1cs), &mut rng)
                .unwrap();
            let file = std::io::BufWriter::new(std::fs::File::create(key).unwrap());
            pk.serialize_uncompressed(file).unwrap();
        }
        ["prove", r1cs, witness, key] => {
            let circuit = circuit(r1cs);
            let z: Vec<Fr> =
                wtns::read(&Source::open(Path::new(witness)).unwrap()).unwrap().iter().map(fr).collect();
            let bytes = std::fs::read(key).unwrap();
            let pk = ProvingKey::<Bls12_381>::deserialize_uncompressed_unchecked(&bytes[..]).unwrap();
            let proof = Groth16::<Bls12_381, LibsnarkReduction>::create_proof_with_reduction_and_matrices(
                &pk,
                Fr::from(3u64),
                Fr::from(5u64),
                &circuit.rows,
                circuit.inputs,
                circuit.rows[0].len(),
                &z,
            )
            .unwrap();
            let pvk = ark_groth16::prepare_verifying_key(&pk.vk);
            assert!(Groth16::<Bls12_381>::verify_proof(&pvk, &proof, &z[1..circuit.inputs]).unwrap());
        }
        _ => panic!("usage: ark_groth16 setup CIRCUIT KEY | prove CIRCUIT WITNESS KEY"),
    }
}
