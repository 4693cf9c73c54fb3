//! Groth16 over BLS12-381: everything cuzk is, except the GPUs and the network.
//!
//! | looking for | module |
//! |---|---|
//! | what a backend must do (the contract, in prose) | [`backend`] |
//! | the Groth16 recipe | [`prover`] |
//! | constraint matrices, `.r1cs`, capture of bellpepper circuits, setup | [`circuit`] |
//! | proving and verifying keys, and the files they live in | [`key`], [`format`](mod@format) |
//! | witnesses, dense and packed | [`witness`] |
//! | verification, single and batch | [`verify`] |
//! | the suite that every backend must pass | `conformance` (feature of that name) |
//!
//! A proof of a circuit of your own, from a bellpepper or bellperson `Circuit` or, as here, row by row:
//!
//! ```
//! use cuzk_core::circuit::{MatricesBuilder, SetupForm, ToxicWaste, setup};
//! use cuzk_core::curve::{Root, Scalar};
//! use cuzk_core::progress::Control;
//! use cuzk_core::{prover::prove, verify::verify, witness::Witness};
//!
//! // z2 z3 = z1, where z0 = 1 and z1 is public.
//! let mut rows = MatricesBuilder::default();
//! for (matrix, variable) in [(0, 2), (1, 3), (2, 1)] {
//!     rows.push_row(matrix, &mut vec![(variable, Scalar::from(1))])?;
//! }
//! let circuit = rows.finish(2, 2, true)?;
//! let key = setup(&circuit, SetupForm::Monomial, Root::Seven, &ToxicWaste::random()?, &Control::default())?;
//!
//! let z = [1, 42, 6, 7].map(Scalar::from).to_vec();
//! let output = prove(&key, &circuit, Witness::dense(z))?;
//! assert!(verify(&key.vk, &[Scalar::from(42)], &output.proof)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/own_circuit.rs` does it with a bellpepper circuit, `examples/library_calls.rs` calls the parts: multi-scalar
//! multiplication, transforms, setup, single and batch verification.
//!
//! Libraries never read environment variables, never print and never panic on input.

pub mod backend;
pub mod circuit;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod curve;
pub mod format;
pub mod key;
pub mod progress;
pub mod proof;
pub mod prover;
mod random;
pub mod verify;
pub mod witness;

pub use proof::Proof;
pub use random::NoRandomness;
