//! Multi-scalar multiplication; see kernels/msm_sort.cu and kernels/msm.cuh.
//!
//! For every round of bases: digits, sort, accumulation into buckets, merging of what was cut. Then the weighted sums of
//! the buckets, halved until a few points a window are left, which the host adds up.

use std::marker::PhantomData;
use std::ops::Range;

use cuzk_core::backend::{
    BackendError, Bases, Device, DeviceBuffer, Msm, Pending, Result, ScalarForm, class, ready,
};
use cuzk_core::curve::Curve;
use cuzk_core::key::EncodedPoints;
use group::Group as _;

use crate::backend::CudaBackend;
use crate::device::CudaDevice;
use crate::driver::{Allocation, Args, Launch, Pointer};
use crate::memory::{CudaBuffer, CudaStream, download_pinned};
use crate::msm_host::WindowSums;
use crate::msm_plan::{ALIGN, CHUNK, G1, G2, Group, Plan, SCATTER_THREADS, THREADS, most_bytes};
use crate::tables::Tables;

/// Below this many terms the classes' counts are not worth waiting for.
const COUNTS_FROM: usize = 1 << 16;

/// An MSM takes at most one part in so many of the device's memory: more bases in a round gain nothing from there on.
const SHARE: u64 = 4;

/// Scratch memory of one MSM: one allocation, cut up.
struct Scratch {
    memory: Allocation,
    at: u64,
}

impl Scratch {
    fn take(&mut self, stream: &CudaStream, bytes: u64) -> Pointer {
        let at = self.memory.used_by(stream.slot) + self.at;
        self.at += bytes.next_multiple_of(ALIGN);
        at
    }
}

/// Where everything of an MSM lies.
struct Layout {
    digits: Pointer, // later the sorted pairs
    pairs: Pointer,
    bins: [Pointer; 4], // counts, start, cursor, chunk start
    cursors: Pointer,
    buckets: Pointer,
    keys: [Pointer; 2],
    slots: [Pointer; 2],
    slot_counts: Pointer,
    halves: [Pointer; 2],
}

pub(crate) fn group_of<C: Curve>() -> Group {
    if C::BYTES == 96 { G1 } else { G2 }
}

/// A launch of the curve kernels for so many units.
fn units(group: &Group, units: u64) -> Launch {
    Launch::cover(units * u64::from(group.lanes), THREADS)
}

struct Run<'a> {
    backend: &'a CudaBackend,
    stream: &'a CudaStream,
    group: Group,
    plan: Plan,
    layout: Layout,
    memory: Scratch,
}

/// What the digits are made from.
struct Source {
    scalars: Pointer,
    count: u64,
    select: Pointer,
    classes: Pointer,
    montgomery: bool,
}

impl CudaBackend {
    pub(crate) fn run_msm<C: Curve>(
        &self,
        stream: &CudaStream,
        op: Msm<'_, CudaDevice, C>,
    ) -> Result<Pending<C::Projective>> {
        let n = op.bases.len();
        match op.select {
            Some(select) => BackendError::expect_len("msm", "length of select", n, select.len())?,
            None if op.scalars.len() < n => {
                let (expected, found) = (n as u64, op.scalars.len() as u64);
                return Err(BackendError::Invalid {
                    op: "msm",
                    what: "number of scalars at least",
                    expected,
                    found,
                });
            }
            None => {}
        }
        if let Some(classes) = op.classes {
            BackendError::expect_len("msm", "length of the classes", op.scalars.len(), classes.codes.len())?;
        }
        if n == 0 {
            return Ok(ready(C::Projective::identity()));
        }
        let group = group_of::<C>();
        let streamed = matches!(op.bases, Bases::Streamed(_));
        let terms = self.full_terms(stream, &op, n)?;
        let memory = self.device.memory();
        let available = memory.available().min(memory.total / SHARE);
        let sms = self.device.context.facts.multiprocessors;
        let plan = Plan::new(&group, n as u64, terms, streamed, available, sms);
        let mut run = Run::new(self, stream, group, plan, streamed)?;
        let source = Source {
            scalars: op.scalars.on(stream),
            count: op.scalars.len() as u64,
            select: op.select.map_or(0, |select| select.on(stream)),
            classes: op.classes.map_or(0, |classes| classes.codes.on(stream)),
            montgomery: op.form == ScalarForm::Montgomery,
        };
        match op.bases {
            Bases::Resident(bases) => {
                let base = bases.on(stream);
                for round in run.rounds(n) {
                    let at = base + round.start as u64 * group.affine;
                    run.round(&source, round, at)?;
                }
            }
            Bases::Streamed(points) => run.streamed(&source, points)?,
        }
        run.finish::<C>()
    }

