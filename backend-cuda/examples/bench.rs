//! Times operations on a CUDA device: `bench FOLDER [WHAT...]`, WHAT among g1, g2, ntt, spmv, skew; all unless some are named. Every result is checked:
//! sums against known discrete logarithms, transforms by going back. Medians of wall time to the host result, after warm-up.
#![expect(clippy::print_stdout, reason = "a program")]
#![expect(clippy::unwrap_used, reason = "a measuring program stops at the first error")]

use std::sync::Arc;
use std::time::Instant;

use cuzk_backend_cuda::{CudaBackend, CudaBuffer, CudaStream, KernelCache};
use cuzk_core::backend::{
    Backend, Bases, Device, DeviceBlock, DeviceCodes, DeviceMatrix, Direction, Msm, Ntt, OpenOptions, Order,
    ScalarForm,
};
use cuzk_core::curve::{Curve, G1, G2, Root, Scalar};
use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

struct Bench {
    backend: CudaBackend,
    stream: CudaStream,
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

impl Bench {
    fn time(&self, repeats: usize, mut run: impl FnMut()) -> f64 {
        for _ in 0..2 {
            run();
        }
        median(
            (0..repeats)
                .map(|_| {
                    let start = Instant::now();
                    run();
                    start.elapsed().as_secs_f64() * 1e3
                })
                .collect(),
        )
    }

    /// Random scalars: a few random ones, their products with powers on the device, so that making them costs nothing.
    fn scalars(&self, n: usize, seed: u64) -> CudaBuffer<Scalar> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let device = self.backend.device();
        let seedling: Vec<Scalar> = (0..n.min(1 << 16)).map(|_| Scalar::random(&mut rng)).collect();
        let small = device.upload_new(&self.stream, "seed", &seedling).unwrap();
        let mut out = device.alloc("scalars", n).unwrap();
        for at in (0..n).step_by(1 << 16) {
            device.copy(&self.stream, &small, 0..(n - at).min(1 << 16), &mut out, at).unwrap();
        }
        let powers = cuzk_core::backend::Pointwise::Powers {
            first: Scalar::random(&mut rng),
            ratio: Scalar::random(&mut rng),
        };
        self.backend.pointwise(&self.stream, &mut out, powers).unwrap();
        out
    }

    fn msm<C: Curve>(
        &self,
        bases: &CudaBuffer<C::Affine>,
        scalars: &CudaBuffer<Scalar>,
        classes: Option<&cuzk_core::backend::Classes<cuzk_backend_cuda::CudaDevice>>,
    ) -> C::Projective {
        let op = Msm {
            bases: Bases::Resident(bases),
            scalars,
            form: ScalarForm::Montgomery,
            select: None,
            classes,
        };
        self.backend.msm::<C>(&self.stream, op).unwrap().wait().unwrap()
    }

    /// Bases with known logarithms: ratio^j times the generator, so that a sum is an evaluation that the host can do.
    fn bases<C: Curve>(&self, n: usize) -> (CudaBuffer<C::Affine>, Vec<Scalar>) {
        let device = self.backend.device();
        let logarithms = self.scalars(n, 99);
        let mut bases = device.alloc("bases", n).unwrap();
        let generator = C::Affine::generator();
        self.backend.fixed_base::<C>(&self.stream, &generator, &logarithms, &mut bases).unwrap();
        (bases, device.download_all(&self.stream, &logarithms).unwrap())
    }

    fn check<C: Curve>(&self, sum: C::Projective, logarithms: &[Scalar], scalars: &CudaBuffer<Scalar>) {
        let scalars = self.backend.device().download_all(&self.stream, scalars).unwrap();
        let expected: Scalar = logarithms.iter().zip(&scalars).map(|(k, s)| *k * s).sum();
        let expected = C::Affine::generator() * expected;
        assert!(sum == expected, "a sum in {} is wrong", C::NAME);
    }

