//! Elementwise operations, in parallel over pieces of the vector.

use ff::{Field, PrimeField};
use rayon::prelude::*;

use super::invalid_len;
use crate::backend::host::{HostBuffer, HostDevice};
use crate::backend::{Pointwise, Result};
use crate::curve::{MONTGOMERY_R, RAW_ONE, Scalar, from_raw_limbs, scalar_add, scalar_sub};

/// Elements per task: 128 KiB, some 50 microseconds of multiplications.
const PIECE: usize = 1 << 12;

/// Applies `op` to `io`.
pub(super) fn apply(io: &mut [Scalar], op: Pointwise<'_, HostDevice>) -> Result<()> {
    match op {
        Pointwise::Add(rhs) => zip(io, rhs, |x, y| *x = scalar_add(x, y)),
        Pointwise::Sub(rhs) => zip(io, rhs, |x, y| *x = scalar_sub(x, y)),
        Pointwise::Mul(rhs) => zip(io, rhs, |x, y| *x *= y),
        Pointwise::HalfDifference(rhs) => zip(io, rhs, |x, y| *x = scalar_sub(y, x) * Scalar::TWO_INV),
        Pointwise::MulSub(x, y) => mul_sub(io, x, y),
        Pointwise::Scale(by) => each(io, |x| *x *= &by),
        Pointwise::Powers { first, ratio } => {
            scale_powers(io, first, ratio);
            Ok(())
        }
        Pointwise::Inverse => {
            io.par_chunks_mut(PIECE / 4).for_each(invert);
            Ok(())
        }
        Pointwise::ToCanonical => each(io, |x| *x *= &from_raw_limbs(RAW_ONE)),
        Pointwise::ToMontgomery => {
            let r = *MONTGOMERY_R;
            each(io, move |x| *x *= &r)
        }
    }
}

fn each(io: &mut [Scalar], f: impl Fn(&mut Scalar) + Sync) -> Result<()> {
    io.par_chunks_mut(PIECE).for_each(|piece| piece.iter_mut().for_each(&f));
    Ok(())
}

fn zip(io: &mut [Scalar], rhs: &HostBuffer<Scalar>, f: impl Fn(&mut Scalar, &Scalar) + Sync) -> Result<()> {
    let rhs = rhs.as_slice();
    invalid_len("pointwise", "length of the right-hand side", io.len(), rhs.len())?;
    io.par_chunks_mut(PIECE)
        .zip(rhs.par_chunks(PIECE))
        .for_each(|(x, y)| x.iter_mut().zip(y).for_each(|(x, y)| f(x, y)));
    Ok(())
}

fn mul_sub(io: &mut [Scalar], x: &HostBuffer<Scalar>, y: &HostBuffer<Scalar>) -> Result<()> {
    let (x, y) = (x.as_slice(), y.as_slice());
    invalid_len("pointwise", "length of the first factor", io.len(), x.len())?;
    invalid_len("pointwise", "length of the second factor", io.len(), y.len())?;
    io.par_chunks_mut(PIECE).zip(x.par_chunks(PIECE)).zip(y.par_chunks(PIECE)).for_each(|((io, x), y)| {
        io.iter_mut().zip(x.iter().zip(y)).for_each(|(io, (x, y))| *io = scalar_sub(&(*x * y), io));
    });
    Ok(())
}

/// io_i *= first ratio^i: every piece starts from its own power, so none waits for another.
pub(super) fn scale_powers(io: &mut [Scalar], first: Scalar, ratio: Scalar) {
    io.par_chunks_mut(PIECE).enumerate().for_each(|(piece, io)| {
        let mut factor = first * ratio.pow_vartime([(piece * PIECE) as u64]);
        for x in io {
            *x *= &factor;
            factor *= &ratio;
        }
    });
}

/// Montgomery's trick: one inversion and three products per element; zeros are left out of the product.
fn invert(io: &mut [Scalar]) {
    let mut before = Vec::with_capacity(io.len());
    let mut product = Scalar::ONE;
    for x in io.iter() {
        before.push(product);
        if !is_zero(x) {
            product *= x;
        }
    }
    // A product of non-zero elements; the default cannot occur.
    let mut inverse = product.invert().unwrap_or(Scalar::ZERO);
    for (x, before) in io.iter_mut().zip(before).rev() {
        if !is_zero(x) {
            let next = inverse * *x;
            *x = inverse * before;
            inverse = next;
        }
    }
}

/// Variable-time.
#[inline(always)]
pub(super) fn is_zero(x: &Scalar) -> bool {
    crate::curve::raw_limbs(x) == [0; 4]
}
