//! Membership of many points in the subgroup of order r at once.
//!
//! The group of the curve is G x H, H of order the cofactor; a point P is outside the subgroup if its part T in H is not zero. Take
//! S = sum d_i P_i with independent digits d_i in {0, 1, 2}. The cofactors of both groups are odd and below their primes there is none
//! smaller than 3, so the multiples 0, T, 2T of a part that is not zero are distinct, and whatever the other terms are, at most one of
//! three digits puts S into the subgroup. ROUNDS * DIGITS = 55 sums miss a bad point with probability at
//! most 3^-55 < 2^-87.
//!
//! DIGITS digits at a time say into which of 3^DIGITS buckets a point is added, so that one addition serves DIGITS sums: eleven batched
//! additions for a point in place of a ladder of some hundred steps. The digits come from the system's randomness, after the
//! points are fixed: whoever wrote the file cannot know them.

use sha2::{Digest, Sha256};

use super::affine::{Batch, Point, sum_runs};
use crate::curve::{Curve, Element};
use crate::random::{self, NoRandomness};

/// Digits that pick a bucket.
const DIGITS: usize = 5;
/// 3^5.
const BUCKETS: usize = 243;
/// Rounds of digits, each an addition for every point.
const ROUNDS: usize = 11;

/// Below this many points the sums over the buckets cost more than single checks.
pub(crate) const WORTHWHILE: usize = 2048;

/// Whether all of `points`, every one of them on the curve, lie in the subgroup. The identity does.
///
/// # Errors
/// No randomness.
pub(crate) fn all_in_subgroup<C: Curve>(points: &[C::Affine]) -> Result<bool, NoRandomness> {
    let seed = random::bytes::<32>()?;
    Ok((0..ROUNDS).all(|round| round_is_clean::<C>(points, &seed, round)))
}

/// One round: DIGITS of the sums.
fn round_is_clean<C: Curve>(points: &[C::Affine], seed: &[u8; 32], round: usize) -> bool {
    let sums = bucket_sums::<C>(points, &buckets(seed, round, points.len()));
    let zero = C::Affine::zeroed();
    (0..DIGITS as u32).all(|digit| {
        let mut parts = [C::Projective::from(zero), C::Projective::from(zero)];
        for (bucket, sum) in &sums {
            match bucket / 3usize.pow(digit) % 3 {
                0 => {}
                value => parts[value - 1] += sum,
            }
        }
        let [one, two] = parts;
        C::is_in_subgroup(&C::Affine::from(one + two + two))
    })
}

/// A bucket for each point, uniform: bytes of a hash of seed, round and counter, those that are too large thrown away.
fn buckets(seed: &[u8; 32], round: usize, len: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(len + 32);
    let mut counter = 0u64;
    while out.len() < len {
        let mut hasher = Sha256::new();
        hasher.update(seed);
        hasher.update((round as u64).to_le_bytes());
        hasher.update(counter.to_le_bytes());
        out.extend(hasher.finalize().into_iter().filter(|b| usize::from(*b) < BUCKETS));
        counter += 1;
    }
    out.truncate(len);
    out
}

/// The sums of the buckets that are not empty.
fn bucket_sums<C: Curve>(points: &[C::Affine], buckets: &[u8]) -> Vec<(usize, C::Affine)> {
    let mut lens = vec![0u32; BUCKETS];
    for bucket in buckets {
        lens[usize::from(*bucket)] += 1;
    }
    let mut next: Vec<usize> =
        lens.iter().scan(0, |at, len| Some(std::mem::replace(at, *at + *len as usize))).collect();
    let mut sorted = vec![Point::default(); points.len()];
    for (p, bucket) in points.iter().zip(buckets) {
        let at = &mut next[usize::from(*bucket)];
        sorted[*at] = Point::load::<C>(p, false);
        *at += 1;
    }
    let filled: Vec<usize> = (0..BUCKETS).filter(|b| lens[*b] > 0).collect();
    lens.retain(|len| *len > 0);
    sum_runs(&mut sorted, &mut lens, &mut Batch::default());
    filled.into_iter().zip(&sorted).map(|(bucket, sum)| (bucket, sum.store::<C>())).collect()
}

#[cfg(test)]
mod tests {
    use group::Group;
    use rand_chacha::ChaCha20Rng;
    use rand_chacha::rand_core::{RngCore, SeedableRng};

    use super::*;
    use crate::curve::{BaseField, Fp, G1, G2};

    const SEED: u64 = 0x0073_7562_6772_6f75;

    fn members<C: Curve>(len: usize, rng: &mut ChaCha20Rng) -> Vec<C::Affine> {
        let step = C::Projective::random(&mut *rng);
        let mut p = C::Projective::random(rng);
        (0..len)
            .map(|i| {
                p += step;
                if i % 7 == 3 { C::Affine::zeroed() } else { C::Affine::from(p) }
            })
            .collect()
    }

    /// A point outside the subgroup, whatever its order, at any place, is always found; good ones always pass.
    fn one_bad_point<C: Curve>(bad: C::Affine) {
        let mut rng = ChaCha20Rng::seed_from_u64(SEED);
        assert!(C::is_on_curve(&bad) && !C::is_in_subgroup(&bad));
        for len in [1, 2, 300, 3000] {
            let mut points = members::<C>(len, &mut rng);
            assert!(all_in_subgroup::<C>(&points).unwrap(), "{len} good points");
            for _ in 0..5 {
                let at = rng.next_u32() as usize % len;
                let kept = points[at];
                points[at] = C::Affine::from(C::Projective::from(bad) + kept);
                assert!(!all_in_subgroup::<C>(&points).unwrap(), "{len} points, a bad one at {at}");
                // Two that cancel each other are not to pass either.
                let other = (at + 1) % len;
                let kept_other = points[other];
                points[other] = C::Affine::from(C::Projective::from(kept_other) - bad);
                assert!(
                    len == 1 || !all_in_subgroup::<C>(&points).unwrap(),
                    "{len} points, bad ones at {at}, {other}"
                );
                points[other] = kept_other;
                points[at] = kept;
            }
        }
        assert!(all_in_subgroup::<C>(&[]).unwrap());
    }

    #[test]
    fn order_three_in_g1() {
        // (0, 2) on y^2 = x^3 + 4 has order 3, the smallest there is, and the one most easily missed.
        let two = Fp::ONE.double();
        let bad = G1::from_coordinates(Fp::default(), two);
        let p = blstrs::G1Projective::from(bad);
        assert!(bool::from((p.double() + p).is_identity()));
        one_bad_point::<G1>(bad);
    }

    #[test]
    fn outside_in_g2() {
        // The first point that a decoder of compressed points finds by trying x coordinates is on the curve and, in all
        // likelihood, outside the subgroup.
        let mut bytes = [0u8; 96];
        bytes[0] = 0x80;
        let bad = (1..=255).find_map(|x| {
            bytes[95] = x;
            Option::<blstrs::G2Affine>::from(blstrs::G2Affine::from_compressed_unchecked(&bytes))
        });
        one_bad_point::<G2>(bad.unwrap());
    }

    #[test]
    fn buckets_are_uniform_enough() {
        let counts = buckets(&[7; 32], 3, 243 * 1000).iter().fold(vec![0i32; 256], |mut n, b| {
            n[usize::from(*b)] += 1;
            n
        });
        // Six standard deviations of a binomial of mean 1000.
        assert!(counts[..BUCKETS].iter().all(|n| (n - 1000).abs() < 190), "{counts:?}");
        assert!(counts[BUCKETS..].iter().all(|n| *n == 0));
    }
}
