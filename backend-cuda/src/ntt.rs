//! Transforms: passes of up to nine bits of the index; see kernels/ntt.cuh.

use cuzk_core::backend::{BackendError, DeviceBuffer, Direction, Ntt, Order, Result};
use cuzk_core::curve::Scalar;
use ff::Field;

use crate::backend::CudaBackend;
use crate::driver::{Args, Launch};
use crate::memory::{CudaBuffer, CudaStream};
use crate::params::{Factors, Twiddles};

/// Transforms up to this log2 of the length are done by one block.
const MAX_LOG_SMALL: u32 = 10;
/// Bits of a pass.
const MAX_PASS: u32 = 9;
/// log2 of the elements of a block at most: 256 threads hold 4 each.
const MAX_TILE: u32 = 10;

/// Bits of each pass, evenly, the larger ones first.
fn passes(log_n: u32) -> Vec<u32> {
    let count = log_n.div_ceil(MAX_PASS);
    (0..count).map(|i| log_n / count + u32::from(i < log_n % count)).collect()
}

/// log2 of the neighbouring indices that a block takes at once: 2 where that leaves enough blocks for the device.
fn columns(log_n: u32, k: u32) -> u32 {
    (MAX_TILE - k).min(log_n.saturating_sub(k + 8)).min(2)
}

/// What runs, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The bit-reversal permutation.
    Reverse,
    /// Passes from natural to bit-reversed order.
    Frequency,
    /// Passes from bit-reversed to natural order.
    Time,
}

/// The steps of a transform. On the coset of a primitive 2n-th root forward transforms should go in time and inverse ones in frequency, where that
/// coset is free; that decides where there is a choice.
fn steps(op: &Ntt) -> Vec<Step> {
    let time_first = op.direction == Direction::Forward && op.coset.is_some();
    match (op.input, op.output) {
        (Order::Natural, Order::BitReversed) => vec![Step::Frequency],
        (Order::BitReversed, Order::Natural) => vec![Step::Time],
        (Order::Natural, Order::Natural) if time_first => vec![Step::Reverse, Step::Time],
        (Order::Natural, Order::Natural) => vec![Step::Frequency, Step::Reverse],
        (Order::BitReversed, Order::BitReversed)
            if op.direction == Direction::Inverse && op.coset.is_some() =>
        {
            vec![Step::Reverse, Step::Frequency]
        }
        (Order::BitReversed, Order::BitReversed) => vec![Step::Time, Step::Reverse],
    }
}

impl CudaBackend {
    pub(crate) fn run_ntt(&self, stream: &CudaStream, io: &mut CudaBuffer<Scalar>, op: &Ntt) -> Result<()> {
        let invalid = |what, expected, found| BackendError::Invalid { op: "ntt", what, expected, found };
        let log_n = op.log_n;
        if op.root.of_unity(log_n).is_none() {
            return Err(invalid("log2 of the length at most", 32, log_n.into()));
        }
        if io.len() as u64 != 1 << log_n {
            return Err(invalid("length", 1 << log_n, io.len() as u64));
        }
        if op.coset.is_some_and(|shift| bool::from(shift.is_zero())) {
            return Err(invalid("the coset shift, if it is zero,", 1, 0));
        }
        if log_n == 0 {
            return Ok(());
        }
        let steps = if log_n <= MAX_LOG_SMALL { Vec::new() } else { steps(op) };
        let time = !steps.contains(&Step::Frequency);
        let natural = if time { Direction::Forward } else { Direction::Inverse };
        let odd = op.direction == natural && op.coset.is_some() && op.coset == op.root.of_unity(log_n + 1);
        let mut twiddles = self.twiddles(stream, op.root, log_n + u32::from(odd))?;
        twiddles.odd = odd.into();
        let (before, after) = self.factors(stream, &Ntt { coset: op.coset.filter(|_| !odd), ..*op })?;
        let data = io.on(stream);
        if steps.is_empty() {
            return self.run_small(stream, data, op, twiddles, before, after);
        }
        for step in steps {
            if step == Step::Reverse {
                let launch = Launch { grid: (1 << (log_n - 8), 1), block: 256, shared: 0 };
                launch.run(
                    &stream.raw,
                    self.kernels.get("ntt_reverse")?,
                    Args::new().arg(data).arg(log_n),
                )?;
            } else {
                let (before, after) = (before.reversed(time), after.reversed(!time));
                self.run_passes(stream, data, op, time, twiddles, before, after)?;
            }
        }
        Ok(())
    }

