//! The two networks of butterflies. Natural to bit-reversed order is decimation in frequency, back is decimation in time; neither
//! permutes anything.
//!
//! A transform of n points is one level of n/2 butterflies and two transforms of n/2 points. Down to 2^12 points (128 KiB) a level is cut
//! into tasks and the halves are tasks themselves; below, a task does all levels in its core's cache. So each element
//! travels log2 n - 12 times through the outer caches, while n/2 log2 n multiplications of some 15 ns each are the bulk of the time.

use ff::Field;
use rayon::prelude::*;

use super::twiddles::{self, TABLED, Twiddles};
use crate::backend::Result;
use crate::curve::{Scalar, scalar_add, scalar_sub};

/// log2 of what one task transforms alone.
const LOG_BLOCK: u32 = 12;
/// Butterflies per task of an outer level.
const PIECE: usize = 1 << 11;

/// Natural order in, bit-reversed out; no scaling. `x` has 2^log_n elements.
pub(super) fn frequency(x: &mut [Scalar], log_n: u32, w: Twiddles) -> Result<()> {
    if log_n <= LOG_BLOCK {
        for k in (1..=log_n).rev() {
            let twiddles = w.level(k)?;
            x.chunks_exact_mut(1 << k).for_each(|x| halves(x, |lo, hi| frequency_level(lo, hi, twiddles)));
        }
        return Ok(());
    }
    outer_level(x, log_n, w, frequency_level)?;
    let (lo, hi) = x.split_at_mut(x.len() / 2);
    let (lo, hi) = rayon::join(|| frequency(lo, log_n - 1, w), || frequency(hi, log_n - 1, w));
    lo.and(hi)
}

/// Bit-reversed order in, natural out; no scaling.
pub(super) fn time(x: &mut [Scalar], log_n: u32, w: Twiddles) -> Result<()> {
    if log_n <= LOG_BLOCK {
        for k in 1..=log_n {
            let twiddles = w.level(k)?;
            x.chunks_exact_mut(1 << k).for_each(|x| halves(x, |lo, hi| time_level(lo, hi, twiddles)));
        }
        return Ok(());
    }
    let (lo, hi) = x.split_at_mut(x.len() / 2);
    let (lo, hi) = rayon::join(|| time(lo, log_n - 1, w), || time(hi, log_n - 1, w));
    lo.and(hi)?;
    outer_level(x, log_n, w, time_level)
}

fn halves(x: &mut [Scalar], f: impl FnOnce(&mut [Scalar], &mut [Scalar])) {
    let (lo, hi) = x.split_at_mut(x.len() / 2);
    f(lo, hi);
}

/// One level over all of `x`, in parallel.
fn outer_level(
    x: &mut [Scalar],
    log_n: u32,
    w: Twiddles,
    level: impl Fn(&mut [Scalar], &mut [Scalar], &[Scalar]) + Sync,
) -> Result<()> {
    let (lo, hi) = x.split_at_mut(x.len() / 2);
    let pieces = lo.par_chunks_mut(PIECE).zip(hi.par_chunks_mut(PIECE));
    if log_n <= TABLED {
        pieces
            .zip(w.level(log_n)?.par_chunks(PIECE))
            .for_each(|((lo, hi), twiddles)| level(lo, hi, twiddles));
        return Ok(());
    }
    // w^(PIECE i + j) = w^(PIECE i) w^j
    let root = w.root(log_n)?;
    let short = twiddles::powers(root, PIECE);
    pieces.enumerate().for_each(|(i, (lo, hi))| {
        let start = root.pow_vartime([(i * PIECE) as u64]);
        let twiddles: Vec<Scalar> = short.iter().map(|t| start * t).collect();
        level(lo, hi, &twiddles);
    });
    Ok(())
}

/// (a, b) -> (a + b, (a - b) t)
fn frequency_level(lo: &mut [Scalar], hi: &mut [Scalar], twiddles: &[Scalar]) {
    for ((a, b), t) in lo.iter_mut().zip(hi).zip(twiddles) {
        let difference = scalar_sub(a, b);
        *a = scalar_add(a, b);
        *b = difference * t;
    }
}

/// (a, b) -> (a + b t, a - b t)
fn time_level(lo: &mut [Scalar], hi: &mut [Scalar], twiddles: &[Scalar]) {
    for ((a, b), t) in lo.iter_mut().zip(hi).zip(twiddles) {
        *b *= t;
        let difference = scalar_sub(a, b);
        *a = scalar_add(a, b);
        *b = difference;
    }
}
