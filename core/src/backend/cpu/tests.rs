use std::sync::Arc;

use ff::Field;
use group::Group;
use group::prime::PrimeCurveAffine;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::*;
use crate::backend::{DeviceBlock, DeviceCodes, PackedBits, class};
use crate::circuit::{Block, Codes, Matrix, Shift};
use crate::curve::{Element, G1, G1Affine, G2, G2Affine, as_bytes};
use crate::witness::{PackedWitness, WitnessBits};

const SEED: u64 = 0x6370_7521;

fn open() -> (CpuBackend, HostStream, ChaCha8Rng) {
    let backend = CpuBackend::open(&OpenOptions::default()).unwrap();
    let stream = backend.device().stream("test").unwrap();
    (backend, stream, ChaCha8Rng::seed_from_u64(SEED))
}

fn random(n: usize, rng: &mut ChaCha8Rng) -> Vec<Scalar> {
    (0..n).map(|i| if i % 7 == 3 { Scalar::ZERO } else { Scalar::random(&mut *rng) }).collect()
}

#[test]
fn pointwise_operations() {
    let (backend, s, mut rng) = open();
    for n in [0, 1, 2, 3, 1023, 1024, 1025, 9000] {
        let (a, b, c) = (random(n, &mut rng), random(n, &mut rng), random(n, &mut rng));
        let up = |x: &[Scalar]| backend.device().upload_new(&s, "x", x).unwrap();
        let (db, dc) = (up(&b), up(&c));
        let run = |op: Pointwise<'_, HostDevice>| {
            let mut io = up(&a);
            backend.pointwise(&s, &mut io, op).unwrap();
            backend.device().download_all(&s, &io).unwrap()
        };
        let expect = |f: &dyn Fn(usize) -> Scalar| (0..n).map(f).collect::<Vec<_>>();
        let (first, ratio) = (Scalar::from(3), Scalar::from(5));
        assert!(run(Pointwise::Add(&db)) == expect(&|i| a[i] + b[i]));
        assert!(run(Pointwise::Sub(&db)) == expect(&|i| a[i] - b[i]));
        assert!(run(Pointwise::Mul(&db)) == expect(&|i| a[i] * b[i]));
        assert!(run(Pointwise::MulSub(&db, &dc)) == expect(&|i| b[i] * c[i] - a[i]));
        assert!(
            run(Pointwise::HalfDifference(&db))
                == expect(&|i| (b[i] - a[i]) * Scalar::from(2).invert().unwrap())
        );
        assert!(run(Pointwise::Scale(ratio)) == expect(&|i| a[i] * ratio));
        assert!(
            run(Pointwise::Powers { first, ratio })
                == expect(&|i| a[i] * first * ratio.pow_vartime([i as u64]))
        );
        assert!(run(Pointwise::Inverse) == expect(&|i| a[i].invert().unwrap_or(Scalar::ZERO)));
        let canonical = run(Pointwise::ToCanonical);
        let bytes: Vec<u8> = a.iter().flat_map(ff::PrimeField::to_repr).collect();
        assert_eq!(as_bytes(&canonical), bytes);
        let mut io = up(&canonical);
        backend.pointwise(&s, &mut io, Pointwise::ToMontgomery).unwrap();
        assert!(io.as_slice() == a);
        let short = up(&vec![Scalar::ONE; n + 1]);
        let refused = backend.pointwise(&s, &mut io, Pointwise::Mul(&short));
        assert!(matches!(refused, Err(BackendError::Invalid { .. })));
    }
}

#[test]
fn classes_and_their_counts() {
    let (backend, s, _) = open();
    let z: Vec<Scalar> = [0, 1, 2, 65535, 65536, 1 << 40, 0, 1, 1].iter().map(|v| Scalar::from(*v)).collect();
    let z = [z, vec![-Scalar::ONE]].concat();
    let buffer = backend.device().upload_new(&s, "z", &z).unwrap();
    let classes = backend.classify(&s, &buffer).unwrap();
    use class::{FULL, ONE, SMALL, ZERO};
    assert_eq!(classes.codes.as_slice(), [ZERO, ONE, SMALL, SMALL, FULL, FULL, ZERO, ONE, ONE, FULL]);
    assert_eq!(classes.counts.as_slice(), [2, 3, 2, 3]);
}

