//! What the operations mean, one function each.

use ff::{Field, PrimeField};
use group::Group;

use super::super::{Direction, Ntt, Order, PointEncoding, Result, class};
use super::invalid;
use crate::circuit::Shift;
use crate::curve::{BaseField, Curve, Element, Fp, Scalar, as_bytes, as_bytes_mut};

/// first, first ratio, first ratio^2, ...
pub(super) fn powers(first: Scalar, ratio: Scalar) -> impl Iterator<Item = Scalar> {
    std::iter::successors(Some(first), move |p| Some(p * ratio))
}

/// The sums in the definitions of [`Direction`] and [`Ntt`]; `root` is w.
pub(super) fn transform(x: &[Scalar], op: &Ntt, root: Scalar) -> Vec<Scalar> {
    let n = x.len();
    let one = Scalar::ONE;
    let inverse = |v: Scalar| v.invert().unwrap_or(Scalar::ZERO);
    let g = op.coset.unwrap_or(one);
    // before_j and after_k are the factors that the coset and 1/n put on what goes in and what comes out.
    let (w, before, after, n_inverse) = match op.direction {
        Direction::Forward => (root, g, one, one),
        Direction::Inverse => (inverse(root), one, inverse(g), inverse(Scalar::from(n as u64))),
    };
    let w: Vec<Scalar> = powers(one, w).take(n).collect();
    let x: Vec<Scalar> =
        powers(one, before).take(n).enumerate().map(|(j, b)| x[at(j, op.log_n, op.input)] * b).collect();
    let mut out = vec![Scalar::ZERO; n];
    for (k, after) in powers(n_inverse, after).take(n).enumerate() {
        let sum: Scalar = (0..n).map(|j| x[j] * w[j * k % n]).sum();
        out[at(k, op.log_n, op.output)] = sum * after;
    }
    out
}

/// Where element `i` lies.
pub(super) fn at(i: usize, log_n: u32, order: Order) -> usize {
    match order {
        Order::Natural => i,
        Order::BitReversed => (0..log_n).fold(0, |reversed, bit| reversed << 1 | (i >> bit & 1)),
    }
}

/// The column of an entry in one of a block's copies.
pub(super) fn shifted(col: u32, shifts: &[Shift], copy: u32) -> u32 {
    let stride = shifts.iter().find(|s| s.from <= col && col < s.until).map_or(0, |s| s.stride);
    col.wrapping_add(copy.wrapping_mul(stride))
}

pub(super) fn class_of(scalar: &Scalar) -> u8 {
    let bytes = scalar.to_repr();
    match (bytes[0], bytes[1], bytes[2..].iter().all(|b| *b == 0)) {
        (0, 0, true) => class::ZERO,
        (1, 0, true) => class::ONE,
        (_, _, true) => class::SMALL,
        _ => class::FULL,
    }
}

/// The bytes in memory, whatever form they are in.
pub(super) fn raw(scalar: &Scalar) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(as_bytes(std::slice::from_ref(scalar)));
    bytes
}

/// A scalar with these bytes in memory.
pub(super) fn from_raw(bytes: [u8; 32]) -> Scalar {
    let mut scalar = Scalar::ZERO;
    as_bytes_mut(std::slice::from_mut(&mut scalar)).copy_from_slice(&bytes);
    scalar
}

pub(super) fn to_montgomery(canonical: &Scalar) -> Result<Scalar> {
    Option::from(Scalar::from_repr(raw(canonical)))
        .ok_or_else(|| invalid("pointwise", "1 if reduced,", 1u64, 0u64))
}

/// Double-and-add over the 256 bits of a little-endian integer.
pub(super) fn multiply<C: Curve>(base: &C::Affine, scalar: &[u8; 32]) -> C::Projective {
    let mut sum = C::Projective::identity();
    for bit in (0..256).rev() {
        sum = sum.double();
        if scalar[bit / 8] >> (bit % 8) & 1 == 1 {
            sum += base;
        }
    }
    sum
}

/// One point; `None` for what [`PointReport::malformed`] describes.
pub(super) fn decode<C: Curve>(bytes: &[u8], encoding: PointEncoding) -> Option<C::Affine> {
    let mut bytes = bytes.to_vec();
    if encoding != PointEncoding::Montgomery {
        // Compressed, infinity, larger y: the first may not be set here, the third is for compressed points alone.
        let flags = bytes[0] >> 5;
        bytes[0] &= 0x1f;
        let zero = bytes.iter().all(|b| *b == 0);
        if zero && (flags == 0b010 || flags == 0 && encoding == PointEncoding::ZcashZeroIdentity) {
            return Some(C::Affine::zeroed());
        }
        if flags != 0 || zero {
            return None;
        }
        // Reversed as a whole, coordinates come out last to first: y before x, and within Fp2 c0 before c1.
        bytes.reverse();
        bytes.rotate_left(C::BYTES / 2);
    }
    let montgomery = encoding == PointEncoding::Montgomery;
    let limbs: Vec<Fp> = bytes.chunks(48).map(|c| coordinate(c, montgomery)).collect::<Option<_>>()?;
    let mut point = C::Affine::zeroed();
    for (out, limb) in as_bytes_mut(std::slice::from_mut(&mut point))
        .chunks_mut(8)
        .zip(limbs.iter().flat_map(|f| f.to_montgomery()))
    {
        out.copy_from_slice(&limb.to_ne_bytes());
    }
    Some(point)
}

/// 48 little-endian bytes below p, in Montgomery form or to be brought into it.
pub(super) fn coordinate(bytes: &[u8], montgomery: bool) -> Option<Fp> {
    let mut limbs = [0u64; 6];
    for (i, byte) in bytes.iter().enumerate() {
        limbs[i / 8] |= u64::from(*byte) << (8 * (i % 8));
    }
    let value = Fp::from_montgomery(limbs)?;
    // The limbs of the Montgomery form of R = 2^384 are R^2 mod p, and a product with them adds the factor R.
    let r_squared = (0..384).fold(Fp::ONE, |x, _| x.double());
    Some(if montgomery { value } else { value.mul(&r_squared) })
}
