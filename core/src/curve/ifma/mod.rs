//! Eight additions of points at once, on processors with AVX-512 IFMA (Intel from Ice Lake, AMD from Zen 4).
//!
//! Points at rest are canonical and lie limb after limb, one cache line for every coordinate over Fp; loading eight of them is a
//! transposition. The formulas are those of the scalar additions, and so is the way of sharing inversions.
//!
//! One of the few files with `unsafe`: the vector functions may only run where the instructions exist, which [`available`] says.
#![expect(unsafe_code, reason = "vector instructions, behind a check of the processor")]

mod forms;
mod lanes;
#[cfg(test)]
mod tests;

use std::arch::x86_64::*;

use super::field::{BaseField, Fp, Fp2};
use forms::{Components, INVERTED, Limbs, negated, pack, raw, split_all, unpack};
use lanes::{
    ONE, V, add_lanes, canonical_n, constant, equal_lanes, merge, mul_n, negated_lanes, permuted,
    power_of_two, scaled, set_lane, split, square_n, sub_n, transposed,
};

/// A point whose coordinates have N components over Fp; (0, 0) is the identity.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Packed<const N: usize> {
    x: [Limbs; N],
    y: [Limbs; N],
}

/// Whether this processor has the instructions.
pub fn available() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512ifma")
}

/// How scalar code adds two points: for the pairs that the formula does not cover.
pub trait Exceptional<F> {
    /// Something to invert, not zero.
    fn denominator(p: (F, F), q: (F, F)) -> F;
    /// The sum, given the inverse.
    fn add(p: (F, F), q: (F, F), inverse: F) -> (F, F);
}

/// Points of one curve in packed form.
pub trait PackedPoint<F>: Copy + Send + Sync + std::fmt::Debug + 'static {
    /// Working memory of [`Self::sum_runs`].
    type Scratch: Default + Send;
    /// From canonical coordinates.
    fn pack(point: (F, F)) -> Self;
    /// Appends `len` points to `out`: coordinates and whether the negative is meant, as `point` tells. Nothing where [`available`] says no.
    fn pack_all(len: usize, point: impl Fn(usize) -> ((F, F), bool), out: &mut Vec<Self>);
    /// The coordinates.
    fn unpack(&self) -> (F, F);
    /// The negative.
    fn negated(&self) -> Self;
    /// The sums of runs of points, by rounds of pairwise additions: afterwards the first `lens.len()` of what is returned.
    ///
    /// `refs` are the members of the runs, one run after the other: twice the index into `points`, plus 1 for the negative. `lens` are the
    /// lengths of the runs, none zero, together `refs.len()`. Nothing is returned where [`available`] says no.
    fn sum_runs<'a, E: Exceptional<F>>(
        points: &[Self],
        refs: &[u32],
        lens: &mut [u32],
        scratch: &'a mut Self::Scratch,
    ) -> &'a [Self];
}

/// Working memory of a block; buffers only grow.
pub struct Scratch<const N: usize> {
    /// Both summands of a pair, as references, and where the sum goes.
    pairs: Vec<(u32, u32, u32)>,
    /// Sums of a round, and of the one before.
    sums: [Vec<Packed<N>>; 2],
    batch: Batch<N>,
}

/// What the two passes of a round share.
struct Batch<const N: usize> {
    denominators: Vec<[V; N]>,
    /// Product of the denominators before, lane by lane.
    products: Vec<[V; N]>,
    exceptional: Vec<u8>,
}

impl<const N: usize> Default for Scratch<N> {
    fn default() -> Self {
        let batch = Batch { denominators: Vec::new(), products: Vec::new(), exceptional: Vec::new() };
        Self { pairs: Vec::new(), sums: [Vec::new(), Vec::new()], batch }
    }
}

