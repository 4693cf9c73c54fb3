//! Curve and subgroup membership.

use super::rig::{During, Rig, ensure};
use super::values::{self, Known, off_curve, outside_subgroup};
use super::{Failure, Outcome, Subject};
use crate::backend::{Backend, PointReport};
use crate::curve::{Curve, G1, G2};

fn examine<B: Backend, C: Curve>(
    rig: &Rig<B>,
    points: &[C::Affine],
    expected: PointReport,
    what: &str,
) -> Outcome {
    let buffer = rig.upload(points)?;
    let what = format!("{} {what} of {}", points.len(), C::NAME);
    let report = rig.backend.check_points::<C>(&rig.stream, &buffer).during(&what)?.wait().during(&what)?;
    ensure!(report == expected, "{what}: {report:?} instead of {expected:?}");
    rig.expect(&buffer, points, "points after their check")
}

fn good<B: Backend, C: Curve>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    for n in values::sizes(rig.limits.points.min(1100)) {
        let mut known = Known::<C>::line(&mut rig.rng, n);
        if n > 1 {
            known.vanish(n - 1);
        }
        examine::<B, C>(&rig, &known.points, PointReport::default(), "good points")?;
    }
    Ok(())
}

/// Clean reports, the identity among the points
pub fn good_points_in_g1<B: Backend>(subject: &Subject<B>) -> Outcome {
    good::<B, G1>(subject)
}

/// Clean reports, the identity among the points
pub fn good_points_in_g2<B: Backend>(subject: &Subject<B>) -> Outcome {
    good::<B, G2>(subject)
}

fn bad<B: Backend, C: Curve>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    let n = rig.limits.points.min(300);
    let good = Known::<C>::line(&mut rig.rng, n).points;
    let outside = outside_subgroup::<C>().ok_or_else(|| Failure("no point outside the subgroup".into()))?;
    let (first, middle, last) = (0, n / 2, n - 1);
    for (off, out) in [
        (vec![first], vec![]),
        (vec![], vec![first]),
        (vec![last], vec![]),
        (vec![], vec![last]),
        (vec![middle, last], vec![first]),
        (vec![last], vec![middle, last - 1]),
        ((1..n).collect(), vec![0]),
        (vec![0], (1..n).collect()),
    ] {
        let mut points = good.clone();
        off.iter().for_each(|i| points[*i] = off_curve::<C>(&points[*i]));
        out.iter().for_each(|i| points[*i] = outside);
        let expected = PointReport {
            malformed: None,
            off_curve: off.first().copied(),
            outside_subgroup: out.first().copied(),
        };
        examine::<B, C>(&rig, &points, expected, "points, some of them bad,")?;
    }
    Ok(())
}

/// Off the curve and outside the subgroup, first, last and everywhere
pub fn finds_the_first_bad_point_in_g1<B: Backend>(subject: &Subject<B>) -> Outcome {
    bad::<B, G1>(subject)
}

/// Off the curve and outside the subgroup, first, last and everywhere
pub fn finds_the_first_bad_point_in_g2<B: Backend>(subject: &Subject<B>) -> Outcome {
    bad::<B, G2>(subject)
}
