//! Whether a witness satisfies a circuit, and if not, where.

use ff::Field;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Matrices, Matrix};
use crate::curve::Scalar;
use crate::progress::{Control, Stage};

/// The first constraint that does not hold, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsatisfied {
    /// Its row.
    pub constraint: usize,
}

/// Why a witness could not be checked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The source of the matrices has no C.
    #[error(
        "this circuit's source holds no matrix C (a .zkey does not); the .r1cs is needed to check constraints"
    )]
    NoC,
    /// Lengths do not fit.
    #[error(transparent)]
    Misfit(#[from] crate::key::Misfit),
    /// Somebody asked for it.
    #[error("cancelled")]
    Cancelled,
}

/// Constraints per piece of parallel work.
const PIECE: usize = 1 << 12;

/// The first constraint that `z` violates, `None` if there is none. All cores; progress as [`Stage::Check`], in constraints.
pub fn check(
    matrices: &Matrices,
    z: &[Scalar],
    control: &Control,
) -> Result<Option<Unsatisfied>, CheckError> {
    crate::key::fit_witness(matrices, z.len())?;
    let c = matrices.c.as_ref().ok_or(CheckError::NoC)?;
    let total = matrices.constraints;
    let done = AtomicU64::new(0);
    let violated = |row: usize| {
        let [a, b, c] = [&matrices.a, &matrices.b, c].map(|m| dot(m, &matrices.dictionary, row, z));
        a * b != c
    };
    let piece = |i: usize| {
        if control.cancel.is_cancelled() {
            return Some(Err(CheckError::Cancelled));
        }
        let rows = i * PIECE..((i + 1) * PIECE).min(total);
        let len = rows.len() as u64;
        let found = rows.into_iter().find(|row| violated(*row));
        control.advance(Stage::Check, done.fetch_add(len, Ordering::Relaxed) + len);
        found.map(|constraint| Ok(Unsatisfied { constraint }))
    };
    control.stage(Stage::Check, total as u64, || {
        (0..total.div_ceil(PIECE)).into_par_iter().find_map_first(piece).transpose()
    })
}

/// Row `row` of `matrix` times z.
fn dot(matrix: &Matrix, dictionary: &[Scalar], row: usize, z: &[Scalar]) -> Scalar {
    let mut sum = Scalar::ZERO;
    matrix.for_row(row, |entry| sum += dictionary[entry.code as usize] * z[entry.col as usize]);
    sum
}
