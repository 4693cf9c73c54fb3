//! Two backends as one: every operation runs on both and the results are compared before the next one starts.
//!
//! For finding where a backend goes wrong: the first operation whose results differ is reported by name, with the place of the
//! first difference. A buffer is a pair of buffers, a stream a pair of streams, and what reaches the host comes from the first backend.
//! Transfers are compared when something is downloaded, for only then is it certain that the content is defined.

mod compare;
mod device;
mod project;

pub use device::{DualBuffer, DualDevice, DualEvent, DualPages, DualPinned, DualStream};

use compare::Pair;

use super::{
    Backend, BackendError, Buffer, Classes, DeviceKey, DeviceMatrix, Expand, Msm, Ntt, Pending,
    PointEncoding, PointReport, Pointwise, Quotient, Result, Stream, WitnessMsms,
};
use crate::curve::{Curve, Scalar};

/// Runs `X` and `Y` side by side; its results are those of `X`.
pub struct DualBackend<X: Backend, Y: Backend> {
    name: String,
    device: DualDevice<X, Y>,
}

impl<X: Backend, Y: Backend> DualBackend<X, Y> {
    /// Of two open backends.
    pub fn new(x: X, y: Y) -> Self {
        Self { name: format!("dual:{},{}", x.name(), y.name()), device: DualDevice::new(x, y) }
    }

    fn x(&self) -> &X {
        &self.device.x
    }
    fn y(&self) -> &Y {
        &self.device.y
    }
    fn pair(&self, op: &'static str) -> Pair<'_, X, Y> {
        self.device.pair(op)
    }
}

impl<X: Backend, Y: Backend> Backend for DualBackend<X, Y> {
    type Device = DualDevice<X, Y>;

    fn name(&self) -> &str {
        &self.name
    }
    fn device(&self) -> &DualDevice<X, Y> {
        &self.device
    }
    fn reopen(&self) -> Result<Self> {
        Ok(Self::new(self.x().reopen()?, self.y().reopen()?))
    }

    fn ntt(&self, stream: &Stream<Self>, io: &mut Buffer<Self, Scalar>, op: &Ntt) -> Result<()> {
        let pair = self.pair("ntt");
        let (x, y) = io.halves_mut()?;
        pair.both(self.x().ntt(&stream.x, x, op), self.y().ntt(&stream.y, y, op))?;
        pair.buffers(stream, "io", io)
    }

    fn pointwise(
        &self,
        stream: &Stream<Self>,
        io: &mut Buffer<Self, Scalar>,
        op: Pointwise<'_, DualDevice<X, Y>>,
    ) -> Result<()> {
        let pair = self.pair("pointwise");
        let (x_op, y_op) = project::pointwise(&op);
        let (x, y) = io.halves_mut()?;
        pair.both(self.x().pointwise(&stream.x, x, x_op), self.y().pointwise(&stream.y, y, y_op))?;
        pair.buffers(stream, "io", io)
    }

    fn spmv(
        &self,
        stream: &Stream<Self>,
        matrix: &DeviceMatrix<DualDevice<X, Y>>,
        z: &Buffer<Self, Scalar>,
        out: &mut Buffer<Self, Scalar>,
    ) -> Result<()> {
        let pair = self.pair("spmv");
        let (x_matrix, y_matrix) = project::matrix(matrix);
        let (x, y) = out.halves_mut()?;
        pair.both(
            self.x().spmv(&stream.x, &x_matrix, &z.x, x),
            self.y().spmv(&stream.y, &y_matrix, &z.y, y),
        )?;
        pair.buffers(stream, "out", out)
    }

    fn classify(&self, stream: &Stream<Self>, z: &Buffer<Self, Scalar>) -> Result<Classes<DualDevice<X, Y>>> {
        let pair = self.pair("classify");
        let (x, y) = pair.both(self.x().classify(&stream.x, &z.x), self.y().classify(&stream.y, &z.y))?;
        let classes = project::join_classes(x, y);
        pair.buffers(stream, "codes", &classes.codes)?;
        pair.buffers(stream, "counts", &classes.counts)?;
        Ok(classes)
    }

    fn expand(
        &self,
        stream: &Stream<Self>,
        packed: Expand<'_, DualDevice<X, Y>>,
        z: &mut Buffer<Self, Scalar>,
    ) -> Result<()> {
        let pair = self.pair("expand");
        let (x_packed, y_packed) = project::expand(&packed);
        let (x, y) = z.halves_mut()?;
        pair.both(self.x().expand(&stream.x, x_packed, x), self.y().expand(&stream.y, y_packed, y))?;
        pair.buffers(stream, "z", z)
    }

