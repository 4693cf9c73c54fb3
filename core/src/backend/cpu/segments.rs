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
    /// What the sum is for; the routine does not look at it.
    pub(super) id: u32,
    /// One past its last reference.
    pub(super) end: u32,
}

/// Small lists are split for the threads' sake, down to where inversions would show.
fn block_size<C: Curve, K: Kernel<C>>(total: usize) -> usize {
    (total / (2 * rayon::current_num_threads())).clamp(512, K::BLOCK)
}

/// The sum of every segment, in their order. `segments` end in ascending order, none is empty and the last ends at `refs.len()`;
/// references are to points that exist.
pub(super) fn sum_segments<C: Curve, K: Kernel<C>>(
    source: &Source<'_, C, K>,
    refs: &[Ref],
    segments: &[Segment],
) -> Vec<K::Point> {
    let size = block_size::<C, K>(refs.len());
    let mut sums = vec![K::identity(); segments.len()];
    let mut blocks = Vec::with_capacity(refs.len().div_ceil(size));
    let (mut rest, mut first) = (sums.as_mut_slice(), 0);
    for (block, refs) in refs.chunks(size).enumerate() {
        let start = block * size;
        // Segments that start in this block: those that do before its end, less those before.
        let starting = 1 + segments.partition_point(|s| (s.end as usize) < start + refs.len()) - first;
        let (own, after) = std::mem::take(&mut rest).split_at_mut(starting);
        blocks.push(Block { refs, start, first, own });
        (rest, first) = (after, first + starting);
    }
    let tails: Vec<_> = blocks
        .into_par_iter()
        .map_init(Task::<C, K>::default, |task, block| task.sum(source, segments, block))
        .collect();
    add_tails::<C, K>(&mut sums, tails.into_iter().flatten());
    sums
}

/// A stretch of the references, and the sums of the segments that start in it.
struct Block<'a, P> {
    refs: &'a [Ref],
    start: usize,
    /// Number of the first such segment.
    first: usize,
    own: &'a mut [P],
}

/// What a thread reuses from block to block.
struct Task<C: Curve, K: Kernel<C>> {
    loaded: (Vec<K::Point>, Vec<Ref>),
    lens: Vec<u32>,
    workspace: K::Workspace,
}

impl<C: Curve, K: Kernel<C>> Default for Task<C, K> {
    fn default() -> Self {
        Self { loaded: Default::default(), lens: Vec::new(), workspace: K::Workspace::default() }
    }
}

impl<C: Curve, K: Kernel<C>> Task<C, K> {
    /// Sums of the parts of segments that lie in the block. The part of a segment that started before is returned, with its number.
    fn sum(
        &mut self,
        source: &Source<'_, C, K>,
        segments: &[Segment],
        block: Block<'_, K::Point>,
    ) -> Option<(usize, K::Point)> {
        let (mut at, end) = (block.start, block.start + block.refs.len());
        self.lens.clear();
        let before = block.first.checked_sub(1).filter(|i| segments[*i].end as usize > at);
        let here = before.unwrap_or(block.first)..block.first + block.own.len();
        for segment in &segments[here] {
            let until = end.min(segment.end as usize);
            self.lens.push((until - at) as u32);
            at = until;
        }
        let sums = match source {
            Source::Loaded(points) => K::sum_runs(points, block.refs, &mut self.lens, &mut self.workspace),
            Source::Affine(bases) => {
                let (points, refs) = &mut self.loaded;
                points.clear();
                K::load(bases, block.refs, points);
                refs.clear();
                refs.extend((0..points.len()).map(|i| reference(i, false)));
                K::sum_runs(points, refs, &mut self.lens, &mut self.workspace)
            }
        };
        let (tail, own) = sums.split_at(usize::from(before.is_some()));
        block.own.copy_from_slice(own);
        before.zip(tail.first().copied())
    }
}

/// Adds what later blocks hold of segments: few points, and thousands of times fewer at every level, down to one block.
fn add_tails<C: Curve, K: Kernel<C>>(sums: &mut [K::Point], tails: impl Iterator<Item = (usize, K::Point)>) {
    let mut points = Vec::new();
    let mut segments: Vec<Segment> = Vec::new();
    for (segment, tail) in tails {
        if segments.last().is_none_or(|s| s.id as usize != segment) {
            points.push(sums[segment]);
            segments.push(Segment { id: segment as u32, end: 0 });
        }
        points.push(tail);
        if let Some(open) = segments.last_mut() {
            open.end = points.len() as u32;
        }
    }
    if points.is_empty() {
        return;
    }
    let refs: Vec<Ref> = (0..points.len()).map(|i| reference(i, false)).collect();
    let totals = sum_segments::<C, K>(&Source::Loaded(&points), &refs, &segments);
    for (segment, total) in segments.iter().zip(totals) {
        sums[segment.id as usize] = total;
    }
}
