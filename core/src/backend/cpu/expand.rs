//! Packed witness to dense: every word of the bitmap knows how many set members come before it, so words are independent.

use ff::Field;
use rayon::prelude::*;

use super::invalid_len;
use crate::backend::host::HostDevice;
use crate::backend::{BackendError, Expand, PackedBits, Result};
use crate::curve::Scalar;

/// Words of the bitmap per task.
const PIECE: usize = 64;

fn invalid(what: &'static str, expected: usize, found: usize) -> BackendError {
    BackendError::Invalid { op: "expand", what, expected: expected as u64, found: found as u64 }
}

/// Writes all of `z`.
///
/// # Errors
/// [`BackendError::Invalid`] if the bitmap, its ranks, the bits and the rest do not fit each other or `z`.
pub(super) fn expand(packed: &Expand<'_, HostDevice>, z: &mut [Scalar]) -> Result<()> {
    let (set, ranks, rest) = (packed.set.as_slice(), packed.ranks.as_slice(), packed.rest.as_slice());
    let members = check_set(set, ranks, z.len())?;
    invalid_len("expand", "variables outside the set", z.len() - members, rest.len())?;
    let (words, lane) = match &packed.bits {
        PackedBits::Dense(words) => (words.as_slice(), None),
        PackedBits::Lanes { words, lane } if *lane < 64 => (words.as_slice(), Some(*lane)),
        PackedBits::Lanes { lane, .. } => return Err(invalid("lane at most", 63, *lane as usize)),
    };
    let needed = if lane.is_some() { members } else { members.div_ceil(64) };
    if words.len() < needed {
        return Err(invalid("words of bits at least", needed, words.len()));
    }
    let bit = |member: usize| match lane {
        Some(lane) => words[member] >> lane & 1 == 1,
        None => words[member / 64] >> (member % 64) & 1 == 1,
    };
    z.par_chunks_mut(64 * PIECE).enumerate().for_each(|(piece, z)| {
        for (i, z) in z.chunks_mut(64).enumerate() {
            let w = piece * PIECE + i;
            let mut member = ranks[w] as usize;
            let mut other = 64 * w - member;
            for (v, z) in z.iter_mut().enumerate() {
                if set[w] >> v & 1 == 1 {
                    *z = if bit(member) { Scalar::ONE } else { Scalar::ZERO };
                    member += 1;
                } else {
                    *z = rest[other];
                    other += 1;
                }
            }
        }
    });
    Ok(())
}

/// Number of members of the set, once its ranks have been found right: every index used above follows from them.
fn check_set(set: &[u64], ranks: &[u32], len: usize) -> Result<usize> {
    invalid_len("expand", "words of the bitmap", len.div_ceil(64), set.len())?;
    invalid_len("expand", "ranks", set.len(), ranks.len())?;
    let mut members = 0;
    for (w, (word, rank)) in set.iter().zip(ranks).enumerate() {
        if *rank as usize != members {
            return Err(invalid("rank of a word", members, *rank as usize));
        }
        let inside = len - 64 * w;
        if inside < 64 && word >> inside != 0 {
            return Err(invalid(
                "last variable in the bitmap below",
                len,
                64 * w + 63 - word.leading_zeros() as usize,
            ));
        }
        members += word.count_ones() as usize;
    }
    Ok(members)
}
