//! Classes of scalars: what most of a witness is made of costs an MSM nothing (0) or one addition (1).

use ff::Field;
use rayon::prelude::*;

use crate::backend::class;
use crate::curve::{Scalar, canonical_limbs, raw_limbs};

const PIECE: usize = 1 << 12;

/// The class of one scalar in Montgomery form.
#[inline]
fn of(x: &Scalar, one: &[u64; 4]) -> u8 {
    let raw = raw_limbs(x);
    if raw == [0; 4] {
        return class::ZERO;
    }
    if raw == *one {
        return class::ONE;
    }
    match canonical_limbs(x) {
        [low, 0, 0, 0] if low < 1 << 16 => class::SMALL,
        _ => class::FULL,
    }
}

/// Writes the class of every scalar (both slices of the same length) and returns how many there are of each.
pub(super) fn classify(z: &[Scalar], codes: &mut [u8]) -> [u32; 4] {
    let one = raw_limbs(&Scalar::ONE);
    z.par_chunks(PIECE)
        .zip(codes.par_chunks_mut(PIECE))
        .map(|(z, codes)| {
            let mut counts = [0u32; 4];
            for (x, code) in z.iter().zip(codes) {
                *code = of(x, &one);
                counts[usize::from(*code)] += 1;
            }
            counts
        })
        .reduce(|| [0; 4], |a, b| std::array::from_fn(|i| a[i] + b[i]))
}
