use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

use super::*;
use crate::backend::cpu::CpuBackend;
use crate::backend::{Backend, Device, OpenOptions, PointEncoding};
use crate::curve::{G1, G2};

const SEED: u64 = 0x6d73_6d21;

fn naive<C: Curve>(bases: &[C::Affine], scalars: &[Scalar]) -> C::Projective {
    bases.iter().zip(scalars).map(|(b, s)| *b * s).sum()
}

/// Multiples k G of small and of random k, as fixed-base multiplication makes them.
fn bases<C: Curve>(n: usize, rng: &mut ChaCha8Rng) -> Vec<C::Affine> {
    let mut k: Vec<Scalar> = (0..n).map(|_| Scalar::random(&mut *rng)).collect();
    // Identities, repeats, P beside -P.
    for i in (1..n).filter(|i| i % 5 == 0) {
        k[i] = match i % 3 {
            0 => Scalar::ZERO,
            1 => k[i - 1],
            _ => -k[i - 1],
        };
    }
    let mut out = vec![C::Affine::zeroed(); n];
    crate::backend::cpu::fixed_base::multiples::<C>(&C::Affine::generator(), &k, &mut out);
    out
}

fn distributions(n: usize, rng: &mut ChaCha8Rng) -> Vec<(&'static str, Vec<Scalar>)> {
    let random: Vec<Scalar> = (0..n).map(|_| Scalar::random(&mut *rng)).collect();
    let small = |rng: &mut ChaCha8Rng| Scalar::from(u64::from(rng.next_u32() & 0xffff));
    let witness = |i: usize, rng: &mut ChaCha8Rng| match i % 64 {
        0 => Scalar::random(&mut *rng),
        1 => small(rng),
        2 => -small(rng),
        _ => Scalar::from(u64::from(rng.next_u32() & 1)),
    };
    vec![
        ("zero", vec![Scalar::ZERO; n]),
        ("one", vec![Scalar::ONE; n]),
        ("minus one", vec![-Scalar::ONE; n]),
        ("equal", vec![random.first().copied().unwrap_or(Scalar::ONE); n]),
        ("small", (0..n).map(|_| small(rng)).collect()),
        ("powers of two", (0..n).map(|i| Scalar::from(2).pow_vartime([(i % 255) as u64])).collect()),
        ("half", (0..n).map(|i| if i % 2 == 0 { Scalar::TWO_INV } else { -Scalar::TWO_INV }).collect()),
        ("like a witness", (0..n).map(|i| witness(i, rng)).collect()),
        ("random", random),
    ]
}

fn agrees<C: Curve>(sizes: &[usize]) {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    for &n in sizes {
        let bases = bases::<C>(n, &mut rng);
        for (name, scalars) in distributions(n, &mut rng) {
            let found = msm::<C>(&bases, &scalars);
            // Where the processor has vector code for it, scalar code must agree.
            let source =
                Source { scalars: &scalars, form: ScalarForm::Montgomery, select: None, classes: None };
            assert_eq!(
                sum_by::<C, Plain>(&source, 0, &bases),
                found,
                "{} {name}, n = {n}, seed {SEED:#x}",
                C::NAME
            );
            assert_eq!(found, naive::<C>(&bases, &scalars), "{} {name}, n = {n}, seed {SEED:#x}", C::NAME);
        }
    }
}

#[test]
fn agrees_with_naive_in_g1() {
    agrees::<G1>(&[0, 1, 2, 3, 5, 31, 33, 255, 257, 1025]);
}

#[test]
fn agrees_with_naive_in_g2() {
    agrees::<G2>(&[0, 1, 2, 3, 33, 129, 300]);
}

/// Large enough for several blocks and levels of joins: against the sum of k_i s_i, known for multiples of the generator.
#[test]
fn agrees_for_large_and_skewed() {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    for n in [4095, 4096, 20_000] {
        let k: Vec<Scalar> = (0..n).map(|_| Scalar::random(&mut rng)).collect();
        let mut bases = vec![crate::curve::G1Affine::zeroed(); n];
        crate::backend::cpu::fixed_base::multiples::<G1>(&PrimeCurveAffine::generator(), &k, &mut bases);
        for (name, scalars) in distributions(n, &mut rng) {
            let expected: Scalar = k.iter().zip(&scalars).map(|(k, s)| *k * s).sum();
            let expected = crate::curve::G1Projective::generator() * expected;
            assert_eq!(msm::<G1>(&bases, &scalars), expected, "{name}, n = {n}, seed {SEED:#x}");
            let source =
                Source { scalars: &scalars, form: ScalarForm::Montgomery, select: None, classes: None };
            assert_eq!(sum_by::<G1, Plain>(&source, 0, &bases), expected, "{name}, n = {n}, seed {SEED:#x}");
        }
        let same = vec![bases[0]; n];
        assert_eq!(msm::<G1>(&same, &vec![Scalar::ONE; n]), bases[0] * Scalar::from(n as u64));
    }
}