    fn msm_memory<C: Curve>(&self, bases: usize, streamed: bool) -> u64 {
        self.x().msm_memory::<C>(bases, streamed).max(self.y().msm_memory::<C>(bases, streamed))
    }

    fn msm<C: Curve>(
        &self,
        stream: &Stream<Self>,
        op: Msm<'_, DualDevice<X, Y>, C>,
    ) -> Result<Pending<C::Projective>> {
        let pair = self.pair("msm");
        let classes = op.classes.map(project::classes);
        let (x_op, y_op) = project::msm(&op, classes.as_ref());
        let (x, y) = pair.both(self.x().msm::<C>(&stream.x, x_op), self.y().msm::<C>(&stream.y, y_op))?;
        Ok(pair.pending_point::<C>("sum", x, y))
    }

    fn fixed_base<C: Curve>(
        &self,
        stream: &Stream<Self>,
        base: &C::Affine,
        scalars: &Buffer<Self, Scalar>,
        out: &mut Buffer<Self, C::Affine>,
    ) -> Result<()> {
        let pair = self.pair("fixed_base");
        let (x, y) = out.halves_mut()?;
        pair.both(
            self.x().fixed_base::<C>(&stream.x, base, &scalars.x, x),
            self.y().fixed_base::<C>(&stream.y, base, &scalars.y, y),
        )?;
        pair.buffers(stream, "out", out)
    }

    fn check_points<C: Curve>(
        &self,
        stream: &Stream<Self>,
        points: &Buffer<Self, C::Affine>,
    ) -> Result<Pending<PointReport>> {
        let pair = self.pair("check_points");
        let (x, y) = pair.both(
            self.x().check_points::<C>(&stream.x, &points.x),
            self.y().check_points::<C>(&stream.y, &points.y),
        )?;
        Ok(pair.pending_report(x, y))
    }

    fn convert_points<C: Curve>(
        &self,
        stream: &Stream<Self>,
        bytes: &Buffer<Self, u8>,
        encoding: PointEncoding,
        out: &mut Buffer<Self, C::Affine>,
    ) -> Result<Pending<PointReport>> {
        let pair = self.pair("convert_points");
        let (x, y) = out.halves_mut()?;
        let (x, y) = pair.both(
            self.x().convert_points::<C>(&stream.x, &bytes.x, encoding, x),
            self.y().convert_points::<C>(&stream.y, &bytes.y, encoding, y),
        )?;
        pair.buffers(stream, "out", out)?;
        Ok(pair.pending_report(x, y))
    }

    /// Each backend's own, fused or not.
    fn quotient(
        &self,
        stream: &Stream<Self>,
        a: Buffer<Self, Scalar>,
        b: Buffer<Self, Scalar>,
        op: &Quotient,
    ) -> Result<Buffer<Self, Scalar>> {
        let pair = self.pair("quotient");
        let ((ax, ay), (bx, by)) = (a.into_halves()?, b.into_halves()?);
        let (x, y) =
            pair.both(self.x().quotient(&stream.x, ax, bx, op), self.y().quotient(&stream.y, ay, by, op))?;
        let out = DualBuffer::new(x, y);
        pair.buffers(stream, "h scalars", &out)?;
        Ok(out)
    }

    /// Each backend's own, fused or not.
    fn witness_msms(
        &self,
        stream: &Stream<Self>,
        z: &Buffer<Self, Scalar>,
        key: &DeviceKey<DualDevice<X, Y>>,
    ) -> Result<WitnessMsms> {
        let pair = self.pair("witness_msms");
        let (x_key, y_key) = project::key(key);
        let (x, y) = pair.both(
            self.x().witness_msms(&stream.x, &z.x, &x_key),
            self.y().witness_msms(&stream.y, &z.y, &y_key),
        )?;
        Ok(WitnessMsms {
            l: pair.pending_point::<crate::curve::G1>("l", x.l, y.l),
            a: pair.pending_point::<crate::curve::G1>("a", x.a, y.a),
            b1: pair.pending_point::<crate::curve::G1>("b1", x.b1, y.b1),
            b2: pair.pending_point::<crate::curve::G2>("b2", x.b2, y.b2),
        })
    }
}

impl BackendError {
    /// The mistake was the caller's, which two backends must agree on.
    fn is_invalid(&self) -> bool {
        matches!(self, Self::Invalid { .. })
    }
}
