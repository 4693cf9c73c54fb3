//! Making a key for a circuit. Whoever runs this knows the toxic waste and can forge proofs: fine for tests and for a prover who is the
//! only verifier; for anything else a ceremony makes the key.
//!
//! With L_i the Lagrange polynomials of the domain, A_v(tau) = sum over rows i of A\[i\]\[v\] L_i(tau), and so for B and C. Then
//! the queries are multiples of the two generators: A_v(tau), B_v(tau), (beta A_v + alpha B_v + C_v)(tau) / delta, and for H one of the
//! two forms of [`SetupForm`].

use std::sync::Arc;

use ff::{BatchInverter, Field};
use group::prime::PrimeCurveAffine;
use rayon::prelude::*;
use sha2::{Digest, Sha512};

use super::{Matrices, Matrix};
use crate::backend::cpu::CpuBackend;
use crate::backend::{Backend, BackendError, Device, OpenOptions, Quotient, QuotientForm};
use crate::curve::{Curve, G1, G1Affine, G2, G2Affine, Root, Scalar};
use crate::key::{EncodedPoints, ProvingKey, Query, Variables, VerifyingKey};
use crate::progress::{Control, Stage};
use crate::{NoRandomness, random};

/// Which of the two kinds of key to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupForm {
    /// bellman's: H_j = \[tau^j Z(tau) / delta\]; what `.params` holds.
    Monomial,
    /// snarkjs's: H_i = \[L_{2i+1}(tau) / delta\] of the doubled domain; what `.zkey` holds. gamma is 1.
    OddCoset,
}

/// Why there is no key.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// bellman's form cannot say which auxiliary variable has no point.
    #[error("wire {wire} occurs in no constraint: a .params key cannot hold such a circuit, a .zkey can")]
    Unconstrained {
        /// Index into z.
        wire: u32,
    },
    /// The source of the matrices has no C.
    #[error("this circuit's source holds no matrix C (a .zkey does not); setup needs the .r1cs")]
    NoC,
    /// The field has no roots of unity for it.
    #[error("{rows} rows need a domain of 2^{log_n}, the largest possible is 2^31")]
    Domain {
        /// Constraints and inputs.
        rows: usize,
        /// log2 of the domain.
        log_n: u32,
    },
    /// gamma or delta is 0, or tau a root of unity of the domain. Does not happen to random ones.
    #[error("the secret {0} cannot be used: it makes a division by zero")]
    BadSecret(&'static str),
    /// No randomness.
    #[error(transparent)]
    Randomness(#[from] NoRandomness),
    /// The device failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// Somebody asked for it.
    #[error("cancelled")]
    Cancelled,
}

/// The secrets of a setup and the generators they multiply. To be forgotten.
#[derive(Clone)]
pub struct ToxicWaste {
    /// alpha
    pub alpha: Scalar,
    /// beta
    pub beta: Scalar,
    /// gamma; the odd-coset form takes 1 instead.
    pub gamma: Scalar,
    /// delta
    pub delta: Scalar,
    /// tau
    pub tau: Scalar,
    /// Generator of G1.
    pub g1: G1Affine,
    /// Generator of G2.
    pub g2: G2Affine,
}

/// Secrets are not shown.
impl std::fmt::Debug for ToxicWaste {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ToxicWaste")
    }
}

impl ToxicWaste {
    /// From the operating system, on the standard generators.
    pub fn random() -> Result<Self, NoRandomness> {
        let [alpha, beta, gamma, delta, tau] =
            [random::scalar()?, random::scalar()?, random::scalar()?, random::scalar()?, random::scalar()?];
        Ok(Self { alpha, beta, gamma, delta, tau, ..Self::on_standard_generators() })
    }

    /// Reproducible, for tests: everybody who knows the seed can forge.
    pub fn from_seed(seed: &[u8]) -> Self {
        let secret = |name: &str| {
            let hash = Sha512::new().chain_update(b"cuzk test setup\0").chain_update(name).chain_update(seed);
            random::wide(&hash.finalize().into())
        };
        let [alpha, beta, gamma, delta, tau] = ["alpha", "beta", "gamma", "delta", "tau"].map(secret);
        Self { alpha, beta, gamma, delta, tau, ..Self::on_standard_generators() }
    }

    fn on_standard_generators() -> Self {
        let [alpha, beta, gamma, delta, tau] = [Scalar::ZERO; 5];
        Self { alpha, beta, gamma, delta, tau, g1: G1Affine::generator(), g2: G2Affine::generator() }
    }
}

/// A key for the circuit, made on the CPU with all cores. Progress as [`Stage::Setup`], in points.
///
/// The monomial form has exactly the points that bellman's generator makes of the same secrets and generators (its root is 7).
pub fn setup(
    matrices: &Matrices,
    form: SetupForm,
    root: Root,
    waste: &ToxicWaste,
    control: &Control,
) -> Result<ProvingKey, SetupError> {
    setup_on(&CpuBackend::open(&OpenOptions::default())?, matrices, form, root, waste, control)
}

