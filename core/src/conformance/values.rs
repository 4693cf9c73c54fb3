//! Values to test with, and the forms they are written in.

use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;
use group::{Curve as _, Group, GroupEncoding};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

use crate::backend::PointEncoding;
use crate::curve::{BaseField, Curve, Element, Fp, Scalar, as_bytes, as_bytes_mut};

/// Where all random values of the suite come from.
pub const SEED: u64 = 0x6375_7a6b;

/// The suite's generator, afresh for every case.
pub(super) fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(SEED)
}

/// `n` random scalars.
pub(super) fn scalars(rng: &mut ChaCha8Rng, n: usize) -> Vec<Scalar> {
    (0..n).map(|_| Scalar::random(&mut *rng)).collect()
}

/// 2^k
pub(super) fn power_of_two(k: u64) -> Scalar {
    Scalar::from(2).pow_vartime([k])
}

/// Scalars at which implementations go wrong: ends of the range, of classes, of limbs and of windows.
pub(super) fn edges() -> Vec<Scalar> {
    let one = Scalar::ONE;
    let mut out = vec![Scalar::ZERO, one, -one, Scalar::from(2), -Scalar::from(2), Scalar::TWO_INV];
    for k in [4, 8, 13, 16, 32, 64, 128, 192, 254] {
        out.extend([power_of_two(k) - one, power_of_two(k), power_of_two(k) + one, -power_of_two(k)]);
    }
    out
}

/// `n` scalars, edges in front and random ones behind.
pub(super) fn mixed(rng: &mut ChaCha8Rng, n: usize) -> Vec<Scalar> {
    let mut out = edges();
    out.truncate(n);
    while out.len() < n {
        out.push(Scalar::random(&mut *rng));
    }
    out
}

/// Scalars whose bytes in memory are those of the integers.
pub(super) fn canonical(scalars: &[Scalar]) -> Vec<Scalar> {
    let mut out = scalars.to_vec();
    for (value, bytes) in scalars.iter().zip(as_bytes_mut(&mut out).chunks_mut(32)) {
        bytes.copy_from_slice(&value.to_repr());
    }
    out
}

/// Lengths from 0 to `limit`, on and beside powers of two.
pub(super) fn sizes(limit: usize) -> Vec<usize> {
    let mut out = vec![0, 1, 2, 3];
    for k in [2, 3, 5, 6, 8, 10, 12, 14, 17, 20] {
        let n = 1usize << k;
        out.extend([n - 1, n, n + 1].iter().filter(|n| **n > 3 && **n <= limit));
    }
    out
}

/// Points with known discrete logarithms.
#[derive(Clone)]
pub(super) struct Known<C: Curve> {
    pub(super) points: Vec<C::Affine>,
    pub(super) logs: Vec<Scalar>,
}

impl<C: Curve> Known<C> {
    /// `n` distinct points: logarithms in an arithmetic progression, so that each costs one addition.
    pub(super) fn line(rng: &mut ChaCha8Rng, n: usize) -> Self {
        let (first, step) = (Scalar::random(&mut *rng), Scalar::random(&mut *rng));
        let stride: C::Projective = C::Projective::generator() * step;
        let mut sum: C::Projective = C::Projective::generator() * first;
        let (mut points, mut logs) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for i in 0..n {
            points.push(sum);
            logs.push(first + step * Scalar::from(i as u64));
            sum += stride;
        }
        let mut affine = vec![C::Affine::zeroed(); n];
        C::Projective::batch_normalize(&points, &mut affine);
        Self { points: affine, logs }
    }

    /// Makes point `i` the identity.
    pub(super) fn vanish(&mut self, i: usize) {
        self.points[i] = C::Affine::zeroed();
        self.logs[i] = Scalar::ZERO;
    }

    /// Makes point `to` the same as `from`, or its negative.
    pub(super) fn repeat(&mut self, from: usize, to: usize, negate: bool) {
        let (point, log) = (self.points[from], self.logs[from]);
        self.points[to] = if negate { -point } else { point };
        self.logs[to] = if negate { -log } else { log };
    }

    /// The sum over the given scalars.
    pub(super) fn sum(&self, scalars: impl IntoIterator<Item = Scalar>) -> C::Projective {
        let log: Scalar = self.logs.iter().zip(scalars).map(|(log, scalar)| scalar * log).sum();
        C::Projective::generator() * log
    }
}

