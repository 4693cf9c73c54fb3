//! Verification of proofs, single and batch.