    fn run_small(
        &self,
        stream: &CudaStream,
        data: u64,
        op: &Ntt,
        twiddles: Twiddles,
        before: Factors,
        after: Factors,
    ) -> Result<()> {
        let [reversed_in, reversed_out] = [op.input, op.output].map(|order| order == Order::BitReversed);
        let args = Args::new()
            .arg(data)
            .arg(op.log_n)
            .arg(u32::from(op.direction == Direction::Inverse))
            .arg(u32::from(reversed_in))
            .arg(u32::from(reversed_out))
            .arg(twiddles)
            .arg(before.reversed(reversed_in))
            .arg(after.reversed(reversed_out));
        let launch = Launch { grid: (1, 1), block: 1u32 << op.log_n.clamp(6, 10) >> 1, shared: 0 };
        launch.run(&stream.raw, self.kernels.get("ntt_small")?, args)
    }

    #[expect(clippy::too_many_arguments, reason = "the parameters of one kernel")]
    fn run_passes(
        &self,
        stream: &CudaStream,
        data: u64,
        op: &Ntt,
        time: bool,
        twiddles: Twiddles,
        before: Factors,
        after: Factors,
    ) -> Result<()> {
        let name = match (time, op.direction) {
            (false, Direction::Forward) => "ntt_frequency_forward",
            (false, Direction::Inverse) => "ntt_frequency_inverse",
            (true, Direction::Forward) => "ntt_time_forward",
            (true, Direction::Inverse) => "ntt_time_inverse",
        };
        let kernel = self.kernels.get(name)?;
        let mut order = passes(op.log_n);
        let last = order.len() - 1;
        if time {
            order.reverse();
        }
        let mut done = 0;
        for (i, k) in order.into_iter().enumerate() {
            let lowest = if time { done } else { op.log_n - done - k };
            done += k;
            let none = Factors::default();
            let args = Args::new()
                .arg(data)
                .arg(op.log_n)
                .arg(lowest)
                .arg(k)
                .arg(columns(op.log_n, k))
                .arg(twiddles)
                .arg(if i == 0 { before } else { none })
                .arg(if i == last { after } else { none });
            let tile = k + columns(op.log_n, k);
            Launch { grid: (1 << (op.log_n - tile), 1), block: 1 << (tile - 2), shared: 32 << tile }.run(
                &stream.raw,
                kernel,
                args,
            )?;
        }
        Ok(())
    }

    /// What the elements are multiplied with on the way in and out: g^j forward, g^-j / n inverse.
    fn factors(&self, stream: &CudaStream, op: &Ntt) -> Result<(Factors, Factors)> {
        let none = Factors::default();
        match (op.direction, op.coset) {
            (Direction::Forward, None) => Ok((none, none)),
            (Direction::Forward, Some(shift)) => {
                Ok((self.powers(stream, Scalar::ONE, shift, op.log_n)?, none))
            }
            (Direction::Inverse, coset) => {
                let n_inverse =
                    (0..op.log_n).fold(Scalar::ONE, |x, _| x * <Scalar as ff::PrimeField>::TWO_INV);
                let after = match coset {
                    None => Factors::constant(n_inverse),
                    Some(shift) => {
                        let ratio = shift.invert().unwrap_or(Scalar::ZERO);
                        self.powers(stream, n_inverse, ratio, op.log_n)?
                    }
                };
                Ok((none, after))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_cover_the_index_and_fit_the_kernel() {
        for log_n in MAX_LOG_SMALL + 1..=32 {
            let bits = passes(log_n);
            assert_eq!(bits.iter().sum::<u32>(), log_n);
            assert!(bits.iter().all(|k| (5..=MAX_PASS).contains(k)), "{log_n}: {bits:?}");
        }
        for log_n in MAX_LOG_SMALL + 1..=32 {
            for k in passes(log_n) {
                // Between 8 and 256 threads with 4 elements each, and passes above others have room for the columns below.
                assert!((5..=MAX_TILE).contains(&(k + columns(log_n, k))), "{log_n} {k}");
            }
        }
    }
}
