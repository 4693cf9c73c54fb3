//! The parts of a prover as calls of their own: multi-scalar multiplication, transforms, setup, verification.
//!
//! Run with `cargo run --release -p cuzk-core --example library_calls`.
#![expect(clippy::print_stdout, reason = "an example shows its results")]

use cuzk_core::backend::{Direction, Ntt, cpu};
use cuzk_core::circuit::{MatricesBuilder, SetupForm, ToxicWaste, check, setup};
use cuzk_core::curve::{G1, G1Affine, G1Projective, G2, G2Affine, Root, Scalar};
use cuzk_core::progress::Control;
use cuzk_core::prover::prove;
use cuzk_core::verify::PreparedVk;
use cuzk_core::witness::Witness;
use ff::Field;
use group::prime::PrimeCurveAffine;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    multi_scalar_multiplication();
    transforms()?;
    setup_and_verification()
}

/// 1 G + 2 G + ... + 100 G = 5050 G, in either group.
fn multi_scalar_multiplication() {
    let scalars: Vec<Scalar> = (1..=100).map(Scalar::from).collect();
    let sum = cpu::msm::<G1>(&vec![G1Affine::generator(); 100], &scalars);
    assert_eq!(sum, G1Projective::from(G1Affine::generator()) * Scalar::from(5050));
    let sum = cpu::msm::<G2>(&vec![G2Affine::generator(); 100], &scalars);
    assert_eq!(sum, G2Affine::generator() * Scalar::from(5050));
    println!("msm: 1 G + 2 G + ... + 100 G = 5050 G in G1 and G2");
}

/// (1 + X)^2 through values: transform, square, transform back.
fn transforms() -> Result<(), Box<dyn std::error::Error>> {
    let mut x = [Scalar::ONE, Scalar::ONE, Scalar::ZERO, Scalar::ZERO];
    cpu::ntt(&mut x, &Ntt::new(2, Direction::Forward, Root::Seven))?;
    x.iter_mut().for_each(|v| *v = v.square());
    cpu::ntt(&mut x, &Ntt::new(2, Direction::Inverse, Root::Seven))?;
    assert_eq!(x, [1, 2, 1, 0].map(Scalar::from));
    println!("ntt: (1 + X)^2 = 1 + 2 X + X^2");
    Ok(())
}

/// The circuit z2 z3 = z1 with z1 public, row by row, without any circuit library.
fn setup_and_verification() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = MatricesBuilder::default();
    for (matrix, variable) in [(0, 2), (1, 3), (2, 1)] {
        builder.push_row(matrix, &mut vec![(variable, Scalar::ONE)])?;
    }
    let matrices = builder.finish(2, 2, true)?;
    let z = [1, 42, 6, 7].map(Scalar::from).to_vec();
    assert_eq!(check(&matrices, &z, &Control::default())?, None);

    let waste = ToxicWaste::random()?;
    let key = setup(&matrices, SetupForm::OddCoset, Root::Five, &waste, &Control::default())?;
    let first = prove(&key, &matrices, Witness::dense(z.clone()))?;
    let second = prove(&key, &matrices, Witness::dense(z))?;
    assert_ne!(first.proof, second.proof, "proofs are blinded");

    let vk = PreparedVk::from(&key.vk);
    assert!(vk.verify(&[Scalar::from(42)], &first.proof)?);
    assert!(!vk.verify(&[Scalar::from(41)], &first.proof)?);
    let batch = [(first.public_inputs, first.proof), (second.public_inputs, second.proof)];
    assert!(vk.verify_batch(&batch)?);
    println!("setup, prove, verify: 42 has factors known to the prover, twice, in one batch");
    Ok(())
}
