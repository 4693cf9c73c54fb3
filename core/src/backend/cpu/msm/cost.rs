//! How wide a window should be, from what the scalars are.
//!
//! Let N_b be the number of magnitudes of b bits. A window of c bits recodes them to digits in [-2^(c-1), 2^(c-1)], so that a magnitude
//! of b bits has d = ceil((b + 1)/c) digits (one bit for the sign), and window w is reached by those with d > w. In additions, all of
//! them batched affine (about 6 multiplications each with the shares of inversions and copies):
//!
//! - filling buckets: one addition per digit, sum over b of N_b d(b), less one per bucket used (the first point is a copy);
//! - emptying them: every used bucket enters one row sum and one column sum, see [`super::buckets`]: two additions;
//! - per window: the sums over 2^((c-1)/2) rows and as many columns with their weights, two projective additions each (about 2.3
//!   affine ones), c doublings (1.4 each), and for every digit its part of the counting sort (1/25 of an addition).
//!
//! For n = 2^17 uniform scalars of 254 bits the model gives c = 15: 17 windows, 2.2 M additions to fill and 0.56 M to empty.

use super::scalars::LENGTHS;

/// Narrowest window: below, the top digit could leave its range (see [`super::digits`]).
const NARROWEST: u32 = 4;
/// Widest window: 2^18 buckets per window.
const WIDEST: u32 = 19;

/// Number of digits of a magnitude of `bits` bits; now and then it takes one more.
fn digits(bits: usize, width: u32) -> usize {
    (bits + 1).div_ceil(width as usize)
}

/// Additions that windows of `width` bits take.
fn cost(lengths: &[u32; LENGTHS], width: u32) -> f64 {
    let mut reaching = [0u64; LENGTHS];
    for (bits, n) in lengths.iter().enumerate() {
        let d = digits(bits, width);
        reaching.iter_mut().take(d).for_each(|r| *r += u64::from(*n));
    }
    let sums = f64::from(1u32 << width.div_ceil(2));
    let buckets = f64::from(1u32 << (width - 1));
    let window = |n: &u64| {
        let n = *n as f64;
        // Expected number of non-empty buckets of n balls in that many urns.
        let used = buckets * (1.0 - (-n / buckets).exp());
        n * 1.04 + used + 2.3 * 2.0 * sums + 1.4 * f64::from(width)
    };
    reaching.iter().take_while(|n| **n > 0).map(window).sum()
}

/// The width of least cost.
pub(super) fn width(lengths: &[u32; LENGTHS]) -> u32 {
    (NARROWEST..=WIDEST)
        .map(|c| (c, cost(lengths, c)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map_or(NARROWEST, |best| best.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entries: &[(usize, u32)]) -> u32 {
        let mut lengths = [0; LENGTHS];
        entries.iter().for_each(|(bits, n)| lengths[*bits] = *n);
        width(&lengths)
    }

    #[test]
    fn grows_with_the_number_of_scalars() {
        let widths: Vec<u32> = (0..26).map(|k| of(&[(254, 1 << k)])).collect();
        assert!(widths.is_sorted(), "{widths:?}");
        assert!((13..=16).contains(&widths[17]), "{widths:?}");
    }

    #[test]
    fn small_scalars_take_one_window_where_that_pays() {
        assert_eq!(digits(16, of(&[(16, 1 << 20)])), 1);
        assert_eq!(of(&[]), NARROWEST);
    }
}
