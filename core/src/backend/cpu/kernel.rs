//! The two ways of adding up points: scalar code everywhere, vector code where the processor has it.

use super::affine::{self, Batch, Point};
use super::segments::Ref;
use crate::curve::Curve;

/// How runs of points are summed, and in which form points are held for it.
pub(super) trait Kernel<C: Curve>: 'static {
    /// A point.
    type Point: Copy + Send + Sync + 'static;
    /// Working memory of a task.
    type Workspace: Default + Send;
    /// Points per task: the working memory should stay in a core's second-level cache, and an inversion per round be cheap.
    const BLOCK: usize;

    /// Appends the bases that are referred to, with their signs.
    fn load(bases: &[C::Affine], refs: &[Ref], out: &mut Vec<Self::Point>);
    /// Back.
    fn affine(p: &Self::Point) -> C::Affine;
    /// The identity: what output slices are filled with before sums are written.
    fn identity() -> Self::Point;
    /// The sums of runs of points, one for each of `lens`: the lengths of the runs, none zero, together `refs.len()`.
    fn sum_runs<'a>(
        points: &[Self::Point],
        refs: &[Ref],
        lens: &mut [u32],
        workspace: &'a mut Self::Workspace,
    ) -> &'a [Self::Point];
}

/// Scalar code.
pub(super) struct Plain;

impl<C: Curve> Kernel<C> for Plain {
    type Point = Point<C::Base>;
    type Workspace = (Vec<Point<C::Base>>, Batch<C::Base>);
    const BLOCK: usize = if C::BYTES <= 96 { 4096 } else { 2048 };

    fn load(bases: &[C::Affine], refs: &[Ref], out: &mut Vec<Self::Point>) {
        out.extend(refs.iter().map(|r| Point::load::<C>(&bases[(r >> 1) as usize], r & 1 == 1)));
    }
    fn affine(p: &Self::Point) -> C::Affine {
        p.store::<C>()
    }
    fn identity() -> Self::Point {
        Point::default()
    }
    fn sum_runs<'a>(
        points: &[Self::Point],
        refs: &[Ref],
        lens: &mut [u32],
        (sums, batch): &'a mut Self::Workspace,
    ) -> &'a [Self::Point] {
        sums.clear();
        sums.extend(refs.iter().map(|r| {
            let point = &points[(r >> 1) as usize];
            if r & 1 == 1 { point.negated() } else { *point }
        }));
        affine::sum_runs(sums, lens, batch);
        &sums[..lens.len()]
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use vector::Vector;

#[cfg(target_arch = "x86_64")]
mod vector {
    use super::*;
    use crate::curve::BaseField;
    use crate::curve::ifma::{Exceptional, PackedPoint};

    /// Vector code, for processors that have the instructions ([`crate::curve::ifma::available`]).
    pub(in crate::backend::cpu) struct Vector;

    type Packed<C> = <<C as Curve>::Base as BaseField>::Packed;

    impl<C: Curve> Kernel<C> for Vector {
        type Point = Packed<C>;
        type Workspace = <Packed<C> as PackedPoint<C::Base>>::Scratch;
        const BLOCK: usize = if C::BYTES <= 96 { 4096 } else { 2048 };

        fn load(bases: &[C::Affine], refs: &[Ref], out: &mut Vec<Self::Point>) {
            let point = |i: usize| {
                let r: Ref = refs[i];
                (C::coordinates(&bases[(r >> 1) as usize]), r & 1 == 1)
            };
            PackedPoint::pack_all(refs.len(), point, out);
        }
        fn affine(p: &Self::Point) -> C::Affine {
            let (x, y) = p.unpack();
            C::from_coordinates(x, y)
        }
        fn identity() -> Self::Point {
            PackedPoint::pack(Default::default())
        }
        fn sum_runs<'a>(
            points: &[Self::Point],
            refs: &[Ref],
            lens: &mut [u32],
            workspace: &'a mut Self::Workspace,
        ) -> &'a [Self::Point] {
            PackedPoint::sum_runs::<Scalar>(points, refs, lens, workspace)
        }
    }

    /// Pairs outside the formula are added by scalar code.
    struct Scalar;

    impl<F: BaseField> Exceptional<F> for Scalar {
        fn denominator(p: (F, F), q: (F, F)) -> F {
            affine::denominator(&Point { x: p.0, y: p.1 }, &Point { x: q.0, y: q.1 })
        }
        fn add(p: (F, F), q: (F, F), inverse: F) -> (F, F) {
            let sum = affine::add(&Point { x: p.0, y: p.1 }, &Point { x: q.0, y: q.1 }, &inverse);
            (sum.x, sum.y)
        }
    }
}