    /// Most memory that an MSM takes. Tables of transforms stay where they are once made, so it has to find room beside them: they
    /// are part of the sum, for a domain of as many points as there are bases.
    pub(crate) fn msm_bytes<C: Curve>(&self, bases: usize, streamed: bool) -> u64 {
        if bases == 0 {
            return 0;
        }
        let (group, n) = (group_of::<C>(), bases as u64);
        let sms = self.device.context.facts.multiprocessors;
        let budget = self.device.memory().total / SHARE;
        most_bytes(&group, n, streamed, budget, sms) + Tables::bytes(n.next_power_of_two().ilog2())
    }

    /// How many scalars are neither 0 nor 1, about: decides the window. The counts come from the device, behind what was queued before them.
    fn full_terms<C: Curve>(
        &self,
        stream: &CudaStream,
        op: &Msm<'_, CudaDevice, C>,
        n: usize,
    ) -> Result<u64> {
        let Some(classes) = op.classes.filter(|_| n >= COUNTS_FROM) else { return Ok(n as u64) };
        let mut counts = [0u32; 4];
        BackendError::expect_len("msm", "counts of classes", counts.len(), classes.counts.len())?;
        self.device.download(stream, &classes.counts, 0, &mut counts)?;
        let full = u64::from(counts[usize::from(class::FULL)]);
        let all = counts.iter().map(|count| u64::from(*count)).sum::<u64>().max(1);
        Ok((full as f64 / all as f64 * n as f64) as u64 + 1)
    }
}

impl<'a> Run<'a> {
    fn new(
        backend: &'a CudaBackend,
        stream: &'a CudaStream,
        group: Group,
        plan: Plan,
        streamed: bool,
    ) -> Result<Self> {
        let sms = backend.device.context.facts.multiprocessors;
        let (bytes, total) = (plan.parts(&group, sms), plan.bytes(&group, sms, streamed));
        let mut memory = Scratch { memory: backend.device.scratch("msm", total, stream)?, at: 0 };
        let mut parts = bytes.iter().map(|bytes| memory.take(stream, *bytes)).collect::<Vec<_>>().into_iter();
        let mut next = || parts.next().unwrap_or(0);
        let layout = Layout {
            digits: next(),
            pairs: next(),
            bins: [next(), next(), next(), next()],
            cursors: next(),
            buckets: next(),
            keys: [next(), next()],
            slots: [next(), next()],
            slot_counts: next(),
            halves: [next(), next()],
        };
        stream.raw.clear(layout.buckets, (plan.buckets() * group.xyzz) as usize)?;
        Ok(Self { backend, stream, group, plan, layout, memory })
    }

    fn rounds(&self, n: usize) -> Vec<Range<usize>> {
        let step = self.plan.round as usize;
        (0..n).step_by(step).map(|start| start..(start + step).min(n)).collect()
    }

    fn launch(&self, launch: Launch, name: &str, args: Args) -> Result<()> {
        launch.run(&self.stream.raw, self.backend.kernels.get(name)?, args)
    }
    fn curve_launch(&self, launch: Launch, name: &str, args: Args) -> Result<()> {
        self.launch(launch, &format!("{name}_{}", self.group.suffix), args)
    }

