//! Sums of segments of a list of points: the one primitive that buckets, bucket sets and sums of unit scalars are made of.
//!
//! The list is cut into blocks of a fixed number of points, whatever the segments: a block holds many short segments or a piece of a
//! long one, so the work of a task does not depend on how scalars are distributed. A segment that spans blocks leaves one partial sum
//! in each, and those are summed by the same routine, a few thousand times fewer at every level.

use rayon::prelude::*;

use super::kernel::Kernel;
use crate::curve::Curve;

/// A reference to a base: its index, doubled, plus 1 for its negative. So at most 2^31 bases at a time.
pub(super) type Ref = u32;

/// The reference to base `index` or its negative.
#[inline(always)]
pub(super) fn reference(index: usize, negate: bool) -> Ref {
    (index as u32) << 1 | u32::from(negate)
}

/// Where the points of references are.
pub(super) enum Source<'a, C: Curve, K: Kernel<C>> {
    /// As keys hold them: for points that are used once.
    Affine(&'a [C::Affine]),
    /// In the kernel's own form.
    Loaded(&'a [K::Point]),
}

/// A stretch of a list of references, from where the previous one ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Segment {
    /// What the sum is for; different for every segment of a list.
    pub(super) id: u32,
    /// One past its last reference.
    pub(super) end: u32,
}

/// Small lists are split for the threads' sake, down to where inversions would show.
fn block_size<C: Curve, K: Kernel<C>>(total: usize) -> usize {
    (total / (2 * rayon::current_num_threads())).clamp(512, K::BLOCK)
}

/// The sum of every segment that is not empty, in their order. `segments` end in ascending order, the last at `refs.len()`; references
/// are to points that exist.
pub(super) fn sum_segments<C: Curve, K: Kernel<C>>(
    source: &Source<'_, C, K>,
    refs: &[Ref],
    segments: &[Segment],
) -> Vec<(u32, K::Point)> {
    let size = block_size::<C, K>(refs.len());
    let blocks: Vec<_> = refs
        .par_chunks(size)
        .enumerate()
        .map_init(Task::<C, K>::default, |task, (block, refs)| {
            task.sum_block(source, refs, segments, block * size)
        })
        .collect();
    join::<C, K>(blocks.concat())
}

/// What a thread reuses from block to block.
struct Task<C: Curve, K: Kernel<C>> {
    points: Vec<K::Point>,
    lens: Vec<u32>,
    workspace: K::Workspace,
}

impl<C: Curve, K: Kernel<C>> Default for Task<C, K> {
    fn default() -> Self {
        Self { points: Vec::new(), lens: Vec::new(), workspace: K::Workspace::default() }
    }
}

impl<C: Curve, K: Kernel<C>> Task<C, K> {
    /// Sums of the parts of segments that lie in `refs`, which stand at `start` of the whole list.
    fn sum_block(
        &mut self,
        source: &Source<'_, C, K>,
        refs: &[Ref],
        segments: &[Segment],
        start: usize,
    ) -> Vec<(u32, K::Point)> {
        self.points.clear();
        match source {
            Source::Affine(bases) => K::load(bases, refs, &mut self.points),
            Source::Loaded(points) => self.points.extend(refs.iter().map(|r| {
                let point = &points[(r >> 1) as usize];
                if r & 1 == 1 { K::negated(point) } else { *point }
            })),
        }
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
        K::sum_runs(&mut self.points, &mut self.lens, &mut self.workspace);
        ids.into_iter().zip(self.points.iter().copied()).collect()
    }
}

/// Adds up neighbours with the same id. Only those are summed again: their number falls by thousands from level to level, down to one
/// block, where none is left.
fn join<C: Curve, K: Kernel<C>>(sums: Vec<(u32, K::Point)>) -> Vec<(u32, K::Point)> {
    let mut out: Vec<(u32, K::Point)> = Vec::with_capacity(sums.len());
    let mut points = Vec::new();
    let mut segments: Vec<Segment> = Vec::new();
    for run in sums.chunk_by(|a, b| a.0 == b.0) {
        // Where there are more, their sum replaces the first.
        out.push(run[0]);
        if run.len() > 1 {
            points.extend(run.iter().map(|r| r.1));
            segments.push(Segment { id: (out.len() - 1) as u32, end: points.len() as u32 });
        }
    }
    if !points.is_empty() {
        let refs: Vec<Ref> = (0..points.len()).map(|i| reference(i, false)).collect();
        for (at, sum) in sum_segments::<C, K>(&Source::Loaded(&points), &refs, &segments) {
            out[at as usize].1 = sum;
        }
    }
    out
}
