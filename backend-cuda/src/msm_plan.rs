//! Shape of an MSM: window, rounds over the bases, work units. Decided from the length and the memory at hand, before anything is queued.

/// Bytes of a point in affine and in XYZZ form, lanes that share one, and the names of the kernels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) affine: u64,
    pub(crate) xyzz: u64,
    pub(crate) lanes: u32,
    pub(crate) suffix: &'static str,
}

/// G1: a point a lane.
pub(crate) const G1: Group = Group { affine: 96, xyzz: 192, lanes: 1, suffix: "g1" };
/// G2: a point two lanes.
pub(crate) const G2: Group = Group { affine: 192, xyzz: 384, lanes: 2, suffix: "g2" };

/// Threads of a block of the curve kernels, and blocks that a multiprocessor holds of the accumulating one.
pub(crate) const THREADS: u32 = 128;
const BLOCKS: u64 = 3;
/// Pairs of a chunk of the sort.
pub(crate) const CHUNK: u32 = 8192;
/// Most bases of a round: their pairs take 16 bytes a window.
const MAX_ROUND: u64 = 1 << 25;
/// Most bases of a round that is streamed from the host.
const MAX_STREAMED: u64 = 1 << 21;
/// Threads of a block of its last step.
pub(crate) const SCATTER_THREADS: u32 = 512;
/// Shared memory of that step holds a chunk and two words for every value of the low bits of a bucket: 64 KiB, which every device has.
const MAX_LOW_BITS: u32 = 11;
const MAX_HIGH_BITS: u32 = 8;
const MAX_WINDOW: u32 = MAX_HIGH_BITS + MAX_LOW_BITS + 1;
/// Bits that windows must cover: |s| <= r/2 < 2^254, and a sign.
const SCALAR_BITS: u32 = 255;
/// Fewest pairs a unit works on, so that merging stays a small part.
const SHORTEST: u64 = 16;

/// One MSM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Bits of a window.
    pub(crate) c: u32,
    /// Number of windows.
    pub(crate) windows: u32,
    /// High bits of a bucket in its window: a bin of the sort.
    pub(crate) high_bits: u32,
    /// Bases of a round.
    pub(crate) round: u64,
    /// Units that accumulate.
    pub(crate) units: u64,
}

/// One step of the weighted sums: `lists` lists of 2^(hi + lo) points become twice as many of 2^hi, 2^split units an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Halving {
    pub(crate) lists: u64,
    pub(crate) hi: u32,
    pub(crate) lo: u32,
    pub(crate) split: u32,
}

/// A level of merging: an upper bound of the slots it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    pub(crate) slots: u64,
    /// Slots a unit adds up one after the other; 0: a warp adds up 32 units' worth together.
    pub(crate) serial: u64,
}

/// Every part of an MSM's scratch memory begins at a multiple of this.
pub(crate) const ALIGN: u64 = 256;

/// Below this many slots a serial merge would leave the device idle.
const SERIAL_FROM: u64 = 1 << 15;

/// In mixed additions: one a term, two full ones of 1.4 a bucket and a little for the trees, and a base's place in the digits.
fn cost(c: u32, n: f64, terms: f64) -> f64 {
    let windows = f64::from(SCALAR_BITS.div_ceil(c));
    windows * (terms + f64::from(1u32 << (c - 1)) * 3.2 + n * 0.025)
}

impl Plan {
    /// For `n` bases of which about `terms` have scalars that are neither 0 nor 1, within `memory` bytes.
    pub(crate) fn new(
        group: &Group,
        n: u64,
        terms: u64,
        streamed: bool,
        memory: u64,
        multiprocessors: u32,
    ) -> Self {
        // Buckets take a third of the memory at most; pairs what is left of four fifths.
        let fits = |c: u32| u64::from(SCALAR_BITS.div_ceil(c)) * (group.xyzz << (c - 1)) <= memory / 3;
        let window = (4..=MAX_WINDOW)
            .filter(|c| *c == 4 || fits(*c))
            .min_by(|a, b| cost(*a, n as f64, terms as f64).total_cmp(&cost(*b, n as f64, terms as f64)));
        let c = window.unwrap_or(4);
        let windows = SCALAR_BITS.div_ceil(c);
        let buckets = u64::from(windows) * (group.xyzz << (c - 1));
        let per_base = 16 * u64::from(windows) + if streamed { 3 * group.affine } else { 0 };
        let room = (memory / 5 * 4).saturating_sub(buckets) / per_base;
        let most = if streamed { MAX_STREAMED } else { MAX_ROUND };
        let rounds = n.div_ceil(room.clamp(1 << 12, most)).max(1);
        let round = n.div_ceil(rounds).max(1);
        let wave = u64::from(multiprocessors) * BLOCKS * u64::from(THREADS / group.lanes);
        let waves = (round * u64::from(windows) / (wave * 32)).clamp(1, 8);
        // Bins of about a chunk's half, but no more of them than the kernels hold, and low bits that they hold too.
        let bins = (round / u64::from(CHUNK / 2)).max(1).ilog2();
        let high_bits = bins.max((c - 1).saturating_sub(MAX_LOW_BITS)).clamp(1, MAX_HIGH_BITS.min(c - 1));
        Self { c, windows, high_bits, round, units: wave * waves }
    }