#[test]
fn packed_witnesses_expand() {
    let (backend, s, mut rng) = open();
    for n in [0, 1, 63, 64, 65, 5000] {
        let z: Vec<Scalar> = (0..n)
            .map(|i| if i % 3 == 0 { Scalar::random(&mut rng) } else { Scalar::from(i as u64 % 2) })
            .collect();
        let packed = PackedWitness::from_dense(&z);
        let WitnessBits::Dense(words) = &packed.bits else { panic!() };
        let lanes: Vec<u64> =
            (0..packed.set.members).map(|i| (words[i / 64] >> (i % 64) & 1) << 17).collect();
        let device = backend.device();
        let set = device.upload_new(&s, "set", &packed.set.map).unwrap();
        let ranks = device.upload_new(&s, "ranks", &packed.set.ranks).unwrap();
        let rest = device.upload_new(&s, "rest", &packed.rest).unwrap();
        let words = device.upload_new(&s, "bits", words).unwrap();
        let lanes = device.upload_new(&s, "lanes", &lanes).unwrap();
        for bits in [PackedBits::Dense(&words), PackedBits::Lanes { words: &lanes, lane: 17 }] {
            let mut out = device.alloc("z", n).unwrap();
            backend.expand(&s, Expand { set: &set, ranks: &ranks, bits, rest: &rest }, &mut out).unwrap();
            assert!(out.as_slice() == z, "n = {n}, seed {SEED:#x}");
        }
        let mut longer = device.alloc("z", n + 1).unwrap();
        let packed = Expand { set: &set, ranks: &ranks, bits: PackedBits::Dense(&words), rest: &rest };
        assert!(matches!(backend.expand(&s, packed, &mut longer), Err(BackendError::Invalid { .. })));
    }
}

fn on_device(
    backend: &CpuBackend,
    s: &HostStream,
    matrix: &Matrix,
    dictionary: &[Scalar],
    cols: usize,
) -> DeviceMatrix<HostDevice> {
    let device = backend.device();
    let block = |b: &Block| DeviceBlock {
        rows: b.rows(),
        repeat: b.repeat,
        shifts: b.shifts.clone(),
        row_ptr: Arc::new(device.upload_new(s, "row_ptr", &b.row_ptr).unwrap()),
        cols: Arc::new(device.upload_new(s, "cols", &b.cols).unwrap()),
        codes: match &b.codes {
            Codes::Narrow(c) => DeviceCodes::Narrow(Arc::new(device.upload_new(s, "codes", c).unwrap())),
            Codes::Wide(c) => DeviceCodes::Wide(Arc::new(device.upload_new(s, "codes", c).unwrap())),
        },
    };
    DeviceMatrix {
        rows: matrix.rows(),
        cols,
        dictionary: Arc::new(device.upload_new(s, "dictionary", dictionary).unwrap()),
        blocks: matrix.blocks.iter().map(block).collect(),
    }
}

#[test]
fn matrix_times_vector() {
    let (backend, s, mut rng) = open();
    let dictionary = [Scalar::ONE, -Scalar::ONE, Scalar::from(9), Scalar::random(&mut rng)];
    let rows = 1500;
    let row_ptr: Vec<u32> = (0..=rows).map(|r: u32| r / 2 * 3).collect();
    let entries = rows / 2 * 3;
    let cols: Vec<u32> = (0..entries).map(|i| i * 37 % 400).collect();
    let codes = Codes::Narrow((0..entries).map(|i| (i * 11 % 4) as u16).collect());
    let block = |repeat, shifts| Block {
        repeat,
        shifts,
        row_ptr: row_ptr.clone(),
        cols: cols.clone(),
        codes: codes.clone(),
    };
    let shifts =
        vec![Shift { from: 100, until: 200, stride: 100 }, Shift { from: 300, until: 400, stride: 7 }];
    let wide = Block {
        repeat: 1,
        shifts: Vec::new(),
        row_ptr: vec![0, 2, 2],
        cols: vec![0, 5],
        codes: Codes::Wide(vec![3, 2]),
    };
    let matrix = Matrix { blocks: vec![block(1, Vec::new()), block(3, shifts), wide] };
    let z: Vec<Scalar> = random(450, &mut rng)
        .into_iter()
        .enumerate()
        .map(|(i, v)| if i % 5 == 0 { Scalar::ONE } else { v })
        .collect();
    let mut expected = vec![Scalar::ZERO; matrix.rows() + 10];
    matrix.for_each_row(|row, entries| {
        expected[row] = entries.map(|e| dictionary[e.code as usize] * z[e.col as usize]).sum();
    });
    let on = on_device(&backend, &s, &matrix, &dictionary, z.len());
    let z = backend.device().upload_new(&s, "z", &z).unwrap();
    let mut out = backend.device().upload_new(&s, "out", &vec![Scalar::ONE; expected.len()]).unwrap();
    backend.spmv(&s, &on, &z, &mut out).unwrap();
    assert!(out.as_slice() == expected, "seed {SEED:#x}");
    // A dictionary that is too short, a column that is too far right, too little room.
    let invalid = |r: Result<()>| assert!(matches!(r, Err(BackendError::Invalid { .. })), "{r:?}");
    invalid(backend.spmv(&s, &on_device(&backend, &s, &matrix, &dictionary[..3], 450), &z, &mut out));
    let short = backend.device().upload_new(&s, "z", &[Scalar::ONE; 300]).unwrap();
    invalid(backend.spmv(&s, &on_device(&backend, &s, &matrix, &dictionary, 300), &short, &mut out));
    invalid(backend.spmv(&s, &on, &short, &mut out));
    let mut small = backend.device().alloc("out", 10).unwrap();
    invalid(backend.spmv(&s, &on, &z, &mut small));
}