macro_rules! packed_point {
    ($n:literal, $f:ty) => {
        impl PackedPoint<$f> for Packed<$n> {
            type Scratch = Scratch<$n>;
            fn pack((x, y): ($f, $f)) -> Self {
                Self { x: pack(x), y: pack(y) }
            }
            fn unpack(&self) -> ($f, $f) {
                (unpack(&self.x), unpack(&self.y))
            }
            fn pack_all(len: usize, point: impl Fn(usize) -> (($f, $f), bool), out: &mut Vec<Self>) {
                if !available() {
                    return;
                }
                let start = out.len();
                out.extend((0..len).map(|i| {
                    let ((x, y), negate) = point(i);
                    let point = Self { x: split_all(x), y: split_all(y) };
                    if negate { point.negated() } else { point }
                }));
                // SAFETY: `available` has been asked.
                unsafe { enter(&mut out[start..]) };
            }
            #[inline]
            fn negated(&self) -> Self {
                Self { x: self.x, y: self.y.map(|y| negated(&y)) }
            }
            fn sum_runs<'a, E: Exceptional<$f>>(
                points: &[Self],
                refs: &[u32],
                lens: &mut [u32],
                scratch: &'a mut Scratch<$n>,
            ) -> &'a [Self] {
                if available() { sum_runs::<$n, $f, E>(points, refs, lens, scratch) } else { &[] }
            }
        }
    };
}
packed_point!(1, Fp);
packed_point!(2, Fp2);

/// Only where the instructions are available.
fn sum_runs<'a, const N: usize, F: Components<N>, E: Exceptional<F>>(
    points: &[Packed<N>],
    refs: &[u32],
    lens: &mut [u32],
    scratch: &'a mut Scratch<N>,
) -> &'a [Packed<N>]
where
    Packed<N>: PackedPoint<F>,
{
    let Scratch { pairs, sums: [to, from], batch } = scratch;
    for buffer in [&mut *to, &mut *from] {
        if buffer.len() < refs.len() {
            buffer.resize(refs.len(), Packed { x: [NOBODY; N], y: [NOBODY; N] });
        }
    }
    // The first round reads the bases where they lie, the others what the round before has left.
    let alone = |r: u32| {
        let point = &points[(r >> 1) as usize];
        if r & 1 == 1 { point.negated() } else { *point }
    };
    pair_up(lens, pairs, |at| refs[at as usize], |at, place| to[place as usize] = alone(refs[at as usize]));
    // SAFETY: the caller has asked `available`.
    unsafe { round::<N, F, E>(points, pairs, to, batch) };
    loop {
        let more = lens.iter().any(|len| *len > 1);
        if !more {
            return &to[..lens.len()];
        }
        std::mem::swap(to, from);
        pair_up(lens, pairs, |at| at << 1, |at, place| to[place as usize] = from[at as usize]);
        // SAFETY: as above.
        unsafe { round::<N, F, E>(from, pairs, to, batch) };
    }
}

/// Neighbours of every run become pairs; who is left over goes on alone. Lengths become those of the next round.
fn pair_up(
    lens: &mut [u32],
    pairs: &mut Vec<(u32, u32, u32)>,
    reference: impl Fn(u32) -> u32,
    mut alone: impl FnMut(u32, u32),
) {
    pairs.clear();
    let (mut read, mut write) = (0, 0);
    for len in lens {
        let summands = |k| (reference(read + 2 * k), reference(read + 2 * k + 1), write + k);
        pairs.extend((0..*len / 2).map(summands));
        (read, write) = (read + *len, write + len.div_ceil(2));
        if *len % 2 == 1 {
            alone(read - 1, write - 1);
        }
        *len = len.div_ceil(2);
    }
}

const NOBODY: Limbs = Limbs([0; 8]);

/// One coordinate of eight points; lanes without a point are 0.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn load<'a, const N: usize>(coordinate: impl Fn(usize) -> Option<&'a [Limbs; N]>) -> [V; N] {
    let mut out = [[_mm512_setzero_si512(); 8]; N];
    for (i, out) in out.iter_mut().enumerate() {
        let mut rows = [_mm512_setzero_si512(); 8];
        for (lane, row) in rows.iter_mut().enumerate() {
            let limbs = coordinate(lane).map_or(&NOBODY, |c| &c[i]);
            // SAFETY: `Limbs` is eight words, aligned to 64 bytes.
            *row = unsafe { _mm512_load_si512(limbs.0.as_ptr().cast()) };
        }
        *out = transposed(rows);
    }
    out
}