    /// Bins of the sort.
    pub(crate) fn bins(&self) -> u64 {
        u64::from(self.windows) << self.high_bits
    }
    /// Buckets of all windows.
    pub(crate) fn buckets(&self) -> u64 {
        u64::from(self.windows) << (self.c - 1)
    }
    /// Low bits of a bucket in its bin.
    pub(crate) fn low_bits(&self) -> u32 {
        self.c - 1 - self.high_bits
    }
    /// Shared memory of the sort's last step.
    pub(crate) fn scatter_shared(&self) -> usize {
        CHUNK as usize * 6 + (8 << self.low_bits())
    }
    /// Pairs of a round at most.
    pub(crate) fn pairs(&self) -> u64 {
        self.round * u64::from(self.windows)
    }
    /// Fewest pairs of a unit.
    pub(crate) fn shortest(&self) -> u32 {
        SHORTEST as u32
    }

    /// Bytes of the parts of the scratch memory: pairs twice, four arrays of bins, cursors, buckets, keys and points of slots of two
    /// levels, counts of slots, two arrays of halves.
    pub(crate) fn parts(&self, group: &Group, multiprocessors: u32) -> [u64; 15] {
        let (bins, levels) = (self.bins(), self.levels(group));
        let slots = [0, 1].map(|i| levels.get(i).map_or(1, |level| level.slots));
        let halvings = self.halvings(group, multiprocessors);
        let half = |i: usize| halvings.get(i).map_or(0, |s| ((s.lists * 2) << s.hi) * group.xyzz);
        [
            self.pairs() * 8,
            self.pairs() * 8,
            bins * 4,
            (bins + 1) * 4,
            bins * 4,
            (bins + 1) * 4,
            self.buckets() * 4,
            self.buckets() * group.xyzz,
            slots[0] * 4,
            slots[1] * 4,
            slots[0] * group.xyzz,
            slots[1] * group.xyzz,
            levels.len() as u64 * 4 + 4,
            half(0),
            half(1).max(1),
        ]
    }

    /// All of the scratch memory; streamed bases add a round of points and two of their encodings.
    pub(crate) fn bytes(&self, group: &Group, multiprocessors: u32, streamed: bool) -> u64 {
        let extra = if streamed { self.round * group.affine } else { 0 };
        let parts = self.parts(group, multiprocessors);
        parts.iter().chain(&[extra; 3]).map(|bytes| bytes.next_multiple_of(ALIGN)).sum()
    }

    /// Levels of merging, down to one that ends in one unit.
    pub(crate) fn levels(&self, group: &Group) -> Vec<Level> {
        let warp = u64::from(32 / group.lanes);
        let mut slots = 2 * self.units;
        let mut levels = Vec::new();
        loop {
            let serial = if slots > SERIAL_FROM { (slots / SERIAL_FROM).clamp(4, 16) } else { 0 };
            levels.push(Level { slots, serial });
            if slots <= warp {
                return levels;
            }
            slots = 2 * slots.div_ceil(if serial > 0 { serial } else { warp });
        }
    }

    /// Steps of the weighted sums, until lists have at most 4 points.
    pub(crate) fn halvings(&self, group: &Group, multiprocessors: u32) -> Vec<Halving> {
        // Several waves, or the last one would leave most of the device idle.
        let busy = u64::from(multiprocessors) * 2048 / u64::from(group.lanes);
        let (mut lists, mut bits) = (u64::from(self.windows), self.c - 1);
        let mut steps = Vec::new();
        while bits > 2 {
            let (hi, lo) = (bits.div_ceil(2), bits / 2);
            let outputs = (lists * 2) << hi;
            // Adding up lanes costs steps in which most of them idle: only where there is too little work anyway.
            let lanes = (32 / group.lanes).trailing_zeros();
            let idle = outputs << lo <= busy;
            let most = if idle { lo } else { lo.saturating_sub(3).max(1) }.min(lanes);
            let split = (busy / outputs).max(1).ilog2().min(most);
            steps.push(Halving { lists, hi, lo, split });
            (lists, bits) = (lists * 2, hi);
        }
        steps
    }

