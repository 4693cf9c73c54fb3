//! Sums of segments of a list of points: the one primitive that buckets, bucket sets and sums of unit scalars are made of.
//!
//! The list is cut into blocks of a fixed number of points, whatever the segments: a block holds many short segments or a piece of a
//! long one, so the work of a task does not depend on how scalars are distributed. A segment that spans blocks leaves one partial sum
//! in each, and those are summed by the same routine, a few thousand times fewer at every level.

use rayon::prelude::*;

use super::affine::{Batch, Point, sum_runs};
use crate::curve::{Curve, Element};

/// A reference to a base: its index, doubled, plus 1 for its negative. So at most 2^31 bases at a time.
pub(super) type Ref = u32;

/// The reference to base `index` or its negative.
#[inline(always)]
pub(super) fn reference(index: usize, negate: bool) -> Ref {
    (index as u32) << 1 | u32::from(negate)
}

/// A stretch of a list of references, from where the previous one ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Segment {
    /// What the sum is for; different for every segment of a list.
    pub(super) id: u32,
    /// One past its last reference.
    pub(super) end: u32,
}

/// Points per block, by size: a block's points, denominators and products stay within half a megabyte of second-level cache, and 2,000
/// to 4,000 points make an inversion cheap for every round but the last few.
fn block_size<C: Curve>(total: usize) -> usize {
    let most = if C::BYTES <= 96 { 4096 } else { 2048 };
    // Small lists are split for the threads' sake, down to where inversions would show.
    (total / (2 * rayon::current_num_threads())).clamp(512, most)
}

/// The sum of every segment that is not empty, in their order. `segments` end in ascending order, the last at `refs.len()`.
pub(super) fn sum_segments<C: Curve>(
    bases: &[C::Affine],
    refs: &[Ref],
    segments: &[Segment],
) -> Vec<(u32, C::Affine)> {
    let size = block_size::<C>(refs.len());
    let blocks: Vec<_> = refs
        .par_chunks(size)
        .enumerate()
        .map_init(Workspace::<C>::default, |workspace, (block, refs)| {
            workspace.sum_block(bases, refs, segments, block * size)
        })
        .collect();
    join::<C>(blocks.concat())
}

struct Workspace<C: Curve> {
    points: Vec<Point<C::Base>>,
    lens: Vec<u32>,
    batch: Batch<C::Base>,
}

impl<C: Curve> Default for Workspace<C> {
    fn default() -> Self {
        Self { points: Vec::new(), lens: Vec::new(), batch: Batch::default() }
    }
}

impl<C: Curve> Workspace<C> {
    /// Sums of the parts of segments that lie in `refs`, which stand at `start` of the whole list.
    fn sum_block(
        &mut self,
        bases: &[C::Affine],
        refs: &[Ref],
        segments: &[Segment],
        start: usize,
    ) -> Vec<(u32, C::Affine)> {
        self.points.clear();
        self.points.extend(refs.iter().map(|r| match bases.get((r >> 1) as usize) {
            Some(base) => Point::load::<C>(base, r & 1 == 1),
            None => Point::default(),
        }));
        self.lens.clear();
        let mut ids = Vec::new();
        let (mut at, end) = (start, start + refs.len());
        for segment in &segments[segments.partition_point(|s| s.end as usize <= start)..] {
            let until = end.min(segment.end as usize);
            if until > at {
                ids.push(segment.id);
                self.lens.push((until - at) as u32);
                at = until;
            }
            if at == end {
                break;
            }
        }
        sum_runs(&mut self.points, &mut self.lens, &mut self.batch);
        ids.into_iter().zip(&self.points).map(|(id, p)| (id, p.store::<C>())).collect()
    }
}

/// Adds up neighbours with the same id. Only those are summed again: their number falls by thousands from level to level, down to one
/// block, where none is left.
fn join<C: Curve>(sums: Vec<(u32, C::Affine)>) -> Vec<(u32, C::Affine)> {
    let mut out: Vec<(u32, C::Affine)> = Vec::with_capacity(sums.len());
    let mut points = Vec::new();
    let mut segments: Vec<Segment> = Vec::new();
    for run in sums.chunk_by(|a, b| a.0 == b.0) {
        match run {
            [single] => out.push(*single),
            run => {
                out.push((run[0].0, C::Affine::zeroed()));
                points.extend(run.iter().map(|r| r.1));
                segments.push(Segment { id: (out.len() - 1) as u32, end: points.len() as u32 });
            }
        }
    }
    if !points.is_empty() {
        let refs: Vec<Ref> = (0..points.len()).map(|i| reference(i, false)).collect();
        for (at, sum) in sum_segments::<C>(&points, &refs, &segments) {
            out[at as usize].1 = sum;
        }
    }
    out
}
