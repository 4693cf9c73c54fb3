//! The two composite operations, made of the simple ones. A backend that fuses them must give the same results, and may call these
//! where it does not.

use super::{
    Backend, BackendError, Buffer, Device, DeviceBuffer, DeviceKey, DeviceQuery, Direction, Msm, Ntt, Order,
    Pending, Pointwise, Quotient, QuotientForm, Result, ScalarForm, Stream, WitnessMsms,
};
use crate::curve::{Curve, Scalar};

/// Six transforms for either key. With g a primitive 2n-th root, g^n = -1 and Z(X) = X^n - 1 is -2 everywhere on the coset.
///
/// Let c = a∘b on the domain and A, B, C the interpolants.
/// - Monomial: h = (AB - C)/Z has coefficients (C - V)/2 with V = coset_iNTT(A∘B on the coset), since there h = (AB - C)/(-2).
/// - Odd coset: the scalars are AB - C at g w^i; no division.
///
/// Interpolation goes natural to bit-reversed and the coset transform takes it from there back to natural order, so that between
/// the two no vector is permuted.
pub fn quotient<B: Backend>(
    backend: &B,
    stream: &Stream<B>,
    mut a: Buffer<B, Scalar>,
    mut b: Buffer<B, Scalar>,
    op: &Quotient,
) -> Result<Buffer<B, Scalar>> {
    // First of all: above 2^31 there is no coset, and the length below would overflow.
    let shift = op.shift().ok_or(BackendError::Invalid {
        op: "quotient",
        what: "log2 of the domain at most",
        expected: 31,
        found: op.log_n.into(),
    })?;
    let n = 1usize << op.log_n;
    BackendError::expect_len("quotient", "length of a", n, a.len())?;
    BackendError::expect_len("quotient", "length of b", n, b.len())?;
    let device = backend.device();
    let inverse = Ntt::new(op.log_n, Direction::Inverse, op.root).ordered(Order::Natural, Order::BitReversed);
    let coset = Ntt::new(op.log_n, Direction::Forward, op.root)
        .on_coset(shift)
        .ordered(Order::BitReversed, Order::Natural);

    let mut c = device.alloc("quotient c", n)?;
    device.copy(stream, &a, 0..n, &mut c, 0)?;
    backend.pointwise(stream, &mut c, Pointwise::Mul(&b))?;
    for x in [&mut a, &mut b] {
        backend.ntt(stream, x, &inverse)?;
        backend.ntt(stream, x, &coset)?;
    }
    match op.form {
        QuotientForm::Monomial => {
            backend.pointwise(stream, &mut a, Pointwise::Mul(&b))?;
            drop(b);
            // V and C in the same (natural) order; h keeps the n - 1 lower coefficients, the top one being 0.
            backend.ntt(stream, &mut a, &coset_inverse(op, shift))?;
            backend.ntt(stream, &mut c, &inverse.ordered(Order::Natural, Order::Natural))?;
            backend.pointwise(stream, &mut a, Pointwise::HalfDifference(&c))?;
            drop(c);
            let mut h = device.alloc("quotient h", n - 1)?;
            device.copy(stream, &a, 0..n - 1, &mut h, 0)?;
            Ok(h)
        }
        QuotientForm::OddCoset => {
            backend.ntt(stream, &mut c, &inverse)?;
            backend.ntt(stream, &mut c, &coset)?;
            backend.pointwise(stream, &mut c, Pointwise::MulSub(&a, &b))?;
            Ok(c)
        }
    }
}

fn coset_inverse(op: &Quotient, shift: Scalar) -> Ntt {
    Ntt::new(op.log_n, Direction::Inverse, op.root).on_coset(shift)
}

/// l, a, b1, b2 read z through their lists of variables and share one classification.
pub fn witness_msms<B: Backend>(
    backend: &B,
    stream: &Stream<B>,
    z: &Buffer<B, Scalar>,
    key: &DeviceKey<B::Device>,
) -> Result<WitnessMsms> {
    BackendError::expect_len("witness_msms", "length of z", key.variables, z.len())?;
    let classes = backend.classify(stream, z)?;
    Ok(WitnessMsms {
        l: query_msm(backend, stream, z, &classes, &key.l)?,
        a: query_msm(backend, stream, z, &classes, &key.a)?,
        b1: query_msm(backend, stream, z, &classes, &key.b1)?,
        b2: query_msm(backend, stream, z, &classes, &key.b2)?,
    })
}

fn query_msm<B: Backend, C: Curve>(
    backend: &B,
    stream: &Stream<B>,
    z: &Buffer<B, Scalar>,
    classes: &super::Classes<B::Device>,
    query: &DeviceQuery<B::Device, C>,
) -> Result<Pending<C::Projective>> {
    backend.msm(
        stream,
        Msm {
            bases: query.bases.as_bases(),
            scalars: z,
            form: ScalarForm::Montgomery,
            select: Some(&query.variables),
            classes: Some(classes),
        },
    )
}
