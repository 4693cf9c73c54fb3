//! Bit reversal of positions, in place and in parallel.

use rayon::prelude::*;

use crate::curve::Scalar;

/// log2 of a tile's side: 32 elements are 1 KiB, whole cache lines and pages' neighbours.
const LOG_TILE: u32 = 5;

/// `i` with its low `bits` bits reversed.
#[inline(always)]
pub(super) fn reversed(i: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) }
}

/// Moves element i to the position whose log_n bits are those of i reversed.
///
/// Positions are read as (a, m, b) with a and b of q bits: (a, m, b) goes to (rev b, rev m, rev a). For fixed m the 2^q rows (a, m, ·)
/// form a tile that trades places with tile rev m, transposed; tiles are independent, and every row is contiguous.
pub(super) fn permute(x: &mut [Scalar], log_n: u32) {
    let q = LOG_TILE.min(log_n / 2);
    let middle = log_n - 2 * q;
    if log_n < 10 {
        for i in 0..x.len() {
            let j = reversed(i, log_n);
            if i < j {
                x.swap(i, j);
            }
        }
        return;
    }
    let mut tiles: Vec<Vec<&mut [Scalar]>> =
        (0..1usize << middle).map(|_| Vec::with_capacity(1 << q)).collect();
    for (row, elements) in x.chunks_exact_mut(1 << q).enumerate() {
        tiles[row & ((1 << middle) - 1)].push(elements);
    }
    let mut tiles: Vec<Option<Vec<&mut [Scalar]>>> = tiles.into_iter().map(Some).collect();
    let mut pairs = Vec::with_capacity(tiles.len());
    for m in 0..tiles.len() {
        if let Some(tile) = tiles[m].take() {
            // The partner is there unless the tile is its own.
            pairs.push((tile, tiles[reversed(m, middle)].take()));
        }
    }
    pairs.into_par_iter().with_min_len(4).for_each(|(mut tile, other)| match other {
        Some(mut other) => swap_transposed(&mut tile, &mut other, q),
        None => transpose(&mut tile, q),
    });
}

/// tile\[a\]\[b\] <-> other\[rev b\]\[rev a\]
fn swap_transposed(tile: &mut [&mut [Scalar]], other: &mut [&mut [Scalar]], q: u32) {
    for (a, row) in tile.iter_mut().enumerate() {
        for (b, x) in row.iter_mut().enumerate() {
            std::mem::swap(x, &mut other[reversed(b, q)][reversed(a, q)]);
        }
    }
}

/// The same within one tile.
fn transpose(tile: &mut [&mut [Scalar]], q: u32) {
    for a in 0..tile.len() {
        for b in 0..tile.len() {
            let (c, d) = (reversed(b, q), reversed(a, q));
            if (a, b) < (c, d) {
                let x = tile[a][b];
                tile[a][b] = tile[c][d];
                tile[c][d] = x;
            }
        }
    }
}