/// The same with the multiplications on any backend.
pub fn setup_on<B: Backend>(
    backend: &B,
    matrices: &Matrices,
    form: SetupForm,
    root: Root,
    waste: &ToxicWaste,
    control: &Control,
) -> Result<ProvingKey, SetupError> {
    let quotient = domain(matrices, form, root)?;
    if let (SetupForm::Monomial, Some(wire)) = (form, matrices.unconstrained()) {
        return Err(SetupError::Unconstrained { wire });
    }
    let waste = match form {
        SetupForm::Monomial => waste.clone(),
        SetupForm::OddCoset => ToxicWaste { gamma: Scalar::ONE, ..waste.clone() },
    };
    let scalars = Scalars::new(matrices, &quotient, &waste)?;
    let total = scalars.count() as u64;
    control.stage(Stage::Setup, total, || {
        let mut maker = Maker { backend, stream: backend.device().stream("setup")?, control, done: 0 };
        maker.key(matrices, quotient, &waste, scalars)
    })
}

fn domain(matrices: &Matrices, form: SetupForm, root: Root) -> Result<Quotient, SetupError> {
    let (log_n, form) = match form {
        SetupForm::Monomial => (matrices.log_domain(), QuotientForm::Monomial),
        SetupForm::OddCoset => (matrices.log_domain().max(1), QuotientForm::OddCoset),
    };
    if log_n >= Root::MAX_LOG_N {
        return Err(SetupError::Domain { rows: matrices.rows(), log_n });
    }
    Ok(Quotient { log_n, root, form })
}

/// The multiples of the generators that make up a key.
struct Scalars {
    a: Vec<Scalar>,
    b: Vec<Scalar>,
    /// beta A + alpha B + C, over gamma for the inputs and over delta for the others.
    ext: Vec<Scalar>,
    h: Vec<Scalar>,
}

impl Scalars {
    fn new(matrices: &Matrices, quotient: &Quotient, waste: &ToxicWaste) -> Result<Self, SetupError> {
        let c = matrices.c.as_ref().ok_or(SetupError::NoC)?;
        let inverse =
            |x: &Scalar, name| Option::<Scalar>::from(x.invert()).ok_or(SetupError::BadSecret(name));
        let (gamma, delta) = (inverse(&waste.gamma, "gamma")?, inverse(&waste.delta, "delta")?);
        let h = h_scalars(quotient, &waste.tau, delta).ok_or(SetupError::BadSecret("tau"))?;
        let rows = lagrange(quotient.log_n, quotient.root, &waste.tau, 0, 1, matrices.rows());
        let rows = rows.ok_or(SetupError::BadSecret("tau"))?;
        let columns = |matrix| column_sums(matrix, &matrices.dictionary, &rows, matrices.variables());
        let (a, (b, mut ext)) =
            rayon::join(|| columns(&matrices.a), || rayon::join(|| columns(&matrices.b), || columns(c)));
        ext.par_iter_mut().enumerate().for_each(|(v, e)| {
            let over = if v < matrices.inputs { gamma } else { delta };
            *e = (waste.beta * a[v] + waste.alpha * b[v] + *e) * over;
        });
        let mut scalars = Self { a, b, ext, h };
        if quotient.form == QuotientForm::Monomial {
            // bellman's files leave the identity out, snarkjs's hold it.
            for query in [&mut scalars.a, &mut scalars.b] {
                query.retain(|s| !bool::from(s.is_zero()));
            }
        }
        Ok(scalars)
    }

    fn count(&self) -> usize {
        self.a.len() + 2 * self.b.len() + self.ext.len() + self.h.len()
    }
}

fn h_scalars(quotient: &Quotient, tau: &Scalar, over_delta: Scalar) -> Option<Vec<Scalar>> {
    let n = 1usize << quotient.log_n;
    match quotient.form {
        QuotientForm::Monomial => {
            let z = tau.pow_vartime([n as u64]) - Scalar::ONE;
            let first = z * over_delta;
            Some(in_pieces(n - 1, |start, piece| {
                let mut power = first * tau.pow_vartime([start as u64]);
                for h in piece {
                    *h = power;
                    power *= tau;
                }
            }))
        }
        QuotientForm::OddCoset => {
            let mut h = lagrange(quotient.log_n + 1, quotient.root, tau, 1, 2, n)?;
            h.par_iter_mut().for_each(|h| *h *= over_delta);
            Some(h)
        }
    }
}

/// L_j(tau) for j = first, first + step, ... (`count` of them) over the domain of size N = 2^log_n:
/// L_j(tau) = (tau^N - 1)/N * w^j / (tau - w^j). `None` if tau lies in the domain.
fn lagrange(
    log_n: u32,
    root: Root,
    tau: &Scalar,
    first: u64,
    step: u64,
    count: usize,
) -> Option<Vec<Scalar>> {
    let w = root.of_unity(log_n)?;
    let size = 1u64 << log_n;
    let z = tau.pow_vartime([size]) - Scalar::ONE;
    let scale = z * Option::<Scalar>::from(Scalar::from(size).invert())?;
    if bool::from(z.is_zero()) {
        return None;
    }
    let ratio = w.pow_vartime([step]);
    Some(in_pieces(count, |start, piece| {
        let mut power = w.pow_vartime([first + step * start as u64]);
        let powers: Vec<Scalar> = piece
            .iter_mut()
            .map(|slot| {
                let this = power;
                *slot = *tau - this;
                power *= ratio;
                this
            })
            .collect();
        BatchInverter::invert_with_external_scratch(piece, &mut vec![Scalar::ZERO; powers.len()]);
        for (l, power) in piece.iter_mut().zip(powers) {
            *l *= power * scale;
        }
    }))
}

