//! Signed digits, each readable on its own.
//!
//! With windows of c bits and W of them, W c >= 255, let K = sum over w < W - 1 of 2^(c-1) 2^(cw). Digit w < W - 1 of s is
//! window w of s + K less 2^(c-1): the carries have been done by one addition of four limbs. The top digit is not offset; with
//! s <= r/2 < 0.91 * 2^254 it is at most 0.91 * 2^(c-1) + 1/2, below 2^(c-1) for c >= 4. So every digit lies in
//! [-2^(c-1), 2^(c-1)] and s + K stays below 2^255. A digit is zero where s + K and K agree, so the last one lies at their highest
//! difference.

use super::scalars::{Terms, bit_length};
use crate::backend::cpu::segments::{Ref, Segment, reference};

/// Magnitudes with K added, those with many digits first, so that every window reads a prefix.
pub(super) struct Recoded {
    width: u32,
    windows: usize,
    refs: Vec<Ref>,
    offset: Vec<[u64; 4]>,
    /// reaching\[w\] = how many magnitudes have a digit in window w.
    reaching: Vec<usize>,
}

/// W.
fn all_windows(width: u32) -> usize {
    255usize.div_ceil(width as usize)
}

/// K for the width.
fn bias(width: u32) -> [u64; 4] {
    let mut bias = [0; 4];
    for w in 0..all_windows(width) - 1 {
        let bit = (w + 1) * width as usize - 1;
        bias[bit / 64] |= 1 << (bit % 64);
    }
    bias
}

fn add(a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
    let mut carry = false;
    std::array::from_fn(|i| {
        let (s, c1) = a[i].overflowing_add(b[i]);
        let (s, c2) = s.overflowing_add(u64::from(carry));
        carry = c1 | c2;
        s
    })
}

impl Recoded {
    /// Recodes and orders (a counting sort by number of digits, largest first).
    pub(super) fn new(terms: &Terms, width: u32) -> Self {
        let bias = bias(width);
        let digits =
            |sum: &[u64; 4]| bit_length(&std::array::from_fn(|i| sum[i] ^ bias[i])).div_ceil(width as usize);
        let sums: Vec<[u64; 4]> = terms.magnitudes.iter().map(|m| add(m, &bias)).collect();
        let mut exactly = vec![0; all_windows(width) + 1];
        sums.iter().for_each(|sum| exactly[digits(sum)] += 1);
        let windows = exactly.iter().rposition(|n| *n > 0).unwrap_or(0);
        // Those with d digits stand behind those with more, which are as many as reach window d.
        let mut next: Vec<usize> = (0..=windows).map(|d| exactly.iter().skip(d + 1).sum()).collect();
        let reaching = next.iter().take(windows).copied().collect();
        let mut refs = vec![0; sums.len()];
        let mut offset = vec![[0; 4]; sums.len()];
        for (r, sum) in terms.refs.iter().zip(sums) {
            let at = &mut next[digits(&sum)];
            refs[*at] = *r;
            offset[*at] = sum;
            *at += 1;
        }
        Self { width, windows, refs, offset, reaching }
    }

    /// The bases, in the order of the recoded scalars; [`Self::sort`] refers to places in this list.
    pub(super) fn refs(&self) -> &[Ref] {
        &self.refs
    }

    pub(super) fn width(&self) -> u32 {
        self.width
    }

    pub(super) fn windows(&self) -> usize {
        self.windows
    }

    pub(super) fn reaching(&self, window: usize) -> usize {
        self.reaching[window]
    }

    #[inline(always)]
    fn digit(&self, at: usize, window: usize) -> i32 {
        let bit = window * self.width as usize;
        let (limb, shift) = (bit / 64, bit % 64);
        let value = &self.offset[at];
        let mut bits = value[limb] >> shift;
        if shift + self.width as usize > 64 && limb < 3 {
            bits |= value[limb + 1] << (64 - shift);
        }
        let bits = (bits & ((1 << self.width) - 1)) as i32;
        if window + 1 < all_windows(self.width) { bits - (1 << (self.width - 1)) } else { bits }
    }

