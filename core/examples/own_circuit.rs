//! A proof of your own circuit: "I know x with x^3 + x + 5 = y", for a public y.
//!
//! Run with `cargo run --release -p cuzk-core --example own_circuit`. Any circuit written for bellpepper-core 0.2 or bellperson works.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use cuzk_core::circuit::{SetupForm, ToxicWaste, capture_blank, setup, witness_of};
use cuzk_core::curve::{Root, Scalar};
use cuzk_core::progress::Control;
use cuzk_core::prover::prove;
use cuzk_core::verify::verify;
use cuzk_core::witness::Witness;

struct Cube {
    x: Option<Scalar>,
}

impl Circuit<Scalar> for Cube {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let known = |v: Option<Scalar>| v.ok_or(SynthesisError::AssignmentMissing);
        let five = Scalar::from(5);
        let square = self.x.map(|x| x * x);
        let x = cs.alloc(|| "x", || known(self.x))?;
        let xx = cs.alloc(|| "x^2", || known(square))?;
        let y = cs.alloc_input(|| "y", || known(self.x.zip(square).map(|(x, s)| s * x + x + five)))?;
        cs.enforce(|| "x x = x^2", |lc| lc + x, |lc| lc + x, |lc| lc + xx);
        cs.enforce(|| "x^2 x = y - x - 5", |lc| lc + xx, |lc| lc + x, |lc| lc + y - x - (five, CS::one()));
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Once per circuit. Whoever makes a key this way can forge proofs with it; see `cuzk_core::circuit::ToxicWaste`.
    let matrices = capture_blank(Cube { x: None })?;
    let key =
        setup(&matrices, SetupForm::Monomial, Root::Seven, &ToxicWaste::random()?, &Control::default())?;

    // For each proof.
    let witness = witness_of(Cube { x: Some(Scalar::from(3)) }, &matrices)?;
    let output = prove(&key, &matrices, Witness::dense(witness))?;

    // Whoever has the verifying key and y.
    assert_eq!(output.public_inputs, [Scalar::from(35)]);
    assert!(verify(&key.vk, &output.public_inputs, &output.proof)?);
    assert!(!verify(&key.vk, &[Scalar::from(36)], &output.proof)?);
    println!("proved that some x has x^3 + x + 5 = 35");
    Ok(())
}