fn fixed_base_agrees<C: Curve>(sizes: &[usize]) {
    let (backend, s, mut rng) = open();
    let base: C::Affine = C::Projective::random(&mut rng).into();
    for &n in sizes {
        let mut k = random(n, &mut rng);
        k.iter_mut().skip(1).step_by(5).for_each(|k| *k = -Scalar::ONE);
        let scalars = backend.device().upload_new(&s, "k", &k).unwrap();
        for base in [base, C::Affine::identity()] {
            let mut out = backend.device().alloc("out", n).unwrap();
            backend.fixed_base::<C>(&s, &base, &scalars, &mut out).unwrap();
            let expected: Vec<C::Affine> = k.iter().map(|k| (base * k).into()).collect();
            assert!(out.as_slice() == expected, "{} n = {n}, seed {SEED:#x}", C::NAME);
        }
    }
}

#[test]
fn multiples_of_one_base() {
    fixed_base_agrees::<G1>(&[0, 1, 2, 3, 65, 1025]);
    fixed_base_agrees::<G2>(&[0, 1, 2, 130]);
}

/// A point on the curve outside the subgroup: the first x that has a y and whose point is not torsion-free.
fn stray_g1() -> G1Affine {
    (1u8..=255)
        .find_map(|x| {
            let mut bytes = [0; 48];
            (bytes[0], bytes[47]) = (0x80, x);
            let p: G1Affine = Option::from(G1Affine::from_compressed_unchecked(&bytes))?;
            (bool::from(p.is_on_curve()) && !bool::from(p.is_torsion_free())).then_some(p)
        })
        .unwrap()
}

#[test]
fn points_are_checked() {
    let (backend, s, _) = open();
    let g = G1Affine::generator();
    let mut points = vec![g; 200];
    let report = |points: &[G1Affine]| {
        let points = backend.device().upload_new(&s, "points", points).unwrap();
        backend.check_points::<G1>(&s, &points).unwrap().wait().unwrap()
    };
    points[7] = G1Affine::zeroed();
    assert!(report(&points).is_clean() && report(&[]).is_clean());
    let (x, y) = G1::coordinates(&g);
    (points[150], points[190]) = (G1::from_coordinates(y, x), G1::from_coordinates(y, x));
    (points[130], points[199]) = (stray_g1(), stray_g1());
    let found = report(&points);
    assert_eq!(found, PointReport { malformed: None, off_curve: Some(150), outside_subgroup: Some(130) });
}

#[test]
fn encodings_are_decoded() {
    let (backend, s, mut rng) = open();
    let points: Vec<G2Affine> = (0..40)
        .map(
            |i| if i == 5 { G2Affine::zeroed() } else { crate::curve::G2Projective::random(&mut rng).into() },
        )
        .collect();
    let decode = |bytes: &[u8], encoding| {
        let bytes = backend.device().upload_new(&s, "bytes", bytes).unwrap();
        let mut out = backend.device().alloc("points", 40).unwrap();
        let report = backend.convert_points::<G2>(&s, &bytes, encoding, &mut out).unwrap().wait().unwrap();
        (report, out.as_slice().to_vec())
    };
    let memory = as_bytes(&points).to_vec();
    assert_eq!(decode(&memory, PointEncoding::Montgomery), (PointReport::default(), points.clone()));
    let zcash: Vec<u8> = points.iter().flat_map(|p| p.to_uncompressed()).collect();
    assert_eq!(decode(&zcash, PointEncoding::ZcashBigEndian), (PointReport::default(), points.clone()));
    // Point 9: a coordinate of 2^384 - 1; a compressed flag; a sign; infinity with a coordinate; (0, 0) without infinity.
    let mut bad_memory = memory;
    bad_memory[9 * 192 + 48..9 * 192 + 96].fill(0xff);
    let (report, out) = decode(&bad_memory, PointEncoding::Montgomery);
    assert_eq!((report.malformed, out[9], out[10]), (Some(9), G2Affine::zeroed(), points[10]));
    type Spoil = fn(&mut [u8]);
    let spoil: [Spoil; 6] = [
        |p| p[0] |= 0x80,
        |p| p[0] |= 0x20,
        |p| p[0] |= 0x40,
        |p| p.fill(0),
        |p| p[0] = 0x1f,
        |p| p[144] = 0x1f,
    ];
    for (i, spoil) in spoil.iter().enumerate() {
        let mut bad = zcash.clone();
        spoil(&mut bad[9 * 192..10 * 192]);
        let (report, out) = decode(&bad, PointEncoding::ZcashBigEndian);
        assert_eq!(
            (report.malformed, out[9], out[10]),
            (Some(9), G2Affine::zeroed(), points[10]),
            "case {i}"
        );
    }
    let bytes = backend.device().upload_new(&s, "bytes", &[0u8; 191]).unwrap();
    let mut out = backend.device().alloc("points", 1).unwrap();
    let refused = backend.convert_points::<G2>(&s, &bytes, PointEncoding::Montgomery, &mut out);
    assert!(matches!(refused, Err(BackendError::Invalid { .. })));
}
