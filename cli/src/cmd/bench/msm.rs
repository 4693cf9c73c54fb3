//! One multi-scalar multiplication. The bases have known discrete logarithms, so the result is known too.

use std::marker::PhantomData;

use cuzk_core::backend::{Backend, Bases, Device, DeviceBuffer, Msm, ScalarForm};
use cuzk_core::curve::{Curve, Scalar};
use cuzk_core::key::EncodedPoints;
use group::Group;
use group::prime::PrimeCurveAffine;
use rayon::prelude::*;
use serde_json::{Map, json};

use super::{Measured, Timing, data, wrong};
use crate::args::{BasesArg, ScalarsArg};
use crate::backends::Visitor;
use crate::exit::Result;

pub(super) struct Sum<'a> {
    pub(super) log_n: u32,
    pub(super) scalars: ScalarsArg,
    pub(super) bases: BasesArg,
    pub(super) timing: Timing<'a>,
}

/// The same over one group.
pub(super) struct Over<'a, C> {
    op: Sum<'a>,
    curve: PhantomData<C>,
}

impl<'a, C> Over<'a, C> {
    pub(super) fn new(op: Sum<'a>) -> Self {
        Self { op, curve: PhantomData }
    }
}

impl<C: Curve> Visitor for Over<'_, C> {
    type Output = Result<Measured>;

    fn visit<B: Backend>(self, backend: B) -> Result<Measured> {
        let n = 1usize << self.op.log_n;
        let device = backend.device();
        let (vector, points) = (n as u64 * 32, n as u64 * C::BYTES as u64);
        let streamed = if self.op.bases == BasesArg::Streamed { 2 * points } else { 0 };
        self.op.timing.expect_room(
            device.info(),
            device.memory(),
            2 * vector + streamed,
            2 * vector + points,
        )?;
        let stream = device.stream("bench")?;
        let logs = data::scalars(n, ScalarsArg::Random, 1);
        let scalars = data::scalars(n, self.op.scalars, 2);
        let expected = C::Projective::generator() * dot(&logs, &scalars);

        let exponents = device.upload_new(&stream, "discrete logarithms", &logs)?;
        let mut points = device.alloc::<C::Affine>("bases", n)?;
        backend.fixed_base::<C>(&stream, &C::Affine::generator(), &exponents, &mut points)?;
        drop(exponents);
        let streamed = match self.op.bases {
            BasesArg::Resident => None,
            BasesArg::Streamed => {
                Some(EncodedPoints::<C>::from_points(&device.download_all(&stream, &points)?))
            }
        };
        let scalars = device.upload_new(&stream, "scalars", &scalars)?;
        let sum = || {
            let bases = streamed.as_ref().map_or(Bases::Resident(&points), Bases::Streamed);
            let op =
                Msm { bases, scalars: &scalars, form: ScalarForm::Montgomery, select: None, classes: None };
            backend.msm::<C>(&stream, op)?.wait()
        };
        if sum()? != expected {
            return Err(wrong("msm", device));
        }
        let runs = self.op.timing.measure(|| Ok(sum().map(|_| ())?))?;
        let facts = Map::from_iter([
            ("group".into(), json!(C::NAME.to_lowercase())),
            ("scalars".into(), json!(data::name(self.op.scalars))),
            ("bases".into(), json!(data::name(self.op.bases))),
        ]);
        Ok(Measured { device: device.info().clone(), runs, items: (points.len() as u64, "points"), facts })
    }
}

fn dot(x: &[Scalar], y: &[Scalar]) -> Scalar {
    x.par_iter().zip(y).map(|(x, y)| x * y).sum()
}
