//! From digits to the sums of windows.
//!
//! Bucket b of a window holds the sum B_b of the bases with digit b or, negated, -b; the window's sum is the sum over b of b B_b. With
//! b = 2^k h + l, 0 <= l < 2^k, that is 2^k (sum over h of h R_h) + sum over l of l C_l with row sums R_h = sum over l of B_(h,l) and
//! column sums C_l = sum over h of B_(h,l). Rows and columns are segments like the buckets themselves, so two batched affine additions
//! per bucket replace the two projective ones of a running sum, and only 2 * 2^((c-1)/2) points are left for running sums.

use group::Group;
use rayon::prelude::*;

use super::digits::Recoded;
use crate::backend::cpu::kernel::Kernel;
use crate::backend::cpu::segments::{Ref, Segment, Source, reference, sum_segments};
use crate::curve::Curve;

/// Digits that are in work at once: windows are taken together until they have about so many, which gives small MSMs full batches and
/// large ones bounded memory.
const GROUP: usize = 1 << 20;

/// The sums of all windows, lowest first.
pub(super) fn window_sums<C: Curve, K: Kernel<C>>(
    bases: &[C::Affine],
    recoded: &Recoded,
) -> Vec<C::Projective> {
    let points = load::<C, K>(bases, recoded.refs());
    let mut sums = Vec::with_capacity(recoded.windows());
    while sums.len() < recoded.windows() {
        let (first, mut last, mut digits) = (sums.len(), sums.len(), 0);
        while last < recoded.windows() && (last == first || digits + recoded.reaching(last) <= GROUP) {
            digits += recoded.reaching(last);
            last += 1;
        }
        sums.extend(group_sums::<C, K>(&points, recoded, first, last));
    }
    sums
}

/// The bases of the recoded scalars with their signs, in the kernel's form, once for all windows.
fn load<C: Curve, K: Kernel<C>>(bases: &[C::Affine], refs: &[Ref]) -> Vec<K::Point> {
    const PIECE: usize = 1 << 10;
    let pieces: Vec<Vec<K::Point>> = refs
        .par_chunks(PIECE)
        .map(|refs| {
            let mut points = Vec::with_capacity(refs.len());
            K::load(bases, refs, &mut points);
            points
        })
        .collect();
    pieces.concat()
}

/// Sums of windows `first..last`.
fn group_sums<C: Curve, K: Kernel<C>>(
    points: &[K::Point],
    recoded: &Recoded,
    first: usize,
    last: usize,
) -> Vec<C::Projective> {
    let shape = Shape::new(recoded.width());
    let sorted: Vec<_> = (first..last).into_par_iter().map(|w| recoded.sort(w)).collect();
    let (refs, segments) = concat(&sorted, |w, bucket| w as u32 * shape.buckets + bucket);
    drop(sorted);
    let buckets = sum_segments::<C, K>(&Source::Loaded(points), &refs, &segments);
    let lines: Vec<_> = (0..last - first).into_par_iter().map(|w| shape.lines(&segments, w as u32)).collect();
    let (refs, segments) = concat(&lines, |w, line| w as u32 * 2 * shape.buckets + line);
    let sums = sum_segments::<C, K>(&Source::Loaded(&buckets), &refs, &segments);
    let mut weighted: Vec<[Line<C>; 2]> = vec![[Vec::new(), Vec::new()]; last - first];
    for (segment, sum) in segments.iter().zip(&sums) {
        let (line, weight) = (segment.id / shape.buckets, segment.id % shape.buckets);
        weighted[line as usize / 2][line as usize % 2].push((weight, K::affine(sum)));
    }
    weighted.par_iter().map(|lines| shape.weigh::<C>(lines)).collect()
}

/// References and segments, one list after the other; ids are made from the list's number and the id within.
fn concat(lists: &[(Vec<Ref>, Vec<Segment>)], id: impl Fn(usize, u32) -> u32) -> (Vec<Ref>, Vec<Segment>) {
    let mut refs = Vec::with_capacity(lists.iter().map(|l| l.0.len()).sum());
    let mut segments = Vec::with_capacity(lists.iter().map(|l| l.1.len()).sum());
    for (list, (own_refs, own_segments)) in lists.iter().enumerate() {
        let start = refs.len() as u32;
        refs.extend_from_slice(own_refs);
        segments.extend(own_segments.iter().map(|s| Segment { id: id(list, s.id), end: start + s.end }));
    }
    (refs, segments)
}

/// How bucket numbers split into rows and columns.
struct Shape {
    /// Numbers per window: 0 to 2^(c-1), of which 0 is not used.
    buckets: u32,
    /// k.
    low_bits: u32,
}

/// Row or column sums of a window: weight and point, ascending.
type Line<C> = Vec<(u32, <C as Curve>::Affine)>;

impl Shape {
    fn new(width: u32) -> Self {
        Self { buckets: (1 << (width - 1)) + 1, low_bits: (width - 1) / 2 }
    }

    fn split(&self, bucket: u32) -> (u32, u32) {
        (bucket >> self.low_bits, bucket & ((1 << self.low_bits) - 1))
    }

    /// References to the buckets of one window, row by row and then column by column, those of weight 0 left out; ids are the
    /// row, or the column behind all rows. `buckets` ascend by window and number.
    fn lines(&self, buckets: &[Segment], window: u32) -> (Vec<Ref>, Vec<Segment>) {
        let start = buckets.partition_point(|b| b.id < window * self.buckets);
        let end = buckets.partition_point(|b| b.id < (window + 1) * self.buckets);
        let mut refs: Vec<Ref> = Vec::with_capacity(2 * (end - start));
        let mut segments: Vec<Segment> = Vec::new();
        let mut columns: Vec<Vec<Ref>> = vec![Vec::new(); 1 << self.low_bits];
        for (at, bucket) in buckets.iter().enumerate().take(end).skip(start) {
            let (row, column) = self.split(bucket.id % self.buckets);
            columns[column as usize].push(reference(at, false));
            if row > 0 {
                refs.push(reference(at, false));
                match segments.last_mut() {
                    Some(open) if open.id == row => open.end = refs.len() as u32,
                    _ => segments.push(Segment { id: row, end: refs.len() as u32 }),
                }
            }
        }
        for (column, members) in columns.iter().enumerate().skip(1).filter(|(_, members)| !members.is_empty())
        {
            refs.extend_from_slice(members);
            segments.push(Segment { id: self.buckets + column as u32, end: refs.len() as u32 });
        }
        (refs, segments)
    }

    /// 2^k times the weighted sum of the rows, plus that of the columns.
    fn weigh<C: Curve>(&self, [rows, columns]: &[Line<C>; 2]) -> C::Projective {
        let rows = weighted_sum::<C>(rows);
        (0..self.low_bits).fold(rows, |sum, _| sum.double()) + weighted_sum::<C>(columns)
    }
}

/// sum of weight * point by running sums from the largest weight down: every point is added once, and the running sum once per step.
fn weighted_sum<C: Curve>(line: &Line<C>) -> C::Projective {
    let (mut running, mut total) = (C::Projective::identity(), C::Projective::identity());
    let mut points = line.iter().rev().peekable();
    let Some((highest, _)) = points.peek() else { return total };
    for weight in (1..=*highest).rev() {
        if let Some((_, point)) = points.next_if(|(w, _)| *w == weight) {
            running += point;
        }
        total += running;
    }
    total
}
