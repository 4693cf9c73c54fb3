//! The two halves of what operations take: keys and matrices share their buffers, so a half is a handful of reference counts.

use std::sync::Arc;

use super::super::{
    Backend, Bases, Classes, Device, DeviceBlock, DeviceCodes, DeviceKey, DeviceMatrix, DeviceQuery, Expand,
    KeyBases, Msm, PackedBits, Pointwise,
};
use super::{DualBuffer, DualDevice};
use crate::curve::{Curve, Element};

type Dual<X, Y> = DualDevice<X, Y>;
type Xd<X> = <X as Backend>::Device;
type SharedBuffer<D, T> = Arc<<D as Device>::Buffer<T>>;

fn shared<A: Device, B: Device, T: Element>(
    buffer: &DualBuffer<A, B, T>,
) -> (SharedBuffer<A, T>, SharedBuffer<B, T>) {
    (buffer.x.clone(), buffer.y.clone())
}

pub(super) fn pointwise<'a, X: Backend, Y: Backend>(
    op: &Pointwise<'a, Dual<X, Y>>,
) -> (Pointwise<'a, Xd<X>>, Pointwise<'a, Xd<Y>>) {
    use Pointwise as P;
    match *op {
        P::Add(r) => (P::Add(r.x()), P::Add(r.y())),
        P::Sub(r) => (P::Sub(r.x()), P::Sub(r.y())),
        P::Mul(r) => (P::Mul(r.x()), P::Mul(r.y())),
        P::MulSub(r, s) => (P::MulSub(r.x(), s.x()), P::MulSub(r.y(), s.y())),
        P::HalfDifference(r) => (P::HalfDifference(r.x()), P::HalfDifference(r.y())),
        P::Scale(by) => (P::Scale(by), P::Scale(by)),
        P::Powers { first, ratio } => (P::Powers { first, ratio }, P::Powers { first, ratio }),
        P::Inverse => (P::Inverse, P::Inverse),
        P::ToCanonical => (P::ToCanonical, P::ToCanonical),
        P::ToMontgomery => (P::ToMontgomery, P::ToMontgomery),
    }
}

pub(super) fn expand<'a, X: Backend, Y: Backend>(
    packed: &Expand<'a, Dual<X, Y>>,
) -> (Expand<'a, Xd<X>>, Expand<'a, Xd<Y>>) {
    let (x_bits, y_bits) = match packed.bits {
        PackedBits::Dense(words) => (PackedBits::Dense(words.x()), PackedBits::Dense(words.y())),
        PackedBits::Lanes { words, lane } => {
            (PackedBits::Lanes { words: words.x(), lane }, PackedBits::Lanes { words: words.y(), lane })
        }
    };
    let Expand { set, ranks, rest, .. } = packed;
    (
        Expand { set: set.x(), ranks: ranks.x(), bits: x_bits, rest: rest.x() },
        Expand { set: set.y(), ranks: ranks.y(), bits: y_bits, rest: rest.y() },
    )
}

pub(super) fn classes<X: Backend, Y: Backend>(
    classes: &Classes<Dual<X, Y>>,
) -> (Classes<Xd<X>>, Classes<Xd<Y>>) {
    let ((x_codes, y_codes), (x_counts, y_counts)) = (shared(&classes.codes), shared(&classes.counts));
    (Classes { codes: x_codes, counts: x_counts }, Classes { codes: y_codes, counts: y_counts })
}

pub(super) fn join_classes<X: Backend, Y: Backend>(
    x: Classes<Xd<X>>,
    y: Classes<Xd<Y>>,
) -> Classes<Dual<X, Y>> {
    Classes {
        codes: Arc::new(DualBuffer { x: x.codes, y: y.codes }),
        counts: Arc::new(DualBuffer { x: x.counts, y: y.counts }),
    }
}

#[expect(clippy::type_complexity, reason = "a pair of one type on two devices")]
pub(super) fn msm<'a, X: Backend, Y: Backend, C: Curve>(
    op: &Msm<'a, Dual<X, Y>, C>,
    classes: Option<&'a (Classes<Xd<X>>, Classes<Xd<Y>>)>,
) -> (Msm<'a, Xd<X>, C>, Msm<'a, Xd<Y>, C>) {
    let (x_bases, y_bases) = match op.bases {
        Bases::Resident(buffer) => (Bases::Resident(buffer.x()), Bases::Resident(buffer.y())),
        Bases::Streamed(points) => (Bases::Streamed(points), Bases::Streamed(points)),
    };
    let (scalars, select, form) = (op.scalars, op.select, op.form);
    (
        Msm {
            bases: x_bases,
            scalars: scalars.x(),
            form,
            select: select.map(|s| s.x()),
            classes: classes.map(|c| &c.0),
        },
        Msm {
            bases: y_bases,
            scalars: scalars.y(),
            form,
            select: select.map(|s| s.y()),
            classes: classes.map(|c| &c.1),
        },
    )
}

