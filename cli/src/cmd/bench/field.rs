//! Elementwise products of two vectors.

use cuzk_core::backend::{Backend, Device, Pointwise};
use cuzk_core::curve::Scalar;
use rayon::prelude::*;
use serde_json::Map;

use super::{Measured, Timing, data, wrong};
use crate::args::ScalarsArg;
use crate::backends::Visitor;
use crate::exit::Result;

pub(super) struct Field<'a> {
    pub(super) log_n: u32,
    pub(super) timing: Timing<'a>,
}

impl Visitor for Field<'_> {
    type Output = Result<Measured>;

    fn visit<B: Backend>(self, backend: B) -> Result<Measured> {
        let n = 1usize << self.log_n;
        let device = backend.device();
        let vector = n as u64 * 32;
        self.timing.expect_room(device.info(), device.memory(), 3 * vector, 2 * vector)?;
        let stream = device.stream("bench")?;
        let (x, y) = (data::scalars(n, ScalarsArg::Random, 1), data::scalars(n, ScalarsArg::Random, 2));
        let mut io = device.upload_new(&stream, "x", &x)?;
        let by = device.upload_new(&stream, "y", &y)?;
        backend.pointwise(&stream, &mut io, Pointwise::Mul(&by))?;
        let products: Vec<Scalar> = device.download_all(&stream, &io)?;
        let right = products.par_iter().zip(&x).zip(&y).all(|((product, x), y)| *product == x * y);
        if !right {
            return Err(wrong("field", device));
        }
        let runs = self.timing.measure(|| {
            backend.pointwise(&stream, &mut io, Pointwise::Mul(&by))?;
            Ok(device.finish(&stream)?)
        })?;
        Ok(Measured { device: device.info().clone(), runs, items: (n as u64, "products"), facts: Map::new() })
    }
}