#[test]
fn forms_select_classes_and_streams_agree() {
    let backend = CpuBackend::open(&OpenOptions::default()).unwrap();
    let device = backend.device();
    let stream = device.stream("test").unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let n = 700;
    let points = bases::<G1>(n, &mut rng);
    let resident = device.upload_new(&stream, "bases", &points).unwrap();
    let streamed = EncodedPoints::<G1>::from_points(&points);
    let zcash: Vec<u8> = points.iter().flat_map(|p| p.to_uncompressed()).collect();
    let len = zcash.len();
    let zcash =
        EncodedPoints::<G1>::new(std::sync::Arc::new(zcash), 0..len, PointEncoding::ZcashBigEndian).unwrap();
    for (name, z) in distributions(2 * n, &mut rng) {
        let select: Vec<u32> = (0..n as u32).map(|i| (i * 7 + 3) % (2 * n as u32)).collect();
        let picked: Vec<Scalar> = select.iter().map(|i| z[*i as usize]).collect();
        let expected = naive::<G1>(&points, &picked);
        let montgomery = device.upload_new(&stream, "z", &z).unwrap();
        let mut canonical = device.upload_new(&stream, "z", &z).unwrap();
        backend.pointwise(&stream, &mut canonical, crate::backend::Pointwise::ToCanonical).unwrap();
        let classes = backend.classify(&stream, &montgomery).unwrap();
        let select = device.upload_new(&stream, "select", &select).unwrap();
        for bases in [
            Bases::<HostDevice, G1>::Resident(&resident),
            Bases::Streamed(&streamed),
            Bases::Streamed(&zcash),
        ] {
            for (scalars, form) in
                [(&montgomery, ScalarForm::Montgomery), (&canonical, ScalarForm::Canonical)]
            {
                for classes in [None, Some(&classes)] {
                    let bases = match &bases {
                        Bases::Resident(b) => Bases::Resident(*b),
                        Bases::Streamed(s) => Bases::Streamed(s),
                    };
                    let op = Msm { bases, scalars, form, select: Some(&select), classes };
                    let found = backend.msm::<G1>(&stream, op).unwrap().wait().unwrap();
                    assert_eq!(found, expected, "{name}, {form:?}, classes: {}", classes.is_some());
                }
            }
        }
    }
}

#[test]
fn wrong_lengths_and_malformed_bases_are_refused() {
    let backend = CpuBackend::open(&OpenOptions::default()).unwrap();
    let device = backend.device();
    let stream = device.stream("test").unwrap();
    let bases = device.upload_new(&stream, "bases", &[crate::curve::G1Affine::generator(); 3]).unwrap();
    let scalars = device.upload_new(&stream, "scalars", &[Scalar::ONE; 2]).unwrap();
    let run = |bases, select: Option<&[u32]>| {
        let select = select.map(|s| device.upload_new(&stream, "select", s).unwrap());
        let op = Msm {
            bases,
            scalars: &scalars,
            form: ScalarForm::Montgomery,
            select: select.as_ref(),
            classes: None,
        };
        backend.msm::<G1>(&stream, op).map(|p| p.wait().unwrap())
    };
    assert!(matches!(run(Bases::Resident(&bases), None), Err(BackendError::Invalid { .. })));
    assert!(matches!(run(Bases::Resident(&bases), Some(&[0, 1])), Err(BackendError::Invalid { .. })));
    assert!(matches!(run(Bases::Resident(&bases), Some(&[0, 1, 2])), Err(BackendError::Invalid { .. })));
    assert!(run(Bases::Resident(&bases), Some(&[0, 1, 1])).is_ok());
    let bytes = std::sync::Arc::new(vec![0xffu8; 96]);
    let malformed = EncodedPoints::<G1>::new(bytes, 0..96, PointEncoding::Montgomery).unwrap();
    assert!(matches!(run(Bases::Streamed(&malformed), None), Err(BackendError::Host { .. })));
}
