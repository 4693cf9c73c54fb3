//! Transforms, checked as an identity of polynomials.
//!
//! Let E_k = sum_j c_j (g w^k)^j be the evaluations of coefficients c. For any rho,
//! `sum_k rho^k E_k = sum_j c_j g^j sum_k (rho w^j)^k = sum_j c_j g^j (rho^n - 1) / (rho w^j - 1)`, as w^n = 1. At a random
//! rho the two sides agree for wrong E or c with probability n / 2^255 only, so one linear-time sum checks every element.

use ff::{BatchInvert, Field};

use super::rig::{During, Rig, ensure, refused};
use super::values;
use super::{Failure, Outcome, Subject};
use crate::backend::{Backend, Direction, Ntt, Order};
use crate::curve::{Root, Scalar};

const ORDERS: [Order; 2] = [Order::Natural, Order::BitReversed];
const DIRECTIONS: [Direction; 2] = [Direction::Forward, Direction::Inverse];
pub(super) const ROOTS: [Root; 2] = [Root::Five, Root::Seven];

/// Element `i` of `values` at its natural place.
fn natural(values: &[Scalar], log_n: u32, order: Order) -> Vec<Scalar> {
    let place = |i: usize| match order {
        Order::Natural => i,
        Order::BitReversed => (0..log_n).fold(0, |r, bit| r << 1 | (i >> bit & 1)),
    };
    (0..values.len()).map(|i| values[place(i)]).collect()
}

/// The identity above, for coefficients and evaluations in natural order.
fn holds(coefficients: &[Scalar], evaluations: &[Scalar], op: &Ntt, rho: Scalar) -> bool {
    let Some(w) = op.root.of_unity(op.log_n) else { return false };
    let g = op.coset.unwrap_or(Scalar::ONE);
    let mut rho_k = Scalar::ONE;
    let mut left = Scalar::ZERO;
    for e in evaluations {
        left += rho_k * e;
        rho_k *= rho;
    }
    let mut w_j = Scalar::ONE;
    let mut inverses: Vec<Scalar> = Vec::with_capacity(coefficients.len());
    for _ in coefficients {
        inverses.push(rho * w_j - Scalar::ONE);
        w_j *= w;
    }
    inverses.iter_mut().batch_invert();
    let mut g_j = Scalar::ONE;
    let mut right = Scalar::ZERO;
    for (c, inverse) in coefficients.iter().zip(&inverses) {
        right += c * g_j * inverse;
        g_j *= g;
    }
    left == right * (rho_k - Scalar::ONE)
}

fn transform<B: Backend>(rig: &Rig<B>, input: &[Scalar], op: &Ntt) -> Result<Vec<Scalar>, Failure> {
    let mut io = rig.upload(input)?;
    rig.backend.ntt(&rig.stream, &mut io, op).during(format_args!("{op:?}"))?;
    rig.download(&io)
}

fn examine<B: Backend>(rig: &mut Rig<B>, input: &[Scalar], op: &Ntt) -> Outcome {
    let output = transform(rig, input, op)?;
    let (from, to) = (natural(input, op.log_n, op.input), natural(&output, op.log_n, op.output));
    let (coefficients, evaluations) = match op.direction {
        Direction::Forward => (from, to),
        Direction::Inverse => (to, from),
    };
    let rho = Scalar::random(&mut rig.rng);
    ensure!(
        holds(&coefficients, &evaluations, op, rho),
        "the result of {op:?} is not the transform of its input"
    );
    Ok(())
}

/// Every kind of transform of one length.
fn kinds(log_n: u32, shift: Scalar) -> impl Iterator<Item = Ntt> {
    ROOTS.into_iter().flat_map(move |root| {
        DIRECTIONS.into_iter().flat_map(move |direction| {
            [None, Some(shift)].into_iter().flat_map(move |coset| {
                ORDERS.into_iter().flat_map(move |input| {
                    ORDERS.into_iter().map(move |output| Ntt { log_n, direction, coset, root, input, output })
                })
            })
        })
    })
}

/// The definition, term by term, for every element of short transforms.
pub fn matches_the_naive_sum<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    for log_n in 0..=rig.limits.log_n.min(4) {
        let input = values::scalars(&mut rig.rng, 1 << log_n);
        let shift = Scalar::random(&mut rig.rng);
        for op in kinds(log_n, shift).filter(|op| op.direction == Direction::Forward) {
            let output = natural(&transform(&rig, &input, &op)?, log_n, op.output);
            let coefficients = natural(&input, log_n, op.input);
            let w = op.root.of_unity(log_n).unwrap_or_default();
            for (k, found) in output.iter().enumerate() {
                let point = op.coset.unwrap_or(Scalar::ONE) * w.pow_vartime([k as u64]);
                let expected = coefficients.iter().rev().fold(Scalar::ZERO, |sum, c| sum * point + c);
                ensure!(*found == expected, "{op:?}: evaluation {k} is wrong");
            }
        }
    }
    Ok(())
}

/// All lengths and all kinds, random and extreme values.
pub fn holds_in_every_order_direction_coset_and_root<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    for log_n in 0..=rig.limits.log_n {
        let n = 1usize << log_n;
        let input = values::mixed(&mut rig.rng, n);
        let shift = Scalar::random(&mut rig.rng);
        for op in kinds(log_n, shift) {
            examine(&mut rig, &input, &op)?;
        }
        // The shift of quotients, and values at which a lazy range overflows.
        let root = ROOTS[log_n as usize % 2];
        let largest = vec![-Scalar::ONE; n];
        for direction in DIRECTIONS {
            let op = Ntt::new(log_n, direction, root).on_coset(root.of_unity(log_n + 1).unwrap_or(shift));
            examine(&mut rig, &largest, &op)?;
            examine(&mut rig, &vec![Scalar::ZERO; n], &op)?;
        }
    }
    Ok(())
}

/// There and back through either intermediate order gives the input again.
pub fn round_trips<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    for log_n in 0..=rig.limits.log_n {
        let input = values::scalars(&mut rig.rng, 1 << log_n);
        let shift = Scalar::random(&mut rig.rng);
        for there in kinds(log_n, shift).filter(|op| op.input == Order::Natural) {
            let direction = match there.direction {
                Direction::Forward => Direction::Inverse,
                Direction::Inverse => Direction::Forward,
            };
            let back = Ntt { direction, input: there.output, output: there.input, ..there };
            let mut io = rig.upload(&input)?;
            rig.backend.ntt(&rig.stream, &mut io, &there)?;
            rig.backend.ntt(&rig.stream, &mut io, &back)?;
            rig.expect(&io, &input, format_args!("{there:?} and back"))?;
        }
    }
    Ok(())
}

/// Lengths beside 2^log_n, and transforms that do not exist.
pub fn refuses_wrong_lengths<B: Backend>(subject: &Subject<B>) -> Outcome {
    let rig = subject.rig()?;
    for (log_n, len) in
        [(0, 0), (0, 2), (3, 7), (3, 9), (3, 16), (4, 8), (33, 8), (64, 8), (64, 1), (u32::MAX, 8)]
    {
        for (direction, root) in [(Direction::Forward, Root::Seven), (Direction::Inverse, Root::Five)] {
            let mut io = rig.upload(&vec![Scalar::ONE; len])?;
            let result = rig.backend.ntt(&rig.stream, &mut io, &Ntt::new(log_n, direction, root));
            refused(result, format_args!("a transform of 2^{log_n} over {len} elements"))?;
        }
    }
    Ok(())
}
