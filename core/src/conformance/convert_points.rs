//! Points from the bytes of files.

use super::rig::{During, Rig, ensure, refused};
use super::values::{self, Known, encode, off_curve};
use super::{Outcome, Subject};
use crate::backend::{Backend, PointEncoding, PointReport};
use crate::curve::{Curve, Element, Fp, G1, G2};

const ENCODINGS: [PointEncoding; 3] =
    [PointEncoding::ZcashBigEndian, PointEncoding::ZcashZeroIdentity, PointEncoding::Montgomery];

fn examine<B: Backend, C: Curve>(
    rig: &Rig<B>,
    bytes: &[u8],
    encoding: PointEncoding,
    expected: &[C::Affine],
    malformed: Option<usize>,
) -> Outcome {
    let buffer = rig.upload(bytes)?;
    let mut out = rig.point_garbage::<C>(expected.len())?;
    let what = format!("{} {} points from {encoding:?}, malformed {malformed:?}", expected.len(), C::NAME);
    let report = rig
        .backend
        .convert_points::<C>(&rig.stream, &buffer, encoding, &mut out)
        .during(&what)?
        .wait()
        .during(&what)?;
    let wanted = PointReport { malformed, ..PointReport::default() };
    ensure!(report == wanted, "{what}: {report:?} instead of {wanted:?}");
    rig.expect(&out, expected, what)
}

fn converts<B: Backend, C: Curve>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    for n in values::sizes(rig.limits.elements.min(70_000)) {
        let mut known = Known::<C>::line(&mut rig.rng, n);
        if n > 3 {
            known.vanish(n - 1);
            known.vanish(1);
            // Conversion does not look at the curve.
            known.points[2] = off_curve::<C>(&known.points[2]);
        }
        for encoding in ENCODINGS {
            examine::<B, C>(&rig, &encode::<C>(&known.points, encoding), encoding, &known.points, None)?;
        }
        // Where the identity may be zeros, its flag is understood as well.
        let flagged = encode::<C>(&known.points, PointEncoding::ZcashBigEndian);
        examine::<B, C>(&rig, &flagged, PointEncoding::ZcashZeroIdentity, &known.points, None)?;
    }
    Ok(())
}

/// All lengths, the identity among the points
pub fn both_encodings_in_g1<B: Backend>(subject: &Subject<B>) -> Outcome {
    converts::<B, G1>(subject)
}

/// All lengths, the identity among the points
pub fn both_encodings_in_g2<B: Backend>(subject: &Subject<B>) -> Outcome {
    converts::<B, G2>(subject)
}

/// Ways to spoil the bytes of one point.
fn spoilt<C: Curve>(good: &[u8], encoding: PointEncoding) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let p: Vec<u8> = Fp::MODULUS.iter().flat_map(|l| l.to_le_bytes()).collect();
    for start in (0..C::BYTES).step_by(48) {
        // A coordinate equal to p, and the largest 381 bits.
        let (mut equal, mut largest) = (good.to_vec(), good.to_vec());
        match encoding {
            PointEncoding::Montgomery => {
                equal[start..start + 48].copy_from_slice(&p);
                largest[start..start + 48].fill(0xff);
            }
            PointEncoding::ZcashBigEndian | PointEncoding::ZcashZeroIdentity => {
                let coordinate = &mut equal[start..start + 48];
                coordinate.copy_from_slice(&p);
                coordinate.reverse();
                largest[start..start + 48].fill(0xff);
                largest[start] = 0x1f;
            }
        }
        out.extend([equal, largest]);
    }
    if encoding != PointEncoding::Montgomery {
        // Each flag on a point; the flag of infinity with other flags, or with a bit of a coordinate; (0, 0) without it.
        for flags in [0x20, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0] {
            let mut point = good.to_vec();
            point[0] |= flags;
            let mut infinity = vec![0; C::BYTES];
            infinity[0] = flags;
            out.push(point);
            if flags != 0x40 {
                out.push(infinity);
            }
        }
        let mut infinity = vec![0; C::BYTES];
        if encoding == PointEncoding::ZcashBigEndian {
            out.push(infinity.clone());
        }
        infinity[0] = 0x40;
        infinity[C::BYTES - 1] = 1;
        out.push(infinity);
        // Flags in front of y are bits of a coordinate not below p.
        let mut second = good.to_vec();
        second[C::BYTES / 2] |= 0x40;
        out.push(second);
    }
    out
}

fn malformed<B: Backend, C: Curve>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    let known = Known::<C>::line(&mut rig.rng, 7);
    for encoding in ENCODINGS {
        let good = encode::<C>(&known.points, encoding);
        for (i, bad) in spoilt::<C>(&good[..C::BYTES], encoding).iter().enumerate() {
            for places in [vec![0], vec![6], vec![3, 5], vec![i % 7]] {
                let (mut bytes, mut expected) = (good.clone(), known.points.clone());
                for place in &places {
                    bytes[place * C::BYTES..(place + 1) * C::BYTES].copy_from_slice(bad);
                    expected[*place] = C::Affine::zeroed();
                }
                examine::<B, C>(&rig, &bytes, encoding, &expected, places.first().copied())?;
            }
        }
    }
    Ok(())
}

/// Coordinates not below p and flags that make no sense become the identity and are reported
pub fn reports_malformed_points_in_g1<B: Backend>(subject: &Subject<B>) -> Outcome {
    malformed::<B, G1>(subject)
}

/// Coordinates not below p and flags that make no sense become the identity and are reported
pub fn reports_malformed_points_in_g2<B: Backend>(subject: &Subject<B>) -> Outcome {
    malformed::<B, G2>(subject)
}

/// Bytes for one point more or less, and for part of one
pub fn refuses_wrong_lengths<B: Backend>(subject: &Subject<B>) -> Outcome {
    let rig = subject.rig()?;
    for (bytes, points) in [(96, 0), (96, 2), (95, 1), (97, 1), (0, 1), (192, 1)] {
        let buffer = rig.upload(&vec![0u8; bytes])?;
        let mut out = rig.point_garbage::<G1>(points)?;
        let result =
            rig.backend.convert_points::<G1>(&rig.stream, &buffer, PointEncoding::Montgomery, &mut out);
        refused(result, format_args!("{bytes} bytes for {points} points"))?;
    }
    Ok(())
}