    /// References to the places of one window's scalars, sorted by bucket, and the segments of the buckets that are not empty; ids are digits' sizes.
    /// A counting sort: two looks at every scalar.
    pub(super) fn sort(&self, window: usize) -> (Vec<Ref>, Vec<Segment>) {
        let count = self.reaching[window];
        let mut next = vec![0u32; (1 << (self.width - 1)) + 1];
        let digits: Vec<i32> = (0..count).map(|at| self.digit(at, window)).collect();
        for digit in &digits {
            next[digit.unsigned_abs() as usize] += 1;
        }
        let mut end = 0;
        let mut segments = Vec::new();
        for (bucket, n) in next.iter_mut().enumerate().skip(1) {
            let start = end;
            if *n > 0 {
                end += *n;
                segments.push(Segment { id: bucket as u32, end });
            }
            *n = start;
        }
        let mut refs = vec![0; end as usize];
        for (place, digit) in digits.iter().enumerate() {
            if *digit != 0 {
                let at = &mut next[digit.unsigned_abs() as usize];
                refs[*at as usize] = reference(place, *digit < 0);
                *at += 1;
            }
        }
        (refs, segments)
    }
}

#[cfg(test)]
mod tests {
    use rand_core::{RngCore, SeedableRng};

    use super::*;
    use crate::curve::SCALAR_MODULUS;

    /// The digits must add up to the magnitude, within their range, for every width.
    #[test]
    fn digits_recompose() {
        let mut half = SCALAR_MODULUS;
        for i in 0..4 {
            half[i] = half[i] >> 1 | half.get(i + 1).map_or(0, |h| h << 63);
        }
        let mut magnitudes = vec![[2, 0, 0, 0], [1 << 15, 0, 0, 0], [65535, 0, 0, 0], [0, 0, 1, 0], half];
        for width in 4..=19 {
            for w in 0..254 / width {
                let mut m = [0u64; 4];
                m[w * width / 64] |= 1 << (w * width % 64);
                magnitudes.push(m);
                let below = (w * width + width - 1).min(252);
                let mut m = [0u64; 4];
                m[below / 64] |= 1 << (below % 64);
                magnitudes.push(m);
            }
        }
        // Just above and below what d digits hold.
        magnitudes.extend([119u64, 120, 127, 128, 1911, 1912].map(|m| [m, 0, 0, 0]));
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        magnitudes.extend((0..500).map(|i| {
            let m: [u64; 4] = std::array::from_fn(|_| rng.next_u64());
            let bits = 2 + i / 2;
            std::array::from_fn(|l| {
                m[l] & (1u128 << (bits.clamp(64 * l, 64 * l + 64) - 64 * l)).wrapping_sub(1) as u64
            })
        }));
        magnitudes.retain(|m| m.iter().rev().le(half.iter().rev()));
        magnitudes.retain(|m| *m != [1, 0, 0, 0] && *m != [0; 4]);
        for width in 4..=19u32 {
            let mut terms = Terms { magnitudes: magnitudes.clone(), ..Terms::default() };
            terms.refs = (0..magnitudes.len() as u32).collect();
            magnitudes.iter().for_each(|m| terms.lengths[bit_length(m)] += 1);
            let recoded = Recoded::new(&terms, width);
            for (at, r) in recoded.refs.iter().enumerate() {
                let mut sum = num_bigint::BigInt::from(0);
                for w in (0..recoded.windows).rev() {
                    let digit = recoded.digit(at, w);
                    assert!(
                        digit.unsigned_abs() <= 1 << (width - 1),
                        "width {width}, window {w}, digit {digit}"
                    );
                    assert!(digit == 0 || at < recoded.reaching[w], "width {width}, window {w}");
                    sum = (sum << width) + digit;
                }
                let m = &magnitudes[*r as usize];
                let expected = m.iter().rev().fold(num_bigint::BigInt::from(0), |v, l| (v << 64) + *l);
                assert_eq!(sum, expected, "width {width}");
            }
        }
    }
}