/// `len` scalars, made piece by piece on all cores.
fn in_pieces(len: usize, fill: impl Fn(usize, &mut [Scalar]) + Sync) -> Vec<Scalar> {
    const PIECE: usize = 1 << 12;
    let mut out = vec![Scalar::ZERO; len];
    out.par_chunks_mut(PIECE).enumerate().for_each(|(i, piece)| fill(i * PIECE, piece));
    out
}

/// sum over rows i of matrix\[i\]\[v\] rows\[i\], for every variable v.
fn column_sums(matrix: &Matrix, dictionary: &[Scalar], rows: &[Scalar], variables: usize) -> Vec<Scalar> {
    let mut sums = vec![Scalar::ZERO; variables];
    matrix.for_each_row(|row, entries| {
        for entry in entries {
            sums[entry.col as usize] += dictionary[entry.code as usize] * rows[row];
        }
    });
    sums
}

/// Multiplies generators, piece by piece.
struct Maker<'a, B: Backend> {
    backend: &'a B,
    stream: crate::backend::Stream<B>,
    control: &'a Control,
    done: u64,
}

impl<B: Backend> Maker<'_, B> {
    /// Scalars per call of the backend: enough for its table of multiples to pay, few enough for progress to be seen.
    const PIECE: usize = 1 << 16;

    fn key(
        &mut self,
        matrices: &Matrices,
        quotient: Quotient,
        waste: &ToxicWaste,
        scalars: Scalars,
    ) -> Result<ProvingKey, SetupError> {
        let ToxicWaste { alpha, beta, gamma, delta, g1, g2, .. } = waste;
        let Scalars { a, b, ext, h } = scalars;
        let (inputs, aux) = (matrices.inputs, matrices.aux);
        let (ic, l) = ext.split_at(inputs);
        let monomial = quotient.form == QuotientForm::Monomial;
        if let (true, Some(v)) = (monomial, l.iter().position(|e| bool::from(e.is_zero()))) {
            return Err(SetupError::Unconstrained { wire: (inputs + v) as u32 });
        }
        let [alpha_g1, beta_g1, delta_g1]: [G1Affine; 3] = [alpha, beta, delta].map(|s| (g1 * s).into());
        let [beta_g2, gamma_g2, delta_g2]: [G2Affine; 3] = [beta, gamma, delta].map(|s| (g2 * s).into());
        let ic = self.points::<G1>(g1, ic)?;
        let l = EncodedPoints::from_points(&self.points::<G1>(g1, l)?);
        let h = EncodedPoints::from_points(&self.points::<G1>(g1, &h)?);
        let a = EncodedPoints::from_points(&self.points::<G1>(g1, &a)?);
        let b1 = EncodedPoints::from_points(&self.points::<G1>(g1, &b)?);
        let b2 = EncodedPoints::from_points(&self.points::<G2>(g2, &b)?);
        let variables = |from: usize| match monomial {
            true => Variables::FromDensity,
            false => Variables::Range(from as u32..(inputs + aux) as u32),
        };
        Ok(ProvingKey {
            vk: VerifyingKey { alpha_g1, beta_g1, beta_g2, gamma_g2, delta_g1, delta_g2, ic },
            quotient,
            inputs,
            aux,
            h,
            l: Query { points: l, variables: variables(inputs) },
            a: Query { points: a, variables: variables(0) },
            b1: Query { points: b1, variables: variables(0) },
            b2: Query { points: b2, variables: variables(0) },
            source: Arc::from("setup"),
        })
    }

    fn points<C: Curve>(
        &mut self,
        base: &C::Affine,
        scalars: &[Scalar],
    ) -> Result<Vec<C::Affine>, SetupError> {
        let device = self.backend.device();
        let mut out = vec![C::Affine::identity(); scalars.len()];
        for (scalars, out) in scalars.chunks(Self::PIECE).zip(out.chunks_mut(Self::PIECE)) {
            if self.control.cancel.is_cancelled() {
                return Err(SetupError::Cancelled);
            }
            let scalars = device.upload_new(&self.stream, "setup scalars", scalars)?;
            let mut points = device.alloc::<C::Affine>("setup points", out.len())?;
            self.backend.fixed_base::<C>(&self.stream, base, &scalars, &mut points)?;
            device.download(&self.stream, &points, 0, out)?;
            self.done += out.len() as u64;
            self.control.advance(Stage::Setup, self.done);
        }
        Ok(out)
    }
}