    /// Binary weights of the lists of a window after all steps: row sums keep the high part of the index.
    pub(crate) fn weights(steps: &[Halving]) -> Vec<u32> {
        steps.iter().fold(vec![0], |weights, step| weights.iter().flat_map(|w| [w + step.lo, *w]).collect())
    }
}

/// Most bytes that the MSM of `n` bases takes within `memory`, whatever its scalars: fewer full ones make for smaller windows, and
/// more of them.
pub(crate) fn most_bytes(group: &Group, n: u64, streamed: bool, memory: u64, multiprocessors: u32) -> u64 {
    let terms =
        (0..=4 * n.max(1).ilog2()).map(|quarters| (n as f64 * (-f64::from(quarters) / 4.0).exp2()) as u64);
    let plans = terms.map(|terms| Plan::new(group, n, terms.max(1), streamed, memory, multiprocessors));
    plans.map(|plan| plan.bytes(group, multiprocessors, streamed)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_plan_takes_more_than_it_is_said_to_or_than_there_is() {
        for group in [G1, G2] {
            for (n, memory) in
                [(1000, 1u64 << 30), (1 << 20, 2 << 30), (1 << 24, 2 << 30), (1 << 27, 35 << 30)]
            {
                for streamed in [false, true] {
                    let most = most_bytes(&group, n, streamed, memory, 132);
                    assert!(most <= memory, "{n} bases: {most} of {memory}");
                    for terms in (0..1000).map(|i| (n * i / 999).max(1)) {
                        let plan = Plan::new(&group, n, terms, streamed, memory, 132);
                        assert!(
                            plan.bytes(&group, 132, streamed) <= most,
                            "{n} bases, {terms} full: {plan:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn plans_stay_inside_what_the_kernels_hold() {
        for group in [G1, G2] {
            for log_n in 0..=31 {
                for memory in [1 << 28, 8 << 30, 130 << 30] {
                    for streamed in [false, true] {
                        let n = (1u64 << log_n) + 1;
                        let plan = Plan::new(&group, n, n, streamed, memory, 132);
                        assert!(plan.windows * plan.c >= SCALAR_BITS && plan.low_bits() <= MAX_LOW_BITS);
                        assert!(plan.scatter_shared() <= crate::kernels::SCATTER_SHARED as usize);
                        assert!(plan.pairs() < 1 << 32 && plan.round < 1 << 31, "{plan:?}");
                        // Histograms of bins lie in 48 KiB of shared memory.
                        assert!(plan.bins() * 4 <= 48 << 10, "{plan:?}");
                        let last = plan.levels(&group).pop().unwrap();
                        assert!(last.serial == 0 && last.slots <= u64::from(32 / group.lanes));
                    }
                }
            }
        }
    }

    #[test]
    fn halving_ends_in_lists_of_two_or_four_and_weights_match() {
        for c in 4..=MAX_WINDOW {
            let plan = Plan { c, windows: 2, high_bits: 1, round: 1, units: 1 };
            let steps = plan.halvings(&G1, 132);
            let bits = steps.last().map_or(c - 1, |s| s.hi);
            assert!((1..=2).contains(&bits), "{c}");
            // Weight of every index by the formulas of the kernel, for one list: sum of k X_k with X_k = 2^(64 k) would be unwieldy; X_k = 1 is
            // enough to see the weights.
            let mut lists = vec![vec![1u64; 1 << (c - 1)]];
            for s in &steps {
                let rows = |x: &Vec<u64>| {
                    (0..1 << s.hi).map(|h| x[h << s.lo..(h + 1) << s.lo].iter().sum()).collect()
                };
                let columns = |x: &Vec<u64>| {
                    (0..1usize << s.hi)
                        .map(|l| if l >> s.lo == 0 { x.iter().skip(l).step_by(1 << s.lo).sum() } else { 0 })
                        .collect()
                };
                lists = lists.iter().flat_map(|x| [rows(x), columns(x)]).collect();
            }
            let weights = Plan::weights(&steps);
            let sum: u64 = lists
                .iter()
                .zip(&weights)
                .map(|(x, w)| x.iter().enumerate().map(|(k, v)| (k as u64 * v) << w).sum::<u64>())
                .sum();
            let n = 1u64 << (c - 1);
            assert_eq!(sum, n * (n - 1) / 2, "{c}");
        }
    }
}
