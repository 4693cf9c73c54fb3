//! Multiples of one point.

use ff::Field;
use group::Group;
use group::prime::PrimeCurveAffine;

use super::rig::{During, refused};
use super::values;
use super::{Outcome, Subject};
use crate::backend::Backend;
use crate::curve::{Curve, Element, G1, G2, Scalar};

fn multiplies<B: Backend, C: Curve>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    let limit = rig.limits.points.min(300);
    let some = C::Affine::from(C::Projective::generator() * Scalar::random(&mut rig.rng));
    for n in values::sizes(limit).into_iter().chain([values::edges().len() + 3]) {
        let scalars = values::mixed(&mut rig.rng, n);
        for base in [C::Affine::zeroed(), C::Affine::generator(), some] {
            if n > 40 && base != some {
                continue;
            }
            let expected: Vec<C::Affine> = scalars.iter().map(|s| C::Affine::from(base * *s)).collect();
            let buffer = rig.upload(&scalars)?;
            let mut out = rig.point_garbage::<C>(n)?;
            let what = format!("{n} multiples of {base:?} in {}", C::NAME);
            rig.backend.fixed_base::<C>(&rig.stream, &base, &buffer, &mut out).during(&what)?;
            rig.expect(&out, &expected, what)?;
        }
    }
    Ok(())
}

/// Of the identity, the generator and another point
pub fn multiplies_in_g1<B: Backend>(subject: &Subject<B>) -> Outcome {
    multiplies::<B, G1>(subject)
}

/// Of the identity, the generator and another point
pub fn multiplies_in_g2<B: Backend>(subject: &Subject<B>) -> Outcome {
    multiplies::<B, G2>(subject)
}

/// As many results as scalars
pub fn refuses_wrong_lengths<B: Backend>(subject: &Subject<B>) -> Outcome {
    let rig = subject.rig()?;
    for (scalars, out) in [(3, 4), (4, 3), (0, 1), (1, 0)] {
        let buffer = rig.upload(&vec![Scalar::ONE; scalars])?;
        let mut points = rig.point_garbage::<G1>(out)?;
        let base = <G1 as Curve>::Affine::generator();
        let result = rig.backend.fixed_base::<G1>(&rig.stream, &base, &buffer, &mut points);
        refused(result, format_args!("{scalars} scalars for {out} multiples"))?;
    }
    Ok(())
}
