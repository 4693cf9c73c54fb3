//! Scalars as the MSM wants them: signed, sorted out by size.
//!
//! s and -s cost the same, so a scalar above r/2 becomes r - s with the base negated: 254 bits, and r - 1 a unit. Zeros and identity
//! bases vanish, units are only additions, and the others are counted by bit length, from which the window width follows.

use ff::Field;
use rayon::prelude::*;

use crate::backend::cpu::segments::{Ref, reference};
use crate::backend::{BackendError, Result, ScalarForm, class};
use crate::curve::{Curve, SCALAR_MODULUS, Scalar, canonical_limbs, raw_limbs};

/// Scalars per task.
const PIECE: usize = 1 << 12;

/// Bit lengths: 0 to 254 after the fold.
pub(super) const LENGTHS: usize = 256;

/// The scalars of an MSM: where they are and how to read them.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) scalars: &'a [Scalar],
    pub(super) form: ScalarForm,
    pub(super) select: Option<&'a [u32]>,
    pub(super) classes: Option<&'a [u8]>,
}

/// What is left of them, in the order of the bases.
pub(super) struct Terms {
    /// Bases to be added or subtracted.
    pub(super) units: Vec<Ref>,
    /// Bases with larger multiples.
    pub(super) refs: Vec<Ref>,
    /// The multiples, 2 to (r-1)/2.
    pub(super) magnitudes: Vec<[u64; 4]>,
    /// How many magnitudes there are of each bit length.
    pub(super) lengths: [u32; LENGTHS],
}

impl Default for Terms {
    fn default() -> Self {
        Self { units: Vec::new(), refs: Vec::new(), magnitudes: Vec::new(), lengths: [0; LENGTHS] }
    }
}

impl Source<'_> {
    /// Whether every base has a scalar.
    pub(super) fn check(&self, bases: usize) -> Result<()> {
        let invalid = |what, expected, found| {
            Err(BackendError::Invalid { op: "msm", what, expected: expected as u64, found: found as u64 })
        };
        if self.classes.is_some_and(|c| c.len() != self.scalars.len()) {
            return invalid("number of classes", self.scalars.len(), self.classes.map_or(0, <[u8]>::len));
        }
        match self.select {
            Some(select) if select.len() != bases => {
                invalid("number of selected scalars", bases, select.len())
            }
            Some(select) => match select.par_iter().copied().max() {
                Some(most) if most as usize >= self.scalars.len() => {
                    invalid("selected scalar below", self.scalars.len(), most as usize)
                }
                _ => Ok(()),
            },
            None if self.scalars.len() < bases => {
                invalid("number of scalars at least", bases, self.scalars.len())
            }
            None => Ok(()),
        }
    }

    /// Sign and magnitude of the scalar of base `j`; `None` for 0.
    #[inline]
    fn get(&self, j: usize, one: &[u64; 4]) -> Option<(bool, [u64; 4])> {
        const UNIT: (bool, [u64; 4]) = (false, [1, 0, 0, 0]);
        let at = self.select.map_or(j, |select| select[j] as usize);
        match self.classes.map(|classes| classes[at]) {
            Some(class::ZERO) => return None,
            Some(class::ONE) => return Some(UNIT),
            _ => {}
        }
        let scalar = &self.scalars[at];
        let raw = raw_limbs(scalar);
        if raw == [0; 4] {
            return None;
        }
        if raw == *one {
            return Some(UNIT);
        }
        Some(fold(if self.form == ScalarForm::Montgomery { canonical_limbs(scalar) } else { raw }))
    }

    /// The terms of bases `start..start + bases.len()`, references counting from `start`.
    pub(super) fn terms<C: Curve>(&self, start: usize, bases: &[C::Affine]) -> Terms {
        let one = match self.form {
            ScalarForm::Canonical => [1, 0, 0, 0],
            ScalarForm::Montgomery => raw_limbs(&Scalar::ONE),
        };
        let pieces: Vec<Terms> = bases
            .par_chunks(PIECE)
            .enumerate()
            .map(|(piece, bases)| self.piece::<C>(start, piece * PIECE, bases, &one))
            .collect();
        Terms::concat(pieces)
    }

    fn piece<C: Curve>(&self, start: usize, offset: usize, bases: &[C::Affine], one: &[u64; 4]) -> Terms {
        let mut terms = Terms::default();
        for (i, base) in bases.iter().enumerate() {
            let Some((negate, magnitude)) = self.get(start + offset + i, one) else { continue };
            if bool::from(group::prime::PrimeCurveAffine::is_identity(base)) {
                continue;
            }
            let reference = reference(offset + i, negate);
            if magnitude == [1, 0, 0, 0] {
                terms.units.push(reference);
            } else {
                terms.refs.push(reference);
                terms.magnitudes.push(magnitude);
                terms.lengths[bit_length(&magnitude)] += 1;
            }
        }
        terms
    }
}

impl Terms {
    fn concat(pieces: Vec<Terms>) -> Self {
        let mut all = Terms::default();
        all.units.reserve_exact(pieces.iter().map(|p| p.units.len()).sum());
        let wide = pieces.iter().map(|p| p.refs.len()).sum();
        all.refs.reserve_exact(wide);
        all.magnitudes.reserve_exact(wide);
        for piece in pieces {
            all.units.extend(piece.units);
            all.refs.extend(piece.refs);
            all.magnitudes.extend(piece.magnitudes);
            all.lengths.iter_mut().zip(piece.lengths).for_each(|(sum, n)| *sum += n);
        }
        all
    }
}

/// Number of bits of a magnitude.
#[inline]
pub(super) fn bit_length(magnitude: &[u64; 4]) -> usize {
    magnitude
        .iter()
        .enumerate()
        .rev()
        .find(|(_, limb)| **limb != 0)
        .map_or(0, |(i, limb)| 64 * i + 64 - limb.leading_zeros() as usize)
}

/// s, or r - s where that is smaller.
#[inline]
fn fold(s: [u64; 4]) -> (bool, [u64; 4]) {
    let mut negative = [0; 4];
    let mut borrow = false;
    for (out, (r, s)) in negative.iter_mut().zip(SCALAR_MODULUS.iter().zip(s)) {
        let (d, b1) = r.overflowing_sub(s);
        let (d, b2) = d.overflowing_sub(u64::from(borrow));
        (*out, borrow) = (d, b1 | b2);
    }
    let smaller = negative.iter().rev().lt(s.iter().rev());
    (smaller, if smaller { negative } else { s })
}
