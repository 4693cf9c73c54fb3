//! The field and curve headers of the kernels against blst, on the CPU: they are compiled by the system's C++ compiler with the carry flag emulated. A
//! million vectors for each field operation, edge values among them; points by their affine values.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use cuzk_core::curve::{BaseField, Curve, Element, Fp, Fp2, G1, G2, Scalar, as_bytes, as_bytes_mut};
use ff::{Field, PrimeField};
use group::Group;
use group::prime::PrimeCurveAffine;
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

const SEED: u64 = 0x6865_6164;
const VECTORS: usize = 1_000_000;
const POINTS: usize = 20_000;

/// The program of headers.cpp, compiled once.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = PROGRAM.get_or_init(|| {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("headers");
        let status = Command::new("c++")
            .args(["-std=c++17", "-O2", "-w", "-I"])
            .arg(here.join("../kernels"))
            .arg(here.join("tests/headers.cpp"))
            .arg("-o")
            .arg(&path)
            .status()
            .expect("a C++ compiler named c++");
        assert!(status.success(), "the headers do not compile for a CPU");
        (folder, path)
    });
    path
}

/// Results of an operation on packed operands.
fn run(kind: &str, op: &str, input: Vec<u8>, result: usize, count: usize) -> Vec<u8> {
    let mut child = Command::new(program())
        .args([kind, op])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&input).unwrap());
    let mut out = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut out).unwrap();
    writer.join().unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(out.len(), result * count, "{kind} {op} must give {count} results");
    out
}

/// A field as its limbs lie in memory.
trait Limbs: Copy + PartialEq + std::fmt::Debug {
    const KIND: &'static str;
    const BYTES: usize;
    fn random(rng: &mut ChaCha20Rng) -> Self;
    fn edges() -> Vec<Self>;
    fn bytes(&self) -> Vec<u8>;
}

fn scalar_from_montgomery(limbs: [u64; 4]) -> Scalar {
    let mut scalar = Scalar::ZERO;
    as_bytes_mut(std::slice::from_mut(&mut scalar)).copy_from_slice(as_bytes(&limbs));
    scalar
}

impl Limbs for Scalar {
    const KIND: &'static str = "fr";
    const BYTES: usize = 32;
    fn random(rng: &mut ChaCha20Rng) -> Self {
        <Scalar as Field>::random(rng)
    }
    fn edges() -> Vec<Self> {
        // In Montgomery form, because that is what the limbs are: 0, 1, all low bits, 2^64 and so on, and r - 1.
        let small =
            [0, 1, 2, u64::from(u32::MAX), 1 << 32, u64::MAX].map(|x| scalar_from_montgomery([x, 0, 0, 0]));
        let high = [scalar_from_montgomery([0, 0, 0, 1 << 62]), Scalar::ONE];
        small.iter().chain(&high).flat_map(|x| [*x, -*x]).collect()
    }
    fn bytes(&self) -> Vec<u8> {
        as_bytes(std::slice::from_ref(self)).to_vec()
    }
}

impl Limbs for Fp {
    const KIND: &'static str = "fp";
    const BYTES: usize = 48;
    fn random(rng: &mut ChaCha20Rng) -> Self {
        loop {
            let mut limbs = [0u64; 6].map(|_| rng.next_u64());
            limbs[5] >>= 3;
            if let Some(fp) = Fp::from_montgomery(limbs) {
                return fp;
            }
        }
    }
    fn edges() -> Vec<Self> {
        let small = [0, 1, 2, u64::from(u32::MAX), 1 << 32, u64::MAX];
        let small = small.map(|x| Fp::from_montgomery([x, 0, 0, 0, 0, 0]).unwrap());
        let high = [Fp::from_montgomery([0, 0, 0, 0, 0, 1 << 60]).unwrap(), Fp::ONE];
        small.iter().chain(&high).flat_map(|x| [*x, x.negate_if(true)]).collect()
    }
    fn bytes(&self) -> Vec<u8> {
        as_bytes(&self.to_montgomery()).to_vec()
    }
}

impl Limbs for Fp2 {
    const KIND: &'static str = "fp2";
    const BYTES: usize = 96;
    fn random(rng: &mut ChaCha20Rng) -> Self {
        Fp2::new(<Fp as Limbs>::random(rng), <Fp as Limbs>::random(rng))
    }
    fn edges() -> Vec<Self> {
        let edges = Fp::edges();
        edges.iter().zip(edges.iter().rev()).map(|(a, b)| Fp2::new(*a, *b)).collect()
    }
    fn bytes(&self) -> Vec<u8> {
        [self.c0().bytes(), self.c1().bytes()].concat()
    }
}