    fn msms<C: Curve>(&self, sizes: &[u32]) {
        for &log_n in sizes {
            let n = 1usize << log_n;
            let (bases, logarithms) = self.bases::<C>(n);
            let scalars = self.scalars(n, 5);
            self.check::<C>(self.msm::<C>(&bases, &scalars, None), &logarithms, &scalars);
            let ms = self.time(if log_n > 22 { 5 } else { 9 }, || {
                self.msm::<C>(&bases, &scalars, None);
            });
            println!("{} MSM 2^{log_n}: {ms:.3} ms", C::NAME);
        }
    }

    /// Distributions that must not be slower than random scalars.
    fn skew(&self, log_n: u32) {
        let n = 1usize << log_n;
        let (bases, logarithms) = self.bases::<G1>(n);
        let mut rng = ChaCha20Rng::seed_from_u64(17);
        let one = Scalar::random(&mut rng);
        let profile = |i: usize| match i * 7919 % 1000 {
            0..514 => Scalar::ZERO,
            514..987 => Scalar::ONE,
            _ => one * Scalar::from(i as u64 + 3),
        };
        let cases: [(&str, &dyn Fn(usize) -> Scalar); 5] = [
            ("zero", &|_| Scalar::ZERO),
            ("one", &|_| Scalar::ONE),
            ("equal", &|_| one),
            ("minus one", &|_| -Scalar::ONE),
            ("PoRep profile", &profile),
        ];
        for (name, value) in cases {
            let host: Vec<Scalar> = (0..n).map(value).collect();
            let scalars = self.backend.device().upload_new(&self.stream, "skewed", &host).unwrap();
            let classes = self.backend.classify(&self.stream, &scalars).unwrap();
            for (how, classes) in [("", None), (", classified", Some(&classes))] {
                self.check::<G1>(self.msm::<G1>(&bases, &scalars, classes), &logarithms, &scalars);
                let ms = self.time(5, || {
                    self.msm::<G1>(&bases, &scalars, classes);
                });
                println!("G1 MSM 2^{log_n}, {name}{how}: {ms:.3} ms");
            }
        }
    }

    fn ntts(&self, sizes: &[u32]) {
        for &log_n in sizes {
            // The coset of proofs, and any other.
            let shift = Root::Seven.of_unity(log_n + 1).unwrap();
            let other = Scalar::MULTIPLICATIVE_GENERATOR;
            let forward = Ntt::new(log_n, Direction::Forward, Root::Seven);
            let inverse = Ntt::new(log_n, Direction::Inverse, Root::Seven);
            let mut io = self.scalars(1 << log_n, 3);
            let head = |io: &CudaBuffer<Scalar>| {
                let mut head = vec![Scalar::ZERO; 1 << 10];
                self.backend.device().download(&self.stream, io, 0, &mut head).unwrap();
                head
            };
            let before = head(&io);
            let orders = (Order::Natural, Order::BitReversed);
            let pairs = [
                ("natural", forward, inverse),
                ("coset", forward.on_coset(shift), inverse.on_coset(shift)),
                ("other coset", forward.on_coset(other), inverse.on_coset(other)),
                (
                    "to bit-reversed and back",
                    forward.ordered(orders.0, orders.1),
                    inverse.ordered(orders.1, orders.0),
                ),
            ];
            for (name, there, back) in pairs {
                let mut times = [Vec::new(), Vec::new()];
                for _ in 0..12 {
                    for (op, times) in [there, back].iter().zip(&mut times) {
                        self.backend.device().finish(&self.stream).unwrap();
                        let start = Instant::now();
                        self.backend.ntt(&self.stream, &mut io, op).unwrap();
                        self.backend.device().finish(&self.stream).unwrap();
                        times.push(start.elapsed().as_secs_f64() * 1e3);
                    }
                }
                assert!(head(&io) == before, "a transform and its inverse do not give the same");
                let [there, back] = times.map(|times| median(times[2..].to_vec()));
                println!("NTT 2^{log_n}, {name}: forward {there:.4} ms, inverse {back:.4} ms");
            }
        }
    }