    /// Adds the terms of some bases, the first of which lies at `bases`, to the buckets.
    fn round(&self, source: &Source, range: Range<usize>, bases: Pointer) -> Result<()> {
        self.sort(source, range)?;
        self.accumulate(bases)
    }

    fn sort(&self, source: &Source, range: Range<usize>) -> Result<()> {
        let (plan, layout) = (&self.plan, &self.layout);
        let m = range.len() as u32;
        let (bins, low_bits) = (plan.bins(), plan.low_bits());
        let [counts, start, cursor, chunk_start] = layout.bins;
        self.stream.raw.clear(counts, (bins * 4) as usize)?;
        self.stream.raw.clear(layout.cursors, (plan.buckets() * 4) as usize)?;
        let args = Args::new()
            .arg(source.scalars)
            .arg(source.select)
            .arg(source.count)
            .arg(source.classes)
            .arg(u32::from(source.montgomery))
            .arg(range.start as u32)
            .arg(m)
            .arg(plan.c)
            .arg(plan.windows)
            .arg(plan.high_bits)
            .arg(layout.digits)
            .arg(counts);
        let most = u64::from(self.backend.device.context.facts.multiprocessors) * 4 * 256;
        let launch = Launch::cover(u64::from(m).min(most), 256).shared(bins as usize * 4);
        self.launch(launch, "msm_digits", args)?;
        let args =
            Args::new().arg(counts).arg(bins as u32).arg(CHUNK).arg(start).arg(cursor).arg(chunk_start);
        self.launch(Launch { grid: (1, 1), block: 1024, shared: 0 }, "msm_scan_bins", args)?;
        let args = Args::new()
            .arg(layout.digits)
            .arg(m)
            .arg(plan.c)
            .arg(plan.high_bits)
            .arg(cursor)
            .arg(layout.pairs);
        let tiles = Launch { grid: (m.div_ceil(4096), plan.windows), block: 256, shared: 0 };
        self.launch(tiles, "msm_partition", args)?;
        let chunks = bins + u64::from(m) * u64::from(plan.windows) / u64::from(CHUNK);
        let by_chunk = Launch { grid: (chunks as u32, 1), block: 256, shared: 4 << low_bits };
        let args = || Args::new().arg(layout.pairs).arg(start).arg(chunk_start).arg(bins as u32);
        let count = args().arg(CHUNK).arg(low_bits).arg(layout.cursors);
        self.launch(by_chunk, "msm_count", count)?;
        let scan = Launch { grid: (bins as u32, 1), block: 1024.min(32.max(1 << low_bits)), shared: 0 };
        self.launch(scan, "msm_scan_buckets", Args::new().arg(start).arg(low_bits).arg(layout.cursors))?;
        let scatter = Launch { block: SCATTER_THREADS, ..by_chunk }.shared(plan.scatter_shared());
        self.launch(scatter, "msm_scatter", args().arg(low_bits).arg(layout.cursors).arg(layout.digits))
    }

    fn accumulate(&self, bases: Pointer) -> Result<()> {
        let (plan, layout) = (&self.plan, &self.layout);
        let total = layout.bins[1] + plan.bins() * 4;
        let args = Args::new()
            .arg(layout.digits)
            .arg(total)
            .arg(plan.shortest())
            .arg(plan.units as u32)
            .arg(bases)
            .arg(layout.buckets)
            .arg(layout.keys[0])
            .arg(layout.slots[0])
            .arg(layout.slot_counts);
        self.curve_launch(units(&self.group, plan.units), "msm_accumulate", args)?;
        for (i, level) in plan.levels(&self.group).iter().enumerate() {
            let (from, to) = (i % 2, (i + 1) % 2);
            let count = layout.slot_counts + i as u64 * 4;
            let args = Args::new().arg(layout.keys[from]).arg(layout.slots[from]).arg(count);
            let rest = |args: Args| {
                args.arg(layout.buckets).arg(layout.keys[to]).arg(layout.slots[to]).arg(count + 4)
            };
            if level.serial > 0 {
                let launch = units(&self.group, level.slots.div_ceil(level.serial));
                self.curve_launch(launch, "msm_merge_serial", rest(args.arg(level.serial as u32)))?;
            } else {
                self.curve_launch(units(&self.group, level.slots), "msm_merge_warp", rest(args))?;
            }
        }
        Ok(())
    }

