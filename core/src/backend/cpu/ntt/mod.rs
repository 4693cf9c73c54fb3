//! Number-theoretic transforms: every direction, coset, root and order with at most one permutation.
//!
//! Orders differ: one network of butterflies does it (`butterflies`). Orders are the same: a permutation after (natural) or before
//! (bit-reversed) makes the other half. A coset costs one multiplication per element, before a forward transform or together with
//! the 1/n after an inverse one.

mod butterflies;
mod reverse;
#[cfg(test)]
mod tests;
mod twiddles;

use ff::Field;
use rayon::prelude::*;

use super::pointwise::{is_zero, scale_powers};
use crate::backend::{BackendError, Direction, Ntt, Order, Result};
use crate::curve::{Root, Scalar};
use reverse::reversed;
use twiddles::Twiddles;

/// Elements per task of a scaling.
const LOG_PIECE: u32 = 12;

/// Transforms `io`, of exactly 2^log_n elements, in place; see [`Ntt`] for what is computed. Uses the current rayon pool.
///
/// # Errors
/// [`BackendError::Invalid`] for another length, for more than 2^32 points and for a coset shift of zero.
///
/// ```
/// use cuzk_core::backend::{Direction, Ntt, cpu};
/// use cuzk_core::curve::{Root, Scalar};
///
/// // The values of 3 + X at 1 and -1.
/// let mut x = [Scalar::from(3), Scalar::from(1)];
/// cpu::ntt(&mut x, &Ntt::new(1, Direction::Forward, Root::Seven))?;
/// assert_eq!(x, [Scalar::from(4), Scalar::from(2)]);
/// # Ok::<(), cuzk_core::backend::BackendError>(())
/// ```
pub fn ntt(io: &mut [Scalar], op: &Ntt) -> Result<()> {
    check(io.len(), op)?;
    let log_n = op.log_n;
    let w = Twiddles::new(op.root, op.direction);
    if let (Direction::Forward, Some(shift)) = (op.direction, op.coset) {
        scale(io, Scalar::ONE, shift, op.input, log_n);
    }
    match (op.input, op.output) {
        (Order::Natural, output) => {
            butterflies::frequency(io, log_n, w)?;
            if output == Order::Natural {
                reverse::permute(io, log_n);
            }
        }
        (Order::BitReversed, Order::Natural) => butterflies::time(io, log_n, w)?,
        (Order::BitReversed, Order::BitReversed) => {
            reverse::permute(io, log_n);
            butterflies::frequency(io, log_n, w)?;
        }
    }
    if op.direction == Direction::Inverse {
        let scaling = (0..log_n).fold(Scalar::ONE, |s, _| s * <Scalar as ff::PrimeField>::TWO_INV);
        match op.coset {
            // Not zero, as checked.
            Some(shift) => scale(io, scaling, shift.invert().unwrap_or(Scalar::ZERO), op.output, log_n),
            None => io.par_chunks_mut(1 << LOG_PIECE).for_each(|x| x.iter_mut().for_each(|x| *x *= &scaling)),
        }
    }
    Ok(())
}

fn check(len: usize, op: &Ntt) -> Result<()> {
    let invalid =
        |what, expected: u64, found: u64| Err(BackendError::Invalid { op: "ntt", what, expected, found });
    if op.log_n > Root::MAX_LOG_N {
        return invalid("log2 of the length at most", Root::MAX_LOG_N.into(), op.log_n.into());
    }
    if len as u64 != 1 << op.log_n {
        return invalid("length", 1 << op.log_n, len as u64);
    }
    if op.coset.is_some_and(|shift| is_zero(&shift)) {
        return invalid("coset shift different from", 0, 0);
    }
    Ok(())
}

/// Element i of the vector, wherever it lies, times first * ratio^i.
fn scale(x: &mut [Scalar], first: Scalar, ratio: Scalar, order: Order, log_n: u32) {
    match order {
        Order::Natural => scale_powers(x, first, ratio),
        Order::BitReversed => scale_reversed(x, first, ratio, log_n),
    }
}

/// Position p = 2^s h + l holds element rev(l) 2^(log_n - s) + rev(h): a table over l serves every piece, and each piece has one factor.
fn scale_reversed(x: &mut [Scalar], first: Scalar, ratio: Scalar, log_n: u32) {
    let s = LOG_PIECE.min(log_n);
    let step = (0..log_n - s).fold(ratio, |r, _| r.square());
    let powers = twiddles::powers(step, 1 << s);
    let mut table = powers;
    reverse::permute(&mut table, s);
    x.par_chunks_mut(1 << s).enumerate().for_each(|(h, x)| {
        let factor = first * ratio.pow_vartime([reversed(h, log_n - s) as u64]);
        x.iter_mut().zip(&table).for_each(|(x, t)| *x *= factor * t);
    });
}
