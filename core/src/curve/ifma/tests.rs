use group::Group;
use group::prime::PrimeCurveAffine;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

use super::*;
use crate::curve::{Curve, G1, G2};

const SEED: u64 = 0x6966_6d61;

/// The textbook rule, with every case.
struct Textbook;
impl<F: BaseField> Exceptional<F> for Textbook {
    fn denominator(p: (F, F), q: (F, F)) -> F {
        let d = q.0.sub(&p.0);
        let identity = |p: &(F, F)| p.0.is_zero() && p.1.is_zero();
        if identity(&p) || identity(&q) {
            F::ONE
        } else if !d.is_zero() {
            d
        } else if p.1 == q.1 {
            p.1.double()
        } else {
            F::ONE
        }
    }
    fn add(p: (F, F), q: (F, F), inverse: F) -> (F, F) {
        let zero = F::default();
        if p == (zero, zero) {
            return q;
        }
        if q == (zero, zero) {
            return p;
        }
        if p.0 == q.0 && p.1 != q.1 {
            return (zero, zero);
        }
        let square = p.0.square();
        let numerator = if p.0 == q.0 { square.double().add(&square) } else { q.1.sub(&p.1) };
        let lambda = numerator.mul(&inverse);
        let x = lambda.square().sub(&p.0).sub(&q.0);
        (x, lambda.mul(&p.0.sub(&x)).sub(&p.1))
    }
}

fn sums_agree<C: Curve, P: PackedPoint<C::Base>>() {
    if !available() {
        eprintln!("skipped: this processor has no AVX-512 IFMA");
        return;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let some: Vec<C::Affine> = (0..300).map(|_| C::Projective::random(&mut rng).into()).collect();
    for special in [0u32, 3, 1] {
        // Runs of many lengths, with identities, repeats and opposites where `special` says.
        let mut lens: Vec<u32> = (0..60).map(|i| 1 + i * 7 % 23).collect();
        let total: u32 = lens.iter().sum();
        let points: Vec<C::Affine> = (0..total)
            .map(|_| match rng.next_u32() % 8 {
                k if k >= special * 2 => some[rng.next_u32() as usize % some.len()],
                0 => C::Affine::identity(),
                1 => some[0],
                _ => -some[0],
            })
            .collect();
        let mut rest = points.as_slice();
        let expected: Vec<C::Affine> = lens
            .iter()
            .map(|len| {
                let (run, after) = rest.split_at(*len as usize);
                rest = after;
                run.iter().fold(C::Projective::identity(), |sum, p| sum + p).into()
            })
            .collect();
        // Every third one is stored as its negative and referred to with a sign.
        let sign = |i: usize| u32::from(i.is_multiple_of(3));
        let packed: Vec<P> = points.iter().map(|p| P::pack(C::coordinates(p))).collect();
        let stored: Vec<P> =
            packed.iter().enumerate().map(|(i, p)| if sign(i) == 1 { p.negated() } else { *p }).collect();
        let refs: Vec<u32> = (0..stored.len()).map(|i| 2 * i as u32 + sign(i)).collect();
        let mut scratch = P::Scratch::default();
        let sums = P::sum_runs::<Textbook>(&stored, &refs, &mut lens, &mut scratch);
        assert_eq!(sums.len(), lens.len());
        for (i, (sum, expected)) in sums.iter().zip(&expected).enumerate() {
            let (x, y) = sum.unpack();
            assert_eq!(C::from_coordinates(x, y), *expected, "{} run {i}, seed {SEED:#x}", C::NAME);
        }
        assert!(lens.iter().all(|len| *len == 1));
        for p in &points {
            let (x, y) = P::pack(C::coordinates(p)).negated().unpack();
            assert_eq!(C::from_coordinates(x, y), -*p);
        }
    }
}

#[test]
fn sums_of_runs_agree() {
    sums_agree::<G1, Packed<1>>();
    sums_agree::<G2, Packed<2>>();
}