    /// Bases from the host: while one round is worked on, the next is copied on the backend's copy stream.
    fn streamed<C: Curve>(&mut self, source: &Source, points: &EncodedPoints<C>) -> Result<()> {
        let bytes = self.plan.round * self.group.affine;
        let bases = self.memory.take(self.stream, bytes);
        let encoded = [self.memory.take(self.stream, bytes), self.memory.take(self.stream, bytes)];
        let copy = &self.backend.copies;
        // The scratch memory is allocated in the order of the computing stream.
        self.memory.memory.used_by(copy.slot);
        copy.raw.wait_for(&self.stream.raw.record()?)?;
        let mut read: [Option<crate::driver::RawEvent>; 2] = [None, None];
        let encoding = crate::keys::encoding_code(points.encoding());
        let report = self.backend.report(self.stream)?;
        for (i, round) in self.rounds(points.len()).into_iter().enumerate() {
            let slot = i % 2;
            if let Some(event) = read[slot].take() {
                copy.raw.wait_for(&event)?;
            }
            self.backend.device.upload_raw(copy, points.chunk(round.clone()), encoded[slot])?;
            self.stream.raw.wait_for(&copy.raw.record()?)?;
            let n = round.len() as u32;
            let args =
                Args::new().arg(encoded[slot]).arg(n).arg(encoding).arg(bases).arg(report.on(self.stream));
            self.curve_launch(Launch::cover(n.into(), 128), "convert", args)?;
            read[slot] = Some(self.stream.raw.record()?);
            self.round(source, round, bases)?;
        }
        Ok(())
    }

    fn finish<C: Curve>(self) -> Result<Pending<C::Projective>> {
        let steps = self.plan.halvings(&self.group, self.backend.device.context.facts.multiprocessors);
        let mut input = self.layout.buckets;
        for (i, step) in steps.iter().enumerate() {
            let output = self.layout.halves[i % 2];
            let args = Args::new()
                .arg(input)
                .arg(step.lists as u32)
                .arg(step.hi)
                .arg(step.lo)
                .arg(step.split)
                .arg(output);
            let launch = units(&self.group, ((step.lists * 2) << step.hi) << step.split);
            self.curve_launch(launch, "msm_halve", args)?;
            input = output;
        }
        let weights = Plan::weights(&steps);
        let bits = steps.last().map_or(self.plan.c - 1, |step| step.hi);
        let windows = self.plan.windows as usize;
        let lists = windows * weights.len();
        let bytes = (lists + windows) * self.group.xyzz as usize;
        let sums = self.backend.device.scratch("msm sums", bytes as u64, self.stream)?;
        let sums: CudaBuffer<u8> = CudaBuffer::new(sums, "msm sums", bytes);
        let args = Args::new()
            .arg(input)
            .arg(lists as u32)
            .arg(bits)
            .arg(weights.len() as u32)
            .arg(sums.on(self.stream));
        self.curve_launch(units(&self.group, lists as u64), "msm_finish", args)?;
        let host = self.backend.device.pinned("msm sums", bytes)?;
        let sums = download_pinned(self.stream, &sums, 0, host)?;
        Ok(Box::new(WindowSums::<C> { sums, c: self.plan.c, windows, weights, curve: PhantomData }))
    }
}
