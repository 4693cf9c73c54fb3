//! Tables on the device that operations share: twiddles of a root of unity, and powers of a scalar. Made on first use, kept.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cuzk_core::backend::Result;
use cuzk_core::curve::{Root, Scalar};
use ff::Field;

use crate::backend::CudaBackend;
use crate::driver::{Allocation, Args, Launch, RawEvent};
use crate::memory::CudaStream;
use crate::params::{Factors, FrParam, Squares, Twiddles};

/// Largest table of twiddles: 2^24 entries, 512 MiB. Larger transforms multiply two entries in their first stages.
const MAX_LOG_TABLE: u32 = 24;
/// Up to this length all powers are tabled, beyond it two short tables are multiplied.
const MAX_LOG_FULL: u32 = 20;
/// Tables of powers kept.
const KEPT: usize = 8;

/// A table and the event behind its making.
struct Table {
    memory: Allocation,
    ready: RawEvent,
    done: AtomicBool,
}

impl Table {
    /// Behind what is queued on `stream`.
    fn new(memory: Allocation, stream: &CudaStream) -> Result<Self> {
        Ok(Self { memory, ready: stream.raw.record()?, done: AtomicBool::new(false) })
    }
    /// Its address, for work on `stream`.
    fn on(&self, stream: &CudaStream) -> Result<u64> {
        if !self.done.load(Ordering::Acquire) {
            stream.raw.wait_for(&self.ready)?;
            self.done.store(self.ready.is_complete()?, Ordering::Release);
        }
        Ok(self.memory.used_by(stream.slot))
    }
}

struct RootTable {
    root: Root,
    log_table: u32,
    table: Table,
    fine: Table,
}

struct PowerTable {
    first: Scalar,
    ratio: Scalar,
    log_len: u32,
    bits: u32,
    low: Table,
    high: Option<Table>,
}

/// The tables of a device.
#[derive(Default)]
pub(crate) struct Tables {
    roots: Mutex<Vec<Arc<RootTable>>>,
    powers: Mutex<Vec<Arc<PowerTable>>>,
}

impl Tables {
    /// Bytes of the tables that a proof over 2^log_n points makes: twiddles to a root of order 2n, and powers for the cosets.
    pub(crate) fn bytes(log_n: u32) -> u64 {
        let fine = 64u64 << (Root::MAX_LOG_N - MAX_LOG_TABLE);
        (32u64 << (log_n + 1).min(MAX_LOG_TABLE)) + fine + 4 * (32u64 << log_n.min(MAX_LOG_FULL))
    }
}

impl CudaBackend {
    /// Twiddles for transforms of 2^log_n points, log_n >= 1.
    pub(crate) fn twiddles(&self, stream: &CudaStream, root: Root, log_n: u32) -> Result<Twiddles> {
        let wanted = log_n.min(MAX_LOG_TABLE);
        let mut roots = self.tables.roots.lock().unwrap_or_else(PoisonError::into_inner);
        let found = roots.iter().find(|table| table.root == root && table.log_table >= wanted).cloned();
        let table = match found {
            Some(table) => table,
            None => {
                let made = Arc::new(self.make_twiddles(stream, root, wanted)?);
                roots.retain(|table| table.root != root);
                roots.push(Arc::clone(&made));
                made
            }
        };
        Ok(Twiddles {
            table: table.table.on(stream)?,
            fine: table.fine.on(stream)?,
            log_table: table.log_table,
            odd: 0,
        })
    }

    fn make_twiddles(&self, stream: &CudaStream, root: Root, log_table: u32) -> Result<RootTable> {
        // Stage x has 2^x + 1 entries.
        let entries = (1u64 << log_table) - 1 + u64::from(log_table);
        let memory = self.device.pool.alloc("twiddles", entries * 32)?;
        let w = root.of_unity(log_table).unwrap_or(Scalar::ONE);
        let args = Args::new().arg(memory.used_by(stream.slot)).arg(log_table).arg(Squares::of(w));
        self.each(entries).run(&stream.raw, self.kernels.get("ntt_twiddles")?, args)?;
        let table = Table::new(memory, stream)?;
        // w^j, j < 2^s, of a primitive 2^(log_table + s)-th root, for every s up to the largest transform.
        let largest = Root::MAX_LOG_N - log_table.min(Root::MAX_LOG_N);
        let largest = if log_table == MAX_LOG_TABLE { largest } else { 0 };
        let memory = self.device.pool.alloc("fine twiddles", (2u64 << largest) * 32)?;
        for s in 1..=largest {
            let w = root.of_unity(log_table + s).unwrap_or(Scalar::ONE);
            let at = memory.used_by(stream.slot) + ((1u64 << s) - 2) * 32;
            self.fill_powers(stream, at, 1 << s, Scalar::ONE, w, 1)?;
        }
        let fine = Table::new(memory, stream)?;
        Ok(RootTable { root, log_table, table, fine })
    }

    /// memory\[i\] = first * ratio^(i * step)
    fn fill_powers(
        &self,
        stream: &CudaStream,
        at: u64,
        len: u64,
        first: Scalar,
        ratio: Scalar,
        step: u64,
    ) -> Result<()> {
        let args = Args::new().arg(at).arg(len).arg(Squares::of(ratio)).arg(FrParam::from(first)).arg(step);
        self.each(len).run(&stream.raw, self.kernels.get("powers")?, args)
    }

    /// Factors first * ratio^j for j < 2^log_len.
    pub(crate) fn powers(
        &self,
        stream: &CudaStream,
        first: Scalar,
        ratio: Scalar,
        log_len: u32,
    ) -> Result<Factors> {
        let mut kept = self.tables.powers.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |t: &Arc<PowerTable>| t.first == first && t.ratio == ratio && t.log_len == log_len;
        let table = match kept.iter().position(same) {
            Some(i) => kept.remove(i),
            None => Arc::new(self.make_powers(stream, first, ratio, log_len)?),
        };
        kept.insert(0, Arc::clone(&table));
        kept.truncate(KEPT);
        let low = table.low.on(stream)?;
        Ok(match &table.high {
            None => Factors::full(low),
            Some(high) => Factors::split(low, high.on(stream)?, table.bits),
        })
    }

    fn make_powers(
        &self,
        stream: &CudaStream,
        first: Scalar,
        ratio: Scalar,
        log_len: u32,
    ) -> Result<PowerTable> {
        let bits = if log_len <= MAX_LOG_FULL { log_len } else { log_len / 2 };
        let make = |log: u32, first: Scalar, step: u64| {
            let memory = self.device.pool.alloc("powers", 32u64 << log)?;
            self.fill_powers(stream, memory.used_by(stream.slot), 1 << log, first, ratio, step)?;
            Table::new(memory, stream)
        };
        let low = make(bits, first, 1)?;
        let high = (bits < log_len).then(|| make(log_len - bits, Scalar::ONE, 1 << bits)).transpose()?;
        Ok(PowerTable { first, ratio, log_len, bits, low, high })
    }

    /// A launch for a loop over `n` elements in strides of the whole grid.
    pub(crate) fn each(&self, n: u64) -> Launch {
        let most = u64::from(self.device.context.facts.multiprocessors) * 16 * 256;
        Launch::cover(n.min(most), 256)
    }
}
