//! Many multiples of one base, as setup needs them.
//!
//! A table holds d 2^(cw) P for the digits d of every window w; a multiple is then one addition per window. Table and multiples are
//! built by batched affine additions, so results are affine without a normalisation. With W = ceil(256 / c) windows the table costs
//! W 2^c additions, shared by n multiples of W additions each: c grows with n.

use group::{Curve as _, Group};
use rayon::prelude::*;

use super::affine::{Batch, Point, add_each};
use crate::curve::{BaseField, Curve, Scalar, canonical_limbs};

/// Multiples per task: enough for the inversions, few enough for the second-level cache.
const PIECE: usize = 1 << 10;

/// Window width for n multiples: about log2 n - 3, where building the table is a small part; at most 2^13 points a window (1.5 MB in G2).
fn width(n: usize) -> u32 {
    n.max(1).ilog2().saturating_sub(3).clamp(2, 13)
}

/// out_i = scalars_i * base, for slices of the same length.
pub(super) fn multiples<C: Curve>(base: &C::Affine, scalars: &[Scalar], out: &mut [C::Affine]) {
    let width = width(scalars.len());
    let windows = 256usize.div_ceil(width as usize);
    let table = table::<C>(base, width, windows);
    out.par_chunks_mut(PIECE).zip(scalars.par_chunks(PIECE)).for_each_init(
        Batch::default,
        |batch, (out, scalars)| {
            let limbs: Vec<[u64; 4]> = scalars.iter().map(canonical_limbs).collect();
            let mut sums = vec![Point::default(); out.len()];
            let mut terms = vec![Point::default(); out.len()];
            for (w, window) in table.iter().enumerate() {
                terms.iter_mut().zip(&limbs).for_each(|(term, s)| *term = window[digit(s, w, width)]);
                add_each(&mut sums, &terms, batch);
            }
            out.iter_mut().zip(&sums).for_each(|(out, sum)| *out = sum.store::<C>());
        },
    );
}

/// Window w of s, without sign.
fn digit(s: &[u64; 4], w: usize, width: u32) -> usize {
    let bit = w * width as usize;
    let (limb, shift) = (bit / 64, bit % 64);
    let mut bits = s[limb] >> shift;
    if shift + width as usize > 64 && limb < 3 {
        bits |= s[limb + 1] << (64 - shift);
    }
    bits as usize & ((1 << width) - 1)
}

/// table\[w\]\[d\] = d 2^(cw) P: every window doubles its length by adding its highest power of two to all it has.
fn table<C: Curve>(base: &C::Affine, width: u32, windows: usize) -> Vec<Vec<Point<C::Base>>> {
    let powers: Vec<C::Projective> =
        std::iter::successors(Some(C::Projective::from(*base)), |p| Some(p.double()))
            .take(windows * width as usize)
            .collect();
    let powers: Vec<Point<C::Base>> =
        powers.iter().map(|p| Point::load::<C>(&p.to_affine(), false)).collect();
    powers.par_chunks(width as usize).map(window_table).collect()
}

/// 0, P, 2P, ... from P, 2P, 4P, ...
fn window_table<F: BaseField>(powers: &[Point<F>]) -> Vec<Point<F>> {
    let mut batch = Batch::default();
    let mut table = vec![Point::default()];
    for power in powers {
        let mut upper = table.clone();
        add_each(&mut upper, &vec![*power; table.len()], &mut batch);
        table.append(&mut upper);
    }
    table
}
