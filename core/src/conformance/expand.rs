//! Packed witnesses, against the values they were packed from.

use ff::Field;

use super::rig::{During, Rig, refused};
use super::values::{self, below};
use super::{Outcome, Subject};
use crate::backend::{Backend, Expand, PackedBits};
use crate::curve::Scalar;
use crate::witness::BitSet;

/// Whether variable `v` is in the set.
type Shape = fn(usize) -> bool;
const SHAPES: [Shape; 7] = [
    |_| true,
    |_| false,
    |v| v % 2 == 0,
    |v| v / 64 % 2 == 0,
    |v| v % 64 == 63,
    |v| v % 64 == 0,
    |v| v.wrapping_mul(0x9e37_79b9) >> 7 & 3 != 0,
];

struct Packed {
    z: Vec<Scalar>,
    set: BitSet,
    bits: Vec<bool>,
    rest: Vec<Scalar>,
}

fn packed<B: Backend>(rig: &mut Rig<B>, m: usize, shape: Shape) -> Packed {
    let mut map = vec![0u64; m.div_ceil(64)];
    let (mut z, mut bits, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for v in 0..m {
        if shape(v) {
            map[v / 64] |= 1 << (v % 64);
            let bit = below(&mut rig.rng, 2) == 1;
            bits.push(bit);
            z.push(if bit { Scalar::ONE } else { Scalar::ZERO });
        } else {
            // Other variables may happen to be 0 or 1 as well.
            let value = [Scalar::ZERO, Scalar::ONE, Scalar::random(&mut rig.rng)][v % 3];
            rest.push(value);
            z.push(value);
        }
    }
    Packed { z, set: BitSet::new(map), bits, rest }
}

/// `lane` is `None` for bits side by side.
fn examine<B: Backend>(rig: &mut Rig<B>, packed: &Packed, lane: Option<u32>) -> Outcome {
    let words: Vec<u64> = match lane {
        None => packed
            .bits
            .chunks(64)
            .map(|c| c.iter().rev().fold(0, |w, bit| w << 1 | u64::from(*bit)))
            .collect(),
        // The other 63 instances hold the opposite.
        Some(lane) => packed.bits.iter().map(|bit| if *bit { 1 << lane } else { !(1 << lane) }).collect(),
    };
    let (set, ranks) = (rig.upload(&packed.set.map)?, rig.upload(&packed.set.ranks)?);
    let (words, rest) = (rig.upload(&words)?, rig.upload(&packed.rest)?);
    let bits = match lane {
        None => PackedBits::Dense(&words),
        Some(lane) => PackedBits::Lanes { words: &words, lane },
    };
    let mut z = rig.scalar_garbage(packed.z.len())?;
    let what = format!("{} values, {} of them bits, lane {lane:?}", packed.z.len(), packed.bits.len());
    let packed_op = Expand { set: &set, ranks: &ranks, bits, rest: &rest };
    rig.backend.expand(&rig.stream, packed_op, &mut z).during(&what)?;
    rig.expect(&z, &packed.z, what)
}

fn lengths(limit: usize) -> Vec<usize> {
    let mut out = values::sizes(limit);
    out.extend([191, 192, 193, 1000].iter().filter(|m| **m <= limit));
    out
}

/// Sets around the borders of words, bits side by side
pub fn dense_bits<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    for m in lengths(rig.limits.elements) {
        for shape in SHAPES {
            let packed = packed(&mut rig, m, shape);
            examine(&mut rig, &packed, None)?;
        }
    }
    Ok(())
}

/// The same with one word per variable
pub fn lanes<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    for m in lengths(rig.limits.elements) {
        for (i, shape) in SHAPES.into_iter().enumerate() {
            let packed = packed(&mut rig, m, shape);
            for lane in [[0, 31], [32, 63], [1, 62]][i % 3] {
                examine(&mut rig, &packed, Some(lane))?;
            }
        }
    }
    Ok(())
}

/// Bitmaps and ranks of other lengths than z needs, lanes that are not there
pub fn refuses_wrong_lengths<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    let rest = rig.upload::<Scalar>(&[])?;
    for (m, set, ranks, lane) in
        [(64, 2, 2, 0), (65, 1, 1, 0), (64, 0, 0, 0), (64, 1, 2, 0), (64, 1, 0, 0), (64, 1, 1, 64)]
    {
        let (set, ranks) = (rig.upload(&vec![u64::MAX; set])?, rig.upload(&vec![0u32; ranks])?);
        let (words, mut z) = (rig.upload(&vec![0u64; m])?, rig.scalar_garbage(m)?);
        let op =
            Expand { set: &set, ranks: &ranks, bits: PackedBits::Lanes { words: &words, lane }, rest: &rest };
        let result = rig.backend.expand(&rig.stream, op, &mut z);
        refused(result, format_args!("{m} values from a bitmap and ranks of other lengths, or lane {lane}"))?;
    }
    Ok(())
}
