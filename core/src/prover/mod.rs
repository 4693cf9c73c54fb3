//! The Groth16 prover, written once, generic over the backend.