/// Eight elements, one after the other.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn store<const N: usize>(v: &[V; N]) -> [[Limbs; N]; 8] {
    let mut out = [[NOBODY; N]; 8];
    for (i, v) in v.iter().enumerate() {
        for (out, row) in out.iter_mut().zip(transposed(*v)) {
            // SAFETY: `Limbs` is eight words, aligned to 64 bytes.
            unsafe { _mm512_store_si512(out[i].0.as_mut_ptr().cast(), row) };
        }
    }
    out
}

/// From the form with R = 2^384 to that with 2^416: a 2^384 times 2^448 over 2^416.
#[target_feature(enable = "avx512f,avx512ifma")]
fn enter<const N: usize>(points: &mut [Packed<N>]) {
    let factor = constant(&const { power_of_two(448) });
    for eight in points.chunks_mut(8) {
        let x = load(|lane| eight.get(lane).map(|p| &p.x));
        let y = load(|lane| eight.get(lane).map(|p| &p.y));
        let (x, y) = (store(&scaled(&x, &factor)), store(&scaled(&y, &factor)));
        for (lane, p) in eight.iter_mut().enumerate() {
            *p = Packed { x: x[lane], y: y[lane] };
        }
    }
}

/// Asks for the summands of the pairs to be brought near.
#[inline]
fn prefetch<const N: usize>(points: &[Packed<N>], pairs: &[(u32, u32, u32)]) {
    for (first, second, _) in pairs {
        for r in [first, second] {
            if let Some(point) = points.get((*r >> 1) as usize) {
                for coordinate in [&point.x, &point.y] {
                    for limbs in coordinate {
                        // SAFETY: prefetching has no effect but on caches.
                        unsafe { _mm_prefetch::<_MM_HINT_T0>(limbs.0.as_ptr().cast()) };
                    }
                }
            }
        }
    }
}

/// Adds all pairs, with one inversion: sums go to the places in `to` that the pairs name.
#[target_feature(enable = "avx512f,avx512ifma")]
fn round<const N: usize, F: Components<N>, E: Exceptional<F>>(
    points: &[Packed<N>],
    pairs: &[(u32, u32, u32)],
    to: &mut [Packed<N>],
    batch: &mut Batch<N>,
) where
    Packed<N>: PackedPoint<F>,
{
    if pairs.is_empty() {
        return;
    }
    let product = denominators::<N, F, E>(points, pairs, batch);
    let mut rest = inverted::<N, F>(&product);
    for (v, eight) in pairs.chunks(8).enumerate().rev() {
        let inverse = mul_n(&rest, &batch.products[v]);
        rest = mul_n(&rest, &batch.denominators[v]);
        let first = |lane: usize| eight.get(lane).map(|(r, _, _)| &points[(r >> 1) as usize]);
        let second = |lane: usize| eight.get(lane).map(|(_, r, _)| &points[(r >> 1) as usize]);
        let x1 = load(|lane| first(lane).map(|p| &p.x));
        let x2 = load(|lane| second(lane).map(|p| &p.x));
        let signs = |i: usize, r: u32| ((r & 1) as u8) << i;
        let negative1 = eight.iter().enumerate().fold(0, |m, (i, pair)| m | signs(i, pair.0));
        let negative2 = eight.iter().enumerate().fold(0, |m, (i, pair)| m | signs(i, pair.1));
        let y1 = negated_lanes(&load(|lane| first(lane).map(|p| &p.y)), negative1);
        let y2 = negated_lanes(&load(|lane| second(lane).map(|p| &p.y)), negative2);
        let lambda = mul_n(&sub_n::<N, 1>(&y2, &y1), &inverse);
        let both = add_lanes(&x1, &x2);
        let x3 = canonical_n(&sub_n::<N, 2>(&square_n(&lambda), &both));
        let y3 = canonical_n(&sub_n::<N, 1>(&mul_n(&lambda, &sub_n::<N, 1>(&x1, &x3)), &y1));
        let (x3, y3) = (store(&x3), store(&y3));
        for (lane, (_, _, place)) in eight.iter().enumerate() {
            to[*place as usize] = Packed { x: x3[lane], y: y3[lane] };
        }
        for lane in (0..8).filter(|lane| batch.exceptional[v] >> lane & 1 == 1) {
            if let Some((p, q, place)) = eight.get(lane) {
                let inverse = unpack(&store(&canonical_n(&inverse))[lane]);
                let sum = E::add(signed::<N, F>(points, *p), signed::<N, F>(points, *q), inverse);
                to[*place as usize] = Packed::pack(sum);
            }
        }
    }
}

