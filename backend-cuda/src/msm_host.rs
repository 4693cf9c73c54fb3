//! The end of an MSM on the host: a few sums a window, added up.

use std::marker::PhantomData;

use cuzk_core::backend::{PendingResult, Result};
use cuzk_core::curve::{BaseField, Curve, Element, as_bytes_mut};
use group::Group as _;

use crate::memory::InFlight;

/// The windows' sums on their way to the host: for each window its weighted lists, then for each window the plain sum of its buckets,
/// because bucket k - 1 holds the digit k.
pub(crate) struct WindowSums<C: Curve> {
    /// XYZZ points.
    pub(crate) sums: InFlight<u8>,
    /// Bits of a window.
    pub(crate) c: u32,
    /// Number of windows.
    pub(crate) windows: usize,
    /// Binary weights of a window's lists.
    pub(crate) weights: Vec<u32>,
    /// The group.
    pub(crate) curve: PhantomData<C>,
}

impl<C: Curve> PendingResult<C::Projective> for WindowSums<C> {
    fn is_ready(&self) -> Result<bool> {
        self.sums.is_done()
    }
    fn wait(self: Box<Self>) -> Result<C::Projective> {
        let WindowSums { sums, c, windows, weights, .. } = *self;
        let points = affine_points::<C>(&sums.take()?);
        let mut by_bit: Vec<(u32, C::Affine)> = Vec::with_capacity(points.len());
        for (i, point) in points.into_iter().enumerate() {
            let bit = match i.checked_sub(windows * weights.len()) {
                Some(window) => c * window as u32,
                None => c * (i / weights.len()) as u32 + weights[i % weights.len()],
            };
            by_bit.push((bit, point));
        }
        by_bit.sort_by_key(|(bit, _)| std::cmp::Reverse(*bit));
        let mut sum = C::Projective::identity();
        let mut at = by_bit.first().map_or(0, |(bit, _)| *bit);
        for (bit, point) in by_bit {
            for _ in bit..at {
                sum = sum.double();
            }
            at = bit;
            sum += &point;
        }
        for _ in 0..at {
            sum = sum.double();
        }
        Ok(sum)
    }
}

/// XYZZ points as the device writes them, in affine form; one inversion for all.
fn affine_points<C: Curve>(bytes: &[u8]) -> Vec<C::Affine> {
    let pairs: Vec<[(C::Base, C::Base); 2]> = bytes
        .chunks_exact(2 * C::BYTES)
        .map(|point| {
            let (xy, zz) = point.split_at(C::BYTES);
            [xy, zz].map(|half| C::coordinates(&from_bytes::<C>(half)))
        })
        .collect();
    let mut products = Vec::with_capacity(pairs.len());
    let mut product = C::Base::ONE;
    for [_, (_, zzz)] in &pairs {
        products.push(product);
        if !zzz.is_zero() {
            product = product.mul(zzz);
        }
    }
    let mut inverse = product.inverse();
    let mut points: Vec<C::Affine> = Vec::with_capacity(pairs.len());
    for ([(x, y), (zz, zzz)], before) in pairs.iter().zip(products).rev() {
        if zz.is_zero() {
            points.push(C::Affine::zeroed());
            continue;
        }
        let zzz_inverse = inverse.mul(&before);
        inverse = inverse.mul(zzz);
        // 1/ZZ = (ZZ/ZZZ)^2
        let t = zz.mul(&zzz_inverse);
        points.push(C::from_coordinates(x.mul(&t.square()), y.mul(&zzz_inverse)));
    }
    points.reverse();
    points
}

fn from_bytes<C: Curve>(bytes: &[u8]) -> C::Affine {
    let mut point = C::Affine::zeroed();
    as_bytes_mut(std::slice::from_mut(&mut point)).copy_from_slice(bytes);
    point
}
