//! Why there is no proof.

use super::plan::PlanError;
use crate::NoRandomness;
use crate::backend::BackendError;
use crate::key::{CheckError, Misfit};
use crate::verify::VerifyError;

/// Why there is no proof.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ProveError {
    /// The device refused or failed.
    #[error(transparent)]
    Backend(BackendError),
    /// The finished proof is not valid. The message says what is known about the reason, and never a witness value.
    #[error("the finished proof does not verify{}: {message}", public_input_note(.differing_input))]
    NotVerified {
        /// What to do about it.
        message: String,
        /// First public input in which the request and the witness differ, counted from 0 without the constant 1.
        differing_input: Option<usize>,
    },
    /// The key, the circuit and the witness do not belong together.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// The device cannot hold what the proof needs.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The proof could not be judged.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// A point of the key is not what it must be.
    #[error(transparent)]
    BadKey(CheckError),
    /// A point of the key cannot be read.
    #[error("{key}: {query} query, point {index}: {reason}")]
    KeyPoint {
        /// The key's name.
        key: String,
        /// Which query.
        query: &'static str,
        /// Which point of it.
        index: usize,
        /// What is wrong.
        reason: &'static str,
    },
    /// Somebody asked for it.
    #[error("cancelled")]
    Cancelled,
    /// The time was up before the proof was finished.
    #[error("past the deadline")]
    Deadline,
    /// No key of that number is loaded: never was, or evicted.
    #[error("key {0} is not loaded on this device")]
    UnknownKey(u64),
    /// The operating system gave no randomness for r and s.
    #[error(transparent)]
    Randomness(#[from] NoRandomness),
    /// A defect: a stage panicked or its thread is gone.
    #[error("internal error in {stage}: {message}")]
    Internal {
        /// Where.
        stage: &'static str,
        /// What is known.
        message: String,
    },
}

fn public_input_note(index: &Option<usize>) -> String {
    index.map_or_else(String::new, |i| {
        format!(" (public input {i} of the request is not that of the witness)")
    })
}

impl From<CheckError> for ProveError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Cancelled => Self::Cancelled,
            other => Self::BadKey(other),
        }
    }
}

impl From<BackendError> for ProveError {
    fn from(error: BackendError) -> Self {
        match error {
            BackendError::Cancelled => Self::Cancelled,
            other => Self::Backend(other),
        }
    }
}
