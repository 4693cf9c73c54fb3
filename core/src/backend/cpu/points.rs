//! Checks and decoding of points.

use std::sync::LazyLock;

use group::prime::PrimeCurveAffine;
use rayon::prelude::*;

use crate::backend::{PointEncoding, PointReport};
use crate::curve::{BaseField, Curve, Element, Fp, as_bytes_mut};

/// Points per task: a check takes tens of microseconds, a conversion a fraction of one.
const CHECKED: usize = 64;
const DECODED: usize = 1 << 10;

/// Bytes of a coordinate in Fp.
const FP: usize = 48;

/// 2^384 mod p as a field element: multiplication by it enters Montgomery form.
static R: LazyLock<Fp> = LazyLock::new(|| (0..384).fold(Fp::ONE, |x, _| x.double()));

/// The first index of either.
fn first(a: Option<usize>, b: Option<usize>) -> Option<usize> {
    a.into_iter().chain(b).min()
}

fn merge(a: PointReport, b: PointReport) -> PointReport {
    PointReport {
        malformed: first(a.malformed, b.malformed),
        off_curve: first(a.off_curve, b.off_curve),
        outside_subgroup: first(a.outside_subgroup, b.outside_subgroup),
    }
}

/// First points that are not on the curve, and on it but outside the subgroup.
pub(super) fn check<C: Curve>(points: &[C::Affine]) -> PointReport {
    let piece_report = |(piece, points): (usize, &[C::Affine])| {
        let mut report = PointReport::default();
        for (i, p) in points.iter().enumerate() {
            let index = Some(piece * CHECKED + i);
            if bool::from(p.is_identity()) {
                continue;
            }
            if !C::is_on_curve(p) {
                report.off_curve = first(report.off_curve, index);
            } else if !C::is_in_subgroup(p) {
                report.outside_subgroup = first(report.outside_subgroup, index);
            }
        }
        report
    };
    points.par_chunks(CHECKED).enumerate().map(piece_report).reduce(PointReport::default, merge)
}

/// Decodes `out.len()` points from as many times `C::BYTES` bytes (surplus of either is left alone). A malformed point becomes the
/// identity and is reported; whether points lie on the curve is not looked at.
pub(super) fn decode<C: Curve>(bytes: &[u8], encoding: PointEncoding, out: &mut [C::Affine]) -> PointReport {
    out.par_chunks_mut(DECODED)
        .zip(bytes.par_chunks(DECODED * C::BYTES))
        .enumerate()
        .map(|(piece, (out, bytes))| {
            let mut malformed = None;
            for (i, (p, bytes)) in out.iter_mut().zip(bytes.chunks_exact(C::BYTES)).enumerate() {
                if decode_one::<C>(bytes, encoding, p).is_none() {
                    *p = C::Affine::zeroed();
                    malformed = first(malformed, Some(piece * DECODED + i));
                }
            }
            PointReport { malformed, ..PointReport::default() }
        })
        .reduce(PointReport::default, merge)
}

/// Works on the bytes of the point, which are its coordinates over Fp one after the other, whichever the group.
fn decode_one<C: Curve>(bytes: &[u8], encoding: PointEncoding, p: &mut C::Affine) -> Option<()> {
    let out = as_bytes_mut(std::slice::from_mut(p));
    match encoding {
        PointEncoding::Montgomery => {
            out.copy_from_slice(bytes);
            bytes.chunks_exact(FP).try_for_each(|c| Fp::from_montgomery(little_endian(c)).map(drop))
        }
        PointEncoding::ZcashZeroIdentity if bytes.iter().all(|b| *b == 0) => {
            out.fill(0);
            Some(())
        }
        PointEncoding::ZcashBigEndian | PointEncoding::ZcashZeroIdentity => decode_zcash(bytes, out),
    }
}

/// The three top bits of an uncompressed point are compressed, infinity, and sign. Fp2 is written c1 first, in memory c0 is.
fn decode_zcash(bytes: &[u8], out: &mut [u8]) -> Option<()> {
    const INFINITY: u8 = 0x40;
    let (flags, high) = (bytes.first()? & 0xe0, bytes.first()? & 0x1f);
    let rest_is_zero = high == 0 && bytes.iter().skip(1).all(|b| *b == 0);
    if flags == INFINITY && rest_is_zero {
        out.fill(0);
        return Some(());
    }
    if flags != 0 || rest_is_zero {
        return None;
    }
    let half = bytes.len() / 2;
    for (from, to) in bytes.chunks_exact(half).zip(out.chunks_exact_mut(half)) {
        for (from, to) in from.chunks_exact(FP).zip(to.chunks_exact_mut(FP).rev()) {
            let canonical = Fp::from_montgomery(big_endian(from))?;
            for (limb, to) in canonical.mul(&R).to_montgomery().iter().zip(to.chunks_exact_mut(8)) {
                to.copy_from_slice(&limb.to_le_bytes());
            }
        }
    }
    Some(())
}

fn limb(bytes: &[u8]) -> [u8; 8] {
    let mut limb = [0; 8];
    limb.copy_from_slice(bytes);
    limb
}

fn little_endian(bytes: &[u8]) -> [u64; 6] {
    let mut limbs = [0; 6];
    limbs.iter_mut().zip(bytes.chunks_exact(8)).for_each(|(l, b)| *l = u64::from_le_bytes(limb(b)));
    limbs
}

fn big_endian(bytes: &[u8]) -> [u64; 6] {
    let mut limbs = [0; 6];
    limbs.iter_mut().zip(bytes.chunks_exact(8).rev()).for_each(|(l, b)| *l = u64::from_be_bytes(limb(b)));
    limbs
}