/// `count` values, one in eight an edge.
fn values<F: Limbs>(rng: &mut ChaCha20Rng, count: usize) -> Vec<F> {
    let edges = F::edges();
    let pick = |rng: &mut ChaCha20Rng| match rng.next_u32() % 8 {
        0 => edges[rng.next_u32() as usize % edges.len()],
        _ => F::random(rng),
    };
    (0..count).map(|_| pick(rng)).collect()
}

/// Compares an operation of N operands with `expected` on `count` vectors.
fn compare<F: Limbs, const N: usize>(op: &str, count: usize, expected: impl Fn([F; N]) -> F) {
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let flat = values::<F>(&mut rng, count * N);
    let vectors: Vec<[F; N]> = flat.chunks(N).map(|v| v.try_into().unwrap()).collect();
    let input = flat.iter().flat_map(F::bytes).collect();
    let out = run(F::KIND, op, input, F::BYTES, count);
    for (vector, got) in vectors.iter().zip(out.chunks(F::BYTES)) {
        assert!(
            expected(*vector).bytes() == got,
            "{} {op} of {vector:?}, seed {SEED:#x}: {got:02x?}",
            F::KIND
        );
    }
}

#[test]
fn fr_matches_blst() {
    compare::<Scalar, 2>("add", VECTORS, |[a, b]| a + b);
    compare::<Scalar, 2>("sub", VECTORS, |[a, b]| a - b);
    compare::<Scalar, 2>("mul", VECTORS, |[a, b]| a * b);
    compare::<Scalar, 1>("sqr", VECTORS, |[a]| a.square());
    compare::<Scalar, 1>("inverse", 2000, |[a]| a.invert().unwrap_or(Scalar::ZERO));
    compare::<Scalar, 1>("canonical", VECTORS, |[a]| {
        let bytes = a.to_repr();
        scalar_from_montgomery(std::array::from_fn(|i| {
            u64::from_le_bytes(bytes[8 * i..][..8].try_into().unwrap())
        }))
    });
    let r = (0..256).fold(Scalar::ONE, |x, _| x.double());
    compare::<Scalar, 1>("montgomery", VECTORS, |[a]| a * r);
}

fn base_field<F: Limbs + BaseField>(count: usize) {
    compare::<F, 2>("add", count, |[a, b]| BaseField::add(&a, &b));
    compare::<F, 2>("sub", count, |[a, b]| BaseField::sub(&a, &b));
    compare::<F, 2>("mul", count, |[a, b]| BaseField::mul(&a, &b));
    compare::<F, 1>("sqr", count, |[a]| BaseField::square(&a));
    compare::<F, 1>("inverse", 1000, |[a]| BaseField::inverse(&a));
}

#[test]
fn fp_matches_blst() {
    base_field::<Fp>(VECTORS);
    compare::<Fp, 4>("mul_add", VECTORS, |[a, b, c, d]| BaseField::add(&a.mul(&b), &c.mul(&d)));
}

#[test]
fn fp2_matches_blst() {
    base_field::<Fp2>(VECTORS);
}

/// XYZZ coordinates of a point, scaled by some z; identity: ZZ = 0 and whatever else.
fn xyzz<C: Curve>(p: &C::Affine, z: &C::Base) -> [C::Base; 4] {
    let (x, y) = C::coordinates(p);
    let (zz, zero) = (z.square(), C::Base::default());
    let zzz = zz.mul(z);
    if bool::from(p.is_identity()) { [*z, *z, zero, zero] } else { [x.mul(&zz), y.mul(&zzz), zz, zzz] }
}

fn from_xyzz<C: Curve>([x, y, zz, zzz]: [C::Base; 4]) -> C::Affine {
    if zz.is_zero() {
        return C::Affine::zeroed();
    }
    assert!(zz.mul(&zz).mul(&zz) == zzz.square(), "ZZ^3 must be ZZZ^2");
    C::from_coordinates(x.mul(&zz.inverse()), y.mul(&zzz.inverse()))
}