/// Coordinates of what a reference means.
fn signed<const N: usize, F: Components<N>>(points: &[Packed<N>], r: u32) -> (F, F)
where
    Packed<N>: PackedPoint<F>,
{
    let point = &points[(r >> 1) as usize];
    if r & 1 == 1 { point.negated().unpack() } else { point.unpack() }
}

/// The first pass of a round: denominators and their running products, of which the last is returned.
#[target_feature(enable = "avx512f,avx512ifma")]
fn denominators<const N: usize, F: Components<N>, E: Exceptional<F>>(
    points: &[Packed<N>],
    pairs: &[(u32, u32, u32)],
    batch: &mut Batch<N>,
) -> [V; N]
where
    Packed<N>: PackedPoint<F>,
{
    batch.denominators.clear();
    batch.products.clear();
    batch.exceptional.clear();
    let zero = [[_mm512_setzero_si512(); 8]; N];
    let one = Limbs(ONE);
    let mut unit = zero;
    unit[0] = load(|_| Some(std::array::from_ref(&one)))[0];
    let mut product = unit;
    for (v, eight) in pairs.chunks(8).enumerate() {
        prefetch(points, pairs.get(8 * v + 16..pairs.len().min(8 * v + 24)).unwrap_or(&[]));
        let x1 = load(|lane| eight.get(lane).map(|(r, _, _)| &points[(r >> 1) as usize].x));
        let x2 = load(|lane| eight.get(lane).map(|(_, r, _)| &points[(r >> 1) as usize].x));
        let odd = equal_lanes(&x1, &x2) | equal_lanes(&x1, &zero) | equal_lanes(&x2, &zero);
        let mut denominator = sub_n::<N, 1>(&x2, &x1);
        for lane in (0..8).filter(|lane| odd >> lane & 1 == 1) {
            let value = match eight.get(lane) {
                Some((p, q, _)) => {
                    pack(E::denominator(signed::<N, F>(points, *p), signed::<N, F>(points, *q)))
                }
                None => store(&unit)[0],
            };
            for (component, limbs) in denominator.iter_mut().zip(&value) {
                set_lane(component, lane, &limbs.0);
            }
        }
        batch.denominators.push(denominator);
        batch.products.push(product);
        batch.exceptional.push(odd);
        product = mul_n(&product, &denominator);
    }
    product
}

/// The inverse of every lane, with one inversion: with s4, s2, s1 exchanging lanes at those distances, the product of all lanes is
/// P s4(P) s2(P s4(P)) s1(...), so the inverse of P is that of the product times the other three factors.
#[target_feature(enable = "avx512f,avx512ifma")]
fn inverted<const N: usize, F: Components<N>>(p: &[V; N]) -> [V; N] {
    let a = permuted::<N, 4>(p);
    let p4 = mul_n(p, &a);
    let b = permuted::<N, 2>(&p4);
    let p2 = mul_n(&p4, &b);
    let c = permuted::<N, 1>(&p2);
    let all = store(&canonical_n(&mul_n(&p2, &c)))[0];
    let inverse = F::compose(all.map(|l| raw(merge(&l.0)))).inverse();
    let inverse = inverse.components().map(|c| Limbs(split(&c.mul(&raw(INVERTED)).to_montgomery())));
    mul_n(&mul_n(&load(|_| Some(&inverse)), &a), &mul_n(&b, &c))
}
