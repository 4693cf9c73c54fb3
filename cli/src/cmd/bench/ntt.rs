//! One transform in place.

use cuzk_core::backend::{Backend, Device, Direction, Ntt, Order};
use cuzk_core::curve::{Root, Scalar};
use ff::Field;
use rayon::prelude::*;
use serde_json::{Map, json};

use super::{Measured, Timing, data, wrong};
use crate::args::{DirectionArg, OrderArg, ScalarsArg};
use crate::backends::Visitor;
use crate::exit::{Failure, Result};

pub(super) struct Transform<'a> {
    pub(super) log_n: u32,
    pub(super) order: OrderArg,
    pub(super) direction: DirectionArg,
    pub(super) timing: Timing<'a>,
}

impl Visitor for Transform<'_> {
    type Output = Result<Measured>;

    fn visit<B: Backend>(self, backend: B) -> Result<Measured> {
        let n = 1usize << self.log_n;
        let device = backend.device();
        let vector = n as u64 * 32;
        self.timing.expect_room(device.info(), device.memory(), 3 * vector, vector)?;
        let stream = device.stream("bench")?;
        let (op, back) = self.ops()?;
        let before = data::scalars(n, ScalarsArg::Random, 1);
        let mut io = device.upload_new(&stream, "values", &before)?;
        backend.ntt(&stream, &mut io, &op)?;
        let after = device.download_all(&stream, &io)?;
        backend.ntt(&stream, &mut io, &back)?;
        if device.download_all(&stream, &io)? != before || !evaluates(&op, &before, &after) {
            return Err(wrong("ntt", device));
        }
        let runs = self.timing.measure(|| {
            backend.ntt(&stream, &mut io, &op)?;
            Ok(device.finish(&stream)?)
        })?;
        let facts = Map::from_iter([
            ("order".into(), json!(data::name(self.order))),
            ("direction".into(), json!(data::name(self.direction))),
        ]);
        // The usual count of butterflies.
        let butterflies = n as u64 / 2 * u64::from(self.log_n);
        Ok(Measured { device: device.info().clone(), runs, items: (butterflies, "butterflies"), facts })
    }
}

impl Transform<'_> {
    /// The transform and its inverse.
    fn ops(&self) -> Result<(Ntt, Ntt)> {
        let (input, output) = self.order.sides();
        let (direction, on_coset) = self.direction.parts();
        let mut op = Ntt::new(self.log_n, direction, Root::Seven).ordered(input, output);
        if on_coset {
            let shift = Root::Seven.of_unity(self.log_n + 1);
            op = op.on_coset(shift.ok_or_else(|| Failure::usage("--log-n: a coset needs at most 31"))?);
        }
        let opposite = match direction {
            Direction::Forward => Direction::Inverse,
            Direction::Inverse => Direction::Forward,
        };
        Ok((op, Ntt { direction: opposite, input: output, output: input, ..op }))
    }
}

/// Whether some evaluations are those of the polynomial, worked out by Horner's rule. A transform that did nothing passes the way
/// there and back; it does not pass this.
fn evaluates(op: &Ntt, before: &[Scalar], after: &[Scalar]) -> bool {
    let Some(omega) = op.root.of_unity(op.log_n) else { return false };
    let n = before.len();
    let at = |values: &[Scalar], order: Order, i: usize| {
        let position = match order {
            Order::Natural => i,
            Order::BitReversed if op.log_n == 0 => i,
            Order::BitReversed => i.reverse_bits() >> (usize::BITS - op.log_n),
        };
        values.get(position).copied()
    };
    let ((coefficients, c_order), (values, v_order)) = match op.direction {
        Direction::Forward => ((before, op.input), (after, op.output)),
        Direction::Inverse => ((after, op.output), (before, op.input)),
    };
    [0, 1, n / 3, n - 1].par_iter().filter(|k| **k < n).all(|&k| {
        let point = op.coset.unwrap_or(Scalar::ONE) * omega.pow_vartime([k as u64]);
        let sum =
            (0..n).rev().try_fold(Scalar::ZERO, |sum, i| Some(sum * point + at(coefficients, c_order, i)?));
        sum.is_some() && sum == at(values, v_order, k)
    })
}