/// Pairs of points: random, equal, opposite, with the identity on either side.
fn pairs<C: Curve>(rng: &mut ChaCha20Rng) -> Vec<(C::Affine, C::Affine)> {
    let step = C::Affine::from(C::Projective::random(&mut *rng));
    let mut point = C::Projective::random(&mut *rng);
    let mut last = step;
    (0..POINTS)
        .map(|i| {
            point += &step;
            let p = C::Affine::from(point);
            let q = std::mem::replace(&mut last, p);
            match i % 16 {
                0 => (p, p),
                1 => (p, C::Affine::from(-p.to_curve())),
                2 => (C::Affine::zeroed(), p),
                3 => (p, C::Affine::zeroed()),
                4 => (C::Affine::zeroed(), C::Affine::zeroed()),
                _ => (p, q),
            }
        })
        .collect()
}

/// Operands of a vector, from two points and two scales.
type Encode<'a, C> =
    &'a dyn Fn(&<C as Curve>::Affine, &<C as Curve>::Affine, &[<C as Curve>::Base; 2]) -> Vec<u8>;

fn curve<C: Curve>(kind: &str)
where
    C::Base: Limbs,
{
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let pairs = pairs::<C>(&mut rng);
    let scales: Vec<[C::Base; 2]> =
        pairs.iter().map(|_| [0, 1].map(|_| <C::Base as Limbs>::random(&mut rng))).collect();
    let coordinates = |values: &[C::Base]| values.iter().flat_map(Limbs::bytes).collect::<Vec<u8>>();
    let points = |bytes: &[u8]| -> Vec<C::Affine> {
        let field = |bytes: &[u8]| {
            let mut point = C::Affine::zeroed();
            as_bytes_mut(std::slice::from_mut(&mut point))[..C::BYTES / 2].copy_from_slice(bytes);
            C::coordinates(&point).0
        };
        bytes
            .chunks(2 * C::BYTES)
            .map(|p| from_xyzz::<C>(std::array::from_fn(|i| field(&p[i * C::BYTES / 2..][..C::BYTES / 2]))))
            .collect()
    };
    let each = |f: Encode<'_, C>| -> Vec<u8> {
        pairs.iter().zip(&scales).flat_map(|((p, q), z)| f(p, q, z)).collect()
    };
    let result = 2 * C::BYTES;

    // A mixed addition is never given the identity as its affine operand.
    let not_identity = |q: &C::Affine| if bool::from(q.is_identity()) { C::Affine::generator() } else { *q };
    let input =
        each(&|p, q, z| [coordinates(&xyzz::<C>(p, &z[0])), as_bytes(&[not_identity(q)]).to_vec()].concat());
    let got = points(&run(kind, "add_affine", input, result, POINTS));
    for ((p, q), got) in pairs.iter().zip(&got) {
        assert_eq!(
            *got,
            C::Affine::from(p.to_curve() + not_identity(q).to_curve()),
            "{p:?} + {q:?}, seed {SEED:#x}"
        );
    }

    let input = each(&|p, q, z| coordinates(&[xyzz::<C>(p, &z[0]), xyzz::<C>(q, &z[1])].concat()));
    let got = points(&run(kind, "add_point", input, result, POINTS));
    for ((p, q), got) in pairs.iter().zip(&got) {
        assert_eq!(*got, C::Affine::from(p.to_curve() + q.to_curve()), "{p:?} + {q:?}, seed {SEED:#x}");
    }

    let input = each(&|p, _, z| coordinates(&xyzz::<C>(p, &z[0])));
    let got = points(&run(kind, "dbl", input, result, POINTS));
    for ((p, _), got) in pairs.iter().zip(&got) {
        assert_eq!(*got, C::Affine::from(p.to_curve().double()), "2 {p:?}, seed {SEED:#x}");
    }

    let few: Vec<_> =
        pairs.iter().zip(&scales).filter(|((p, _), _)| !bool::from(p.is_identity())).take(300).collect();
    let input = few.iter().flat_map(|((p, _), z)| coordinates(&xyzz::<C>(p, &z[0]))).collect();
    let out = run(kind, "to_affine", input, C::BYTES, few.len());
    for (((p, _), _), got) in few.iter().zip(out.chunks(C::BYTES)) {
        assert_eq!(as_bytes(std::slice::from_ref(p)), got, "{p:?}, seed {SEED:#x}");
    }
}

#[test]
fn g1_matches_blst() {
    curve::<G1>("g1");
}

#[test]
fn g2_matches_blst() {
    curve::<G2>("g2");
}
