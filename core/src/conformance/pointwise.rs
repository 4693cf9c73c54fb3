//! Elementwise operations, against the field's own.

use ff::Field;

use super::rig::{During, Rig, refused};
use super::values::{self, canonical};
use super::{Outcome, Subject};
use crate::backend::{Backend, Pointwise};
use crate::curve::Scalar;

/// Inputs of every length: edges against edges in another order, random ones behind.
fn vectors<B: Backend>(rig: &mut Rig<B>) -> Vec<[Vec<Scalar>; 3]> {
    let sizes = values::sizes(rig.limits.elements);
    sizes
        .into_iter()
        .map(|n| {
            let (x, mut y) = (values::mixed(&mut rig.rng, n), values::mixed(&mut rig.rng, n));
            y.reverse();
            [x, y, values::scalars(&mut rig.rng, n)]
        })
        .collect()
}

fn examine<'a, B: Backend>(
    rig: &Rig<B>,
    io: &[Scalar],
    op: Pointwise<'a, B::Device>,
    name: &str,
    expected: impl Fn(usize) -> Scalar,
) -> Outcome {
    let mut buffer = rig.upload(io)?;
    let what = format!("{name} of {} elements", io.len());
    rig.backend.pointwise(&rig.stream, &mut buffer, op).during(&what)?;
    let expected: Vec<Scalar> = (0..io.len()).map(expected).collect();
    rig.expect(&buffer, &expected, what)
}

/// Add, Sub
pub fn add_and_subtract<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    for [x, y, _] in vectors(&mut rig) {
        let rhs = rig.upload(&y)?;
        examine(&rig, &x, Pointwise::Add(&rhs), "Add", |i| x[i] + y[i])?;
        examine(&rig, &x, Pointwise::Sub(&rhs), "Sub", |i| x[i] - y[i])?;
        rig.expect(&rhs, &y, "the operand of Add and Sub")?;
    }
    Ok(())
}

/// Mul
pub fn multiply<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    for [x, y, _] in vectors(&mut rig) {
        let rhs = rig.upload(&y)?;
        examine(&rig, &x, Pointwise::Mul(&rhs), "Mul", |i| x[i] * y[i])?;
        rig.expect(&rhs, &y, "the operand of Mul")?;
    }
    Ok(())
}

/// MulSub, also of a buffer with itself
pub fn multiply_and_subtract<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    for [x, y, z] in vectors(&mut rig) {
        let (left, right) = (rig.upload(&y)?, rig.upload(&z)?);
        examine(&rig, &x, Pointwise::MulSub(&left, &right), "MulSub", |i| y[i] * z[i] - x[i])?;
        examine(&rig, &x, Pointwise::MulSub(&left, &left), "MulSub of a square", |i| y[i] * y[i] - x[i])?;
    }
    Ok(())
}

/// HalfDifference
pub fn half_difference<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    for [x, y, _] in vectors(&mut rig) {
        let rhs = rig.upload(&y)?;
        examine(&rig, &x, Pointwise::HalfDifference(&rhs), "HalfDifference", |i| (y[i] - x[i]) * half())?;
    }
    Ok(())
}

fn half() -> Scalar {
    Scalar::from(2).invert().unwrap_or(Scalar::ZERO)
}

/// Scale, Powers
pub fn scale_and_powers<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    let factors = [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, Scalar::random(&mut rig.rng)];
    let ratio = Scalar::random(&mut rig.rng);
    for [x, ..] in vectors(&mut rig) {
        for by in factors {
            examine(&rig, &x, Pointwise::Scale(by), "Scale", |i| x[i] * by)?;
        }
        for (first, ratio) in
            [(ratio, factors[3]), (factors[1], ratio), (ratio, factors[1]), (ratio, factors[0])]
        {
            let powers: Vec<_> =
                std::iter::successors(Some(first), |p| Some(p * ratio)).take(x.len()).collect();
            examine(&rig, &x, Pointwise::Powers { first, ratio }, "Powers", |i| x[i] * powers[i])?;
        }
    }
    Ok(())
}

/// Inverse, with zeros at the ends, in the middle and everywhere
pub fn invert<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    for [mut x, ..] in vectors(&mut rig) {
        for step in [0, 7, 1] {
            let n = x.len();
            for i in (0..n).rev().step_by(if step == 0 { n.max(1) } else { step }) {
                x[i] = Scalar::ZERO;
            }
            examine(&rig, &x, Pointwise::Inverse, "Inverse", |i| x[i].invert().unwrap_or(Scalar::ZERO))?;
        }
    }
    Ok(())
}

/// ToCanonical, ToMontgomery
pub fn convert_scalars<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    for [x, ..] in vectors(&mut rig) {
        let integers = canonical(&x);
        examine(&rig, &x, Pointwise::ToCanonical, "ToCanonical", |i| integers[i])?;
        examine(&rig, &integers, Pointwise::ToMontgomery, "ToMontgomery", |i| x[i])?;
    }
    Ok(())
}

/// Operands longer and shorter than io
pub fn refuses_wrong_lengths<B: Backend>(subject: &Subject<B>) -> Outcome {
    let rig = subject.rig()?;
    for (len, other) in [(4, 3), (4, 5), (0, 1), (1, 0)] {
        let mut io = rig.upload(&vec![Scalar::ONE; len])?;
        let (same, rhs) = (rig.upload(&vec![Scalar::ONE; len])?, rig.upload(&vec![Scalar::ONE; other])?);
        let ops = [
            Pointwise::Add(&rhs),
            Pointwise::Sub(&rhs),
            Pointwise::Mul(&rhs),
            Pointwise::MulSub(&rhs, &same),
            Pointwise::MulSub(&same, &rhs),
            Pointwise::HalfDifference(&rhs),
        ];
        for (i, op) in ops.into_iter().enumerate() {
            let result = rig.backend.pointwise(&rig.stream, &mut io, op);
            refused(result, format_args!("pointwise operation {i} on {len} and {other} elements"))?;
        }
    }
    Ok(())
}
