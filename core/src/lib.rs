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