/// A point with the right x and the wrong y.
pub(super) fn off_curve<C: Curve>(point: &C::Affine) -> C::Affine {
    let (x, y) = C::coordinates(point);
    C::from_coordinates(x, y.add(&C::Base::ONE))
}

/// A point on the curve and, the cofactors being large, not in the subgroup; `None` only if 200 abscissae were all unlucky.
pub(super) fn outside_subgroup<C: Curve>() -> Option<C::Affine> {
    (1..200u8).find_map(|x| {
        let mut bytes = <C::Affine as GroupEncoding>::Repr::default();
        let last = bytes.as_ref().len() - 1;
        bytes.as_mut()[0] = 0x80;
        bytes.as_mut()[last] = x;
        let point: Option<C::Affine> = C::Affine::from_bytes_unchecked(&bytes).into();
        point.filter(|p| C::is_on_curve(p) && !C::is_in_subgroup(p))
    })
}

/// Points as a file has them.
pub(super) fn encode<C: Curve>(points: &[C::Affine], encoding: PointEncoding) -> Vec<u8> {
    match encoding {
        PointEncoding::Montgomery => as_bytes(points).to_vec(),
        PointEncoding::ZcashBigEndian => points.iter().flat_map(|p| big_endian::<C>(p, 0x40)).collect(),
        PointEncoding::ZcashZeroIdentity => points.iter().flat_map(|p| big_endian::<C>(p, 0)).collect(),
    }
}

/// `identity` is the first byte of the identity, which is zeros beyond it.
fn big_endian<C: Curve>(point: &C::Affine, identity: u8) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(C::BYTES);
    for coordinate in as_bytes(std::slice::from_ref(point)).chunks(C::BYTES / 2) {
        for part in coordinate.chunks(48).rev() {
            out.extend(canonical_coordinate(part).iter().rev());
        }
    }
    if *point == C::Affine::identity() {
        out[0] = identity;
    }
    out
}

/// 48 little-endian bytes of the integer whose Montgomery form is given.
fn canonical_coordinate(montgomery: &[u8]) -> Vec<u8> {
    let mut limbs = [0u64; 6];
    for (limb, bytes) in limbs.iter_mut().zip(montgomery.chunks(8)) {
        *limb = bytes.iter().rev().fold(0, |l, b| l << 8 | u64::from(*b));
    }
    // A Montgomery product with the limbs of 1 takes the factor R away.
    let one = Fp::from_montgomery([1, 0, 0, 0, 0, 0]).unwrap_or_default();
    let value = Fp::from_montgomery(limbs).unwrap_or_default().mul(&one);
    value.to_montgomery().iter().flat_map(|l| l.to_le_bytes()).collect()
}

/// A number below `bound`.
pub(super) fn below(rng: &mut ChaCha8Rng, bound: usize) -> usize {
    (rng.next_u64() % bound.max(1) as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::{G1, G1Affine, G2, G2Affine};

    #[test]
    fn the_encoder_agrees_with_blst() {
        let g1 = Known::<G1>::line(&mut rng(), 3);
        let expected: Vec<u8> = g1.points.iter().flat_map(G1Affine::to_uncompressed).collect();
        assert_eq!(encode::<G1>(&g1.points, PointEncoding::ZcashBigEndian), expected);
        let g2 = Known::<G2>::line(&mut rng(), 3);
        let expected: Vec<u8> = g2.points.iter().flat_map(G2Affine::to_uncompressed).collect();
        assert_eq!(encode::<G2>(&g2.points, PointEncoding::ZcashBigEndian), expected);
        let identity = [G2Affine::identity()];
        assert_eq!(encode::<G2>(&identity, PointEncoding::ZcashBigEndian), identity[0].to_uncompressed());
    }

    #[test]
    fn logs_are_those_of_the_points() {
        let mut known = Known::<G1>::line(&mut rng(), 5);
        known.vanish(1);
        known.repeat(0, 3, true);
        for (point, log) in known.points.iter().zip(&known.logs) {
            assert_eq!(*point, G1Affine::from(crate::curve::G1Projective::generator() * log));
        }
    }
}
