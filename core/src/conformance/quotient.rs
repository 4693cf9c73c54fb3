//! The scalars of H, through the definition: h(tau) Z(tau) = A(tau) B(tau) - C(tau) at a random tau.

use ff::{BatchInvert, Field, PrimeField};

use super::ntt::ROOTS;
use super::rig::{During, Rig, ensure, refused};
use super::values;
use super::{Outcome, Subject};
use crate::backend::{Backend, DeviceBuffer, Quotient, QuotientForm};
use crate::curve::{Root, Scalar};

/// The value at x of the polynomial of degree below n with values v_i at w^i, by the barycentric formula
/// `(x^n - 1)/n sum_i v_i w^i / (x - w^i)`.
fn interpolate(values: &[Scalar], w: Scalar, x: Scalar) -> Scalar {
    let n = values.len() as u64;
    let points: Vec<Scalar> =
        std::iter::successors(Some(Scalar::ONE), |p| Some(p * w)).take(values.len()).collect();
    let mut inverses: Vec<Scalar> = points.iter().map(|p| x - p).collect();
    inverses.push(Scalar::from(n));
    inverses.iter_mut().batch_invert();
    let sum: Scalar = values.iter().zip(&points).zip(&inverses).map(|((v, p), i)| v * p * i).sum();
    sum * (x.pow_vartime([n]) - Scalar::ONE) * inverses[values.len()]
}

fn examine<B: Backend>(rig: &mut Rig<B>, op: Quotient) -> Outcome {
    let n = 1usize << op.log_n;
    let (a, b) = (values::scalars(&mut rig.rng, n), values::mixed(&mut rig.rng, n));
    let c: Vec<Scalar> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
    let (a_buffer, b_buffer) = (rig.upload(&a)?, rig.upload(&b)?);
    let out = rig.backend.quotient(&rig.stream, a_buffer, b_buffer, &op).during(format_args!("{op:?}"))?;
    ensure!(out.len() == op.len(), "{op:?}: {} scalars instead of {}", out.len(), op.len());
    let h = rig.download(&out)?;

    let w = op.root.of_unity(op.log_n).unwrap_or_default();
    let tau = Scalar::random(&mut rig.rng);
    let z = tau.pow_vartime([n as u64]) - Scalar::ONE;
    let right = interpolate(&a, w, tau) * interpolate(&b, w, tau) - interpolate(&c, w, tau);
    let h_tau = match op.form {
        // Coefficients.
        QuotientForm::Monomial => h.iter().rev().fold(Scalar::ZERO, |sum, c| sum * tau + c),
        // Values of A B - C on the coset g w^i, where Z = g^n - 1 = -2; x = g w^i at w^i for x/g.
        QuotientForm::OddCoset => {
            let g = op.shift().unwrap_or_default();
            let minus_half = -Scalar::TWO_INV;
            let values: Vec<Scalar> = h.iter().map(|p| p * minus_half).collect();
            interpolate(&values, w, tau * g.invert().unwrap_or(Scalar::ZERO))
        }
    };
    ensure!(h_tau * z == right, "{op:?}: h Z and A B - C differ");
    Ok(())
}

fn every_size<B: Backend>(subject: &Subject<B>, form: QuotientForm) -> Outcome {
    let mut rig = subject.rig()?;
    for log_n in 0..=rig.limits.log_n {
        for root in ROOTS {
            examine(&mut rig, Quotient { log_n, root, form })?;
        }
    }
    Ok(())
}

/// The n - 1 coefficients of bellman's keys, from n = 1
pub fn monomial<B: Backend>(subject: &Subject<B>) -> Outcome {
    every_size(subject, QuotientForm::Monomial)
}

/// The n values on the odd coset of snarkjs's keys, from n = 1
pub fn odd_coset<B: Backend>(subject: &Subject<B>) -> Outcome {
    every_size(subject, QuotientForm::OddCoset)
}

/// Vectors beside the domain, and domains without a coset
pub fn refuses_wrong_lengths<B: Backend>(subject: &Subject<B>) -> Outcome {
    let rig = subject.rig()?;
    for (log_n, a, b) in
        [(2, 3, 4), (2, 4, 3), (2, 5, 5), (0, 0, 0), (32, 4, 4), (33, 4, 4), (64, 1, 1), (u32::MAX, 1, 1)]
    {
        for form in [QuotientForm::Monomial, QuotientForm::OddCoset] {
            let (a, b) = (rig.upload(&vec![Scalar::ONE; a])?, rig.upload(&vec![Scalar::ONE; b])?);
            let what = format!("a domain of 2^{log_n} with {} and {} elements", a.len(), b.len());
            refused(
                rig.backend.quotient(&rig.stream, a, b, &Quotient { log_n, root: Root::Seven, form }),
                what,
            )?;
        }
    }
    Ok(())
}