fn block<X: Backend, Y: Backend>(
    block: &DeviceBlock<Dual<X, Y>>,
) -> (DeviceBlock<Xd<X>>, DeviceBlock<Xd<Y>>) {
    let ((x_ptr, y_ptr), (x_cols, y_cols)) = (shared(&block.row_ptr), shared(&block.cols));
    let (x_codes, y_codes) = match &block.codes {
        DeviceCodes::Narrow(codes) => {
            let (x, y) = shared(codes);
            (DeviceCodes::Narrow(x), DeviceCodes::Narrow(y))
        }
        DeviceCodes::Wide(codes) => {
            let (x, y) = shared(codes);
            (DeviceCodes::Wide(x), DeviceCodes::Wide(y))
        }
    };
    let (rows, repeat, shifts) = (block.rows, block.repeat, block.shifts.clone());
    (
        DeviceBlock { rows, repeat, shifts: shifts.clone(), row_ptr: x_ptr, cols: x_cols, codes: x_codes },
        DeviceBlock { rows, repeat, shifts, row_ptr: y_ptr, cols: y_cols, codes: y_codes },
    )
}

pub(super) fn matrix<X: Backend, Y: Backend>(
    matrix: &DeviceMatrix<Dual<X, Y>>,
) -> (DeviceMatrix<Xd<X>>, DeviceMatrix<Xd<Y>>) {
    let (x_dictionary, y_dictionary) = shared(&matrix.dictionary);
    let (x_blocks, y_blocks) = matrix.blocks.iter().map(block).unzip();
    let (rows, cols) = (matrix.rows, matrix.cols);
    (
        DeviceMatrix { rows, cols, dictionary: x_dictionary, blocks: x_blocks },
        DeviceMatrix { rows, cols, dictionary: y_dictionary, blocks: y_blocks },
    )
}

fn bases<X: Backend, Y: Backend, C: Curve>(
    bases: &KeyBases<Dual<X, Y>, C>,
) -> (KeyBases<Xd<X>, C>, KeyBases<Xd<Y>, C>) {
    match bases {
        KeyBases::Resident(buffer) => {
            let (x, y) = shared(buffer);
            (KeyBases::Resident(x), KeyBases::Resident(y))
        }
        KeyBases::Streamed(points) => {
            (KeyBases::Streamed(points.clone()), KeyBases::Streamed(points.clone()))
        }
    }
}

fn query<X: Backend, Y: Backend, C: Curve>(
    query: &DeviceQuery<Dual<X, Y>, C>,
) -> (DeviceQuery<Xd<X>, C>, DeviceQuery<Xd<Y>, C>) {
    let ((x_bases, y_bases), (x_variables, y_variables)) = (bases(&query.bases), shared(&query.variables));
    (
        DeviceQuery { bases: x_bases, variables: x_variables },
        DeviceQuery { bases: y_bases, variables: y_variables },
    )
}

pub(super) fn key<X: Backend, Y: Backend>(
    key: &DeviceKey<Dual<X, Y>>,
) -> (DeviceKey<Xd<X>>, DeviceKey<Xd<Y>>) {
    let ((xa_matrix, ya_matrix), (xb_matrix, yb_matrix)) = (matrix(&key.a_matrix), matrix(&key.b_matrix));
    let ((xh, yh), (xl, yl), (xa, ya)) = (bases(&key.h), query(&key.l), query(&key.a));
    let ((xb1, yb1), (xb2, yb2)) = (query(&key.b1), query(&key.b2));
    let (quotient, variables) = (key.quotient, key.variables);
    (
        DeviceKey {
            quotient,
            variables,
            a_matrix: xa_matrix,
            b_matrix: xb_matrix,
            h: xh,
            l: xl,
            a: xa,
            b1: xb1,
            b2: xb2,
        },
        DeviceKey {
            quotient,
            variables,
            a_matrix: ya_matrix,
            b_matrix: yb_matrix,
            h: yh,
            l: yl,
            a: ya,
            b1: yb1,
            b2: yb2,
        },
    )
}
