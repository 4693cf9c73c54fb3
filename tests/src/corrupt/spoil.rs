//! Wrong values from right ones.

use std::any::Any;
use std::collections::HashMap;

use cuzk_core::backend::{PointReport, ScalarForm};
use cuzk_core::curve::{Element, Scalar, as_bytes, as_bytes_mut};
use ff::PrimeField;

use super::Kind;

/// The latest result of each sort.
#[derive(Default)]
pub(super) struct Memory(HashMap<&'static str, Box<dyn Any + Send>>);

impl Memory {
    /// Remembers a result and gives back the one before it.
    pub(super) fn exchange<T: Send + 'static>(&mut self, sort: &'static str, latest: T) -> Option<T> {
        self.0.insert(sort, Box::new(latest))?.downcast().ok().map(|previous| *previous)
    }
}

/// The element with a bit of its second limb flipped (of its only limb where there is one).
pub(super) fn flipped<T: Element>(element: &T) -> T {
    let mut out = *element;
    let bytes = as_bytes_mut(std::slice::from_mut(&mut out));
    let at = if bytes.len() > 8 { 8 } else { 0 };
    bytes[at] ^= 1;
    out
}

fn is_zero<T: Element>(element: &T) -> bool {
    as_bytes(std::slice::from_ref(element)).iter().all(|byte| *byte == 0)
}

/// The content of a buffer after a fault. Where there is nothing to spoil, it stays honest.
pub(super) fn spoilt<T: Element>(kind: Kind, honest: &[T], before: &[T], negate: impl Fn(&T) -> T) -> Vec<T> {
    let mut out = honest.to_vec();
    let middle = out.len() / 2;
    // From the middle on, and around.
    let mut places = (middle..out.len()).chain(0..middle);
    match kind {
        Kind::Limb => places.take(1).for_each(|i| out[i] = flipped(&honest[i])),
        Kind::Sign => {
            if let Some(i) = places.find(|i| !is_zero(&honest[*i])) {
                out[i] = negate(&honest[i]);
            }
        }
        Kind::Order => {
            if let Some(i) = places.find(|i| honest[*i] != honest[0]) {
                out.swap(0, i);
            }
        }
        Kind::DroppedBucket => {
            if let Some(i) = places.find(|i| !is_zero(&honest[*i])) {
                out[i] = T::zeroed();
            }
        }
        Kind::Stale => out.copy_from_slice(before),
    }
    out
}

/// Codes and counts after a fault.
pub(super) fn classes(kind: Kind, codes: &[u8], counts: &[u32], previous: &[u8]) -> (Vec<u8>, Vec<u32>) {
    let mut wrong_counts = counts.to_vec();
    if kind == Kind::DroppedBucket {
        if let Some(count) = wrong_counts.iter_mut().rev().find(|count| **count > 0) {
            *count -= 1;
        }
        return (codes.to_vec(), wrong_counts);
    }
    let mut before = vec![0; codes.len()];
    before.iter_mut().zip(previous).for_each(|(b, p)| *b = *p);
    (spoilt(kind, codes, &before, |code| *code), wrong_counts)
}

/// A report after a fault.
pub(super) fn report(kind: Kind, honest: PointReport, previous: PointReport) -> PointReport {
    match kind {
        Kind::Limb => PointReport {
            off_curve: honest.off_curve.map(|i| i ^ 1),
            outside_subgroup: honest.outside_subgroup.map(|i| i ^ 1),
            ..honest
        },
        Kind::Sign | Kind::Order => {
            PointReport { off_curve: honest.outside_subgroup, outside_subgroup: honest.off_curve, ..honest }
        }
        Kind::DroppedBucket => PointReport::default(),
        Kind::Stale => previous,
    }
}

/// The scalars in Montgomery form.
pub(super) fn montgomery(scalars: Vec<Scalar>, form: ScalarForm) -> Vec<Scalar> {
    match form {
        ScalarForm::Montgomery => scalars,
        ScalarForm::Canonical => scalars
            .iter()
            .map(|scalar| {
                let mut bytes = [0; 32];
                bytes.copy_from_slice(as_bytes(std::slice::from_ref(scalar)));
                Scalar::from_repr_vartime(bytes).unwrap_or_default()
            })
            .collect(),
    }
}