    /// One of each, for a profiler.
    fn profile(&self) {
        let (bases, scalars) = (self.bases::<G1>(1 << 24).0, self.scalars(1 << 24, 5));
        self.msm::<G1>(&bases, &scalars, None);
        let (bases, scalars) = (self.bases::<G1>(1 << 16).0, self.scalars(1 << 16, 5));
        self.msm::<G1>(&bases, &scalars, None);
        let (bases, scalars) = (self.bases::<G2>(1 << 20).0, self.scalars(1 << 20, 5));
        self.msm::<G2>(&bases, &scalars, None);
        let mut io = self.scalars(1 << 24, 3);
        self.backend.ntt(&self.stream, &mut io, &Ntt::new(24, Direction::Forward, Root::Seven)).unwrap();
        self.backend.device().finish(&self.stream).unwrap();
    }

    /// No repetition, 8 entries a row, columns spread over z.
    fn spmv(&self, log_entries: u32, log_cols: u32) {
        let (entries, cols) = (1usize << log_entries, 1usize << log_cols);
        let rows = entries / 8;
        let device = self.backend.device();
        let up = |label: &str, values: Vec<u32>| {
            Arc::new(device.upload_new(&self.stream, label, &values).unwrap())
        };
        let codes: Vec<u16> = (0..entries).map(|i| (i % 1000) as u16).collect();
        let spread = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - log_cols);
        let dictionary: Vec<Scalar> = (1..=1000u64).map(|i| Scalar::from(i).square()).collect();
        let matrix = DeviceMatrix {
            rows,
            cols,
            dictionary: Arc::new(device.upload_new(&self.stream, "dictionary", &dictionary).unwrap()),
            blocks: vec![DeviceBlock {
                rows,
                repeat: 1,
                shifts: vec![],
                row_ptr: up("rows", (0..=rows as u32).map(|r| r * 8).collect()),
                cols: up("cols", (0..entries).map(|i| spread(i) as u32).collect()),
                codes: DeviceCodes::Narrow(Arc::new(
                    device.upload_new(&self.stream, "codes", &codes).unwrap(),
                )),
            }],
        };
        let z = self.scalars(cols, 11);
        let mut out = device.alloc("out", rows).unwrap();
        let ms = self.time(5, || {
            self.backend.spmv(&self.stream, &matrix, &z, &mut out).unwrap();
            device.finish(&self.stream).unwrap();
        });
        let z = device.download_all(&self.stream, &z).unwrap();
        let out = device.download_all(&self.stream, &out).unwrap();
        for row in [0, 1, rows / 3, rows - 1] {
            let expected: Scalar =
                (row * 8..row * 8 + 8).map(|i| dictionary[i % 1000] * z[spread(i) as usize]).sum();
            assert!(out[row] == expected, "row {row} of a product is wrong");
        }
        println!("SpMV of 2^{log_entries} entries over 2^{log_cols}: {ms:.3} ms");
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let cache = KernelCache::at(args.next().unwrap_or_else(|| "kernel-cache".into()));
    let wanted: Vec<String> = args.collect();
    let start = Instant::now();
    let backend = CudaBackend::open(&OpenOptions::default(), &cache).unwrap();
    println!("{:?}, opened in {:.1?}", backend.device().info(), start.elapsed());
    let stream = backend.device().stream("bench").unwrap();
    let bench = Bench { backend, stream };
    let on = |what: &str| wanted.is_empty() || wanted.iter().any(|w| w == what);
    if on("ntt") {
        bench.ntts(&[16, 18, 20, 22, 24, 26, 27]);
    }
    if on("g1") {
        bench.msms::<G1>(&[10, 16, 18, 20, 22, 24]);
    }
    if wanted.iter().any(|w| w == "profile") {
        bench.profile();
    }
    if on("g1-large") {
        bench.msms::<G1>(&[26]);
    }
    if on("g2") {
        bench.msms::<G2>(&[16, 18, 20, 22]);
    }
    if on("skew") {
        bench.skew(20);
        bench.skew(24);
    }
    if on("spmv") {
        bench.spmv(28, 27);
    }
}
