//! A device made of host memory: what `naive` and `cpu` compute on.
//!
//! Work is done before a call returns, so streams are names, events are times and pending results are ready. Memory is counted
//! and limited as on any device: a backend on host memory is where memory plans are tested.

mod limits;
mod pinned;

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{
    BackendError, Device, DeviceBuffer, DeviceInfo, DeviceKind, Event, MemoryUse, OpenOptions, Pending,
    RegisteredPages, Result, SharedBytes, ready,
};
use crate::curve::Element;
pub use pinned::HostPinned;
use pinned::Pool;

/// Memory of the host as a device.
#[derive(Debug)]
pub struct HostDevice {
    info: DeviceInfo,
    account: Arc<Account>,
}

/// What is allocated, against what may be.
#[derive(Debug)]
struct Account {
    device: String,
    total: u64,
    margin: u64,
    /// Whether the machine's free memory counts too: not when a limit makes this a device of its own size.
    ask_machine: bool,
    /// All bytes taken, device memory and pinned memory, which are the same memory here: what reservations are made against.
    taken: AtomicU64,
    ours: AtomicU64,
    peak: AtomicU64,
    pinned: AtomicU64,
    pool: Mutex<Pool>,
}

/// Bytes taken from the account; given back on drop.
#[derive(Debug)]
pub struct Charge {
    account: Arc<Account>,
    kind: Kind,
    bytes: u64,
}

/// What bytes are taken for.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Device,
    Pinned,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.account.counter(self.kind).fetch_sub(self.bytes, Ordering::Relaxed);
        self.account.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl HostDevice {
    /// Opens the host's memory under the name of the backend that computes on it.
    ///
    /// There is one device, index 0. Its size is that of the machine or of the control group, or the limit where that is smaller. The
    /// margin is at most an eighth of the size, so that a device of a few megabytes is usable.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] for another index.
    pub fn new(backend_name: &str, opts: &OpenOptions) -> Result<Self> {
        if opts.device != 0 {
            return Err(BackendError::Unavailable {
                backend: backend_name.into(),
                reason: format!("there is one host device, index 0; {} was asked for", opts.device),
            });
        }
        let machine = limits::total();
        let total = opts.memory_limit.map_or(machine, |limit| limit.min(machine));
        let units = std::thread::available_parallelism().map_or(0, |n| n.get() as u32);
        let info = DeviceInfo {
            backend: backend_name.into(),
            name: "host".into(),
            kind: DeviceKind::Cpu,
            index: 0,
            units,
            facts: vec![("architecture".into(), std::env::consts::ARCH.into())],
        };
        let account = Account {
            device: format!("{backend_name}:0"),
            total,
            margin: opts.margin.min(total / 8),
            ask_machine: opts.memory_limit.is_none(),
            taken: AtomicU64::new(0),
            ours: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            pinned: AtomicU64::new(0),
            pool: Mutex::default(),
        };
        Ok(Self { info, account: Arc::new(account) })
    }

    /// Counts `bytes` of working memory that an operation is about to use, as if allocated, until the charge is dropped.
    ///
    /// # Errors
    /// [`BackendError::OutOfMemory`] where they do not fit.
    pub fn charge(&self, label: &str, bytes: u64) -> Result<Charge> {
        self.account.charge(label, bytes)
    }
}

impl Account {
    fn counter(&self, kind: Kind) -> &AtomicU64 {
        match kind {
            Kind::Device => &self.ours,
            Kind::Pinned => &self.pinned,
        }
    }

    /// What can be had beside `taken` bytes, by the budget and by what the machine says is free.
    fn left(&self, taken: u64, free: Option<u64>) -> u64 {
        let budget = self.total.saturating_sub(taken);
        free.map_or(budget, |free| free.min(budget))
    }

    fn memory(&self, free: Option<u64>) -> MemoryUse {
        MemoryUse {
            total: self.total,
            free: Some(self.left(self.taken.load(Ordering::Relaxed), free)),
            ours: self.ours.load(Ordering::Relaxed),
            peak: self.peak.load(Ordering::Relaxed),
            pinned: self.pinned.load(Ordering::Relaxed),
            margin: self.margin,
        }
    }

    fn out_of_memory(&self, label: &str, requested: u64, available: u64) -> BackendError {
        BackendError::OutOfMemory { device: self.device.clone(), label: label.into(), requested, available }
    }

    /// Takes bytes if budget and machine allow. The budget is exact under concurrent calls.
    fn charge(self: &Arc<Self>, label: &str, bytes: u64) -> Result<Charge> {
        // Asking the machine costs tens of microseconds: not for what cannot matter.
        let free = if self.ask_machine && bytes >= 1 << 20 { limits::free() } else { None };
        self.reserve(Kind::Device, label, bytes, free)
    }

    fn reserve(self: &Arc<Self>, kind: Kind, label: &str, bytes: u64, free: Option<u64>) -> Result<Charge> {
        let available = |taken| self.left(taken, free).saturating_sub(self.margin);
        let fits = |taken| (bytes <= available(taken)).then_some(taken + bytes);
        match self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits) {
            Ok(_) => {
                let before = self.counter(kind).fetch_add(bytes, Ordering::Relaxed);
                if matches!(kind, Kind::Device) {
                    self.peak.fetch_max(before + bytes, Ordering::Relaxed);
                }
                Ok(Charge { account: self.clone(), kind, bytes })
            }
            Err(taken) => Err(self.out_of_memory(label, bytes, available(taken))),
        }
    }

    /// A vector of zeros, or the allocator's refusal as an error.
    fn zeros<T: Element>(&self, label: &str, len: usize) -> Result<Vec<T>> {
        let mut data = Vec::new();
        if data.try_reserve_exact(len).is_err() {
            let requested = (len as u64).saturating_mul(size_of::<T>() as u64);
            return Err(self.out_of_memory(label, requested, self.memory(limits::free()).available()));
        }
        data.resize(len, T::zeroed());
        Ok(data)
    }
}

/// Device memory that is host memory.
pub struct HostBuffer<T> {
    data: Vec<T>,
    label: String,
    _charge: Charge,
}

/// Never the content, which may be a witness.
impl<T> fmt::Debug for HostBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostBuffer").field("label", &self.label).field("len", &self.data.len()).finish()
    }
}

impl<T> HostBuffer<T> {
    /// The content.
    pub fn as_slice(&self) -> &[T] {
        &self.data
    }
    /// The content, writable.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.data
    }
}

impl<T: Element> DeviceBuffer<T> for HostBuffer<T> {
    fn len(&self) -> usize {
        self.data.len()
    }
    fn label(&self) -> &str {
        &self.label
    }
}

/// Host pages need no registration to be read by the host.
pub struct HostPages(SharedBytes);

impl RegisteredPages for HostPages {
    fn bytes(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

/// A name; calls complete in order because each completes before it returns.
#[derive(Debug)]
pub struct HostStream {
    /// As given to `stream`.
    pub label: String,
}

/// When the event was recorded; everything before it was done by then.
#[derive(Clone, Copy, Debug)]
pub struct HostEvent(Instant);

impl Event for HostEvent {
    fn is_complete(&self) -> Result<bool> {
        Ok(true)
    }
    fn wait(&self) -> Result<()> {
        Ok(())
    }
}

/// `at..at + len` if it lies within `bound`.
fn within(op: &'static str, what: &'static str, at: usize, len: usize, bound: usize) -> Result<Range<usize>> {
    match at.checked_add(len) {
        Some(end) if end <= bound => Ok(at..end),
        end => Err(BackendError::Invalid {
            op,
            what,
            expected: bound as u64,
            found: end.map_or(u64::MAX, |e| e as u64),
        }),
    }
}

/// `range` if it is ascending and within `bound`.
fn checked(op: &'static str, what: &'static str, range: Range<usize>, bound: usize) -> Result<Range<usize>> {
    let Some(len) = range.end.checked_sub(range.start) else {
        return Err(BackendError::Invalid {
            op,
            what: "start of the range at most",
            expected: range.end as u64,
            found: range.start as u64,
        });
    };
    within(op, what, range.start, len, bound)
}

const DST: &str = "end of the destination range at most";
const SRC: &str = "end of the source range at most";

fn copy_into<T: Element>(op: &'static str, src: &[T], dst: &mut [T], at: usize) -> Result<()> {
    let range = within(op, DST, at, src.len(), dst.len())?;
    dst[range].copy_from_slice(src);
    Ok(())
}

impl Device for HostDevice {
    type Buffer<T: Element> = HostBuffer<T>;
    type Pinned<T: Element> = HostPinned<T>;
    type Pages = HostPages;
    type Stream = HostStream;
    type Event = HostEvent;

    fn info(&self) -> &DeviceInfo {
        &self.info
    }
    fn memory(&self) -> MemoryUse {
        let free = if self.account.ask_machine { limits::free() } else { None };
        self.account.memory(free)
    }

    fn stream(&self, label: &str) -> Result<HostStream> {
        Ok(HostStream { label: label.into() })
    }
    fn record(&self, _: &HostStream) -> Result<HostEvent> {
        Ok(HostEvent(Instant::now()))
    }
    fn wait_event(&self, _: &HostStream, _: &HostEvent) -> Result<()> {
        Ok(())
    }
    fn elapsed(&self, from: &HostEvent, to: &HostEvent) -> Result<Option<Duration>> {
        Ok(Some(to.0.saturating_duration_since(from.0)))
    }

    fn alloc<T: Element>(&self, label: &str, len: usize) -> Result<HostBuffer<T>> {
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        let charge = self.account.charge(label, bytes)?;
        Ok(HostBuffer { data: self.account.zeros(label, len)?, label: label.into(), _charge: charge })
    }
    fn clear<T: Element>(
        &self,
        _: &HostStream,
        buffer: &mut HostBuffer<T>,
        range: Range<usize>,
    ) -> Result<()> {
        let range = checked("clear", DST, range, buffer.data.len())?;
        buffer.data[range].fill(T::zeroed());
        Ok(())
    }
    fn pinned<T: Element>(&self, label: &str, len: usize) -> Result<HostPinned<T>> {
        HostPinned::new(&self.account, label, len)
    }
    fn register(&self, pages: SharedBytes) -> Result<HostPages> {
        Ok(HostPages(pages))
    }

    fn upload<T: Element>(
        &self,
        _: &HostStream,
        src: &[T],
        dst: &mut HostBuffer<T>,
        at: usize,
    ) -> Result<()> {
        copy_into("upload", src, &mut dst.data, at)
    }
    fn upload_pinned<T: Element>(
        &self,
        _: &HostStream,
        src: HostPinned<T>,
        dst: &mut HostBuffer<T>,
        at: usize,
    ) -> Result<Pending<HostPinned<T>>> {
        copy_into("upload_pinned", &src, &mut dst.data, at)?;
        Ok(ready(src))
    }
    fn upload_pages(
        &self,
        _: &HostStream,
        src: &Arc<HostPages>,
        range: Range<usize>,
        dst: &mut HostBuffer<u8>,
        at: usize,
    ) -> Result<()> {
        let range = checked("upload_pages", SRC, range, src.bytes().len())?;
        copy_into("upload_pages", &src.bytes()[range], &mut dst.data, at)
    }
    fn download<T: Element>(
        &self,
        _: &HostStream,
        src: &HostBuffer<T>,
        at: usize,
        dst: &mut [T],
    ) -> Result<()> {
        let range = within("download", SRC, at, dst.len(), src.data.len())?;
        dst.copy_from_slice(&src.data[range]);
        Ok(())
    }
    fn download_pinned<T: Element>(
        &self,
        stream: &HostStream,
        src: &HostBuffer<T>,
        at: usize,
        mut dst: HostPinned<T>,
    ) -> Result<Pending<HostPinned<T>>> {
        self.download(stream, src, at, &mut dst)?;
        Ok(ready(dst))
    }
    fn copy<T: Element>(
        &self,
        _: &HostStream,
        src: &HostBuffer<T>,
        from: Range<usize>,
        dst: &mut HostBuffer<T>,
        at: usize,
    ) -> Result<()> {
        let range = checked("copy", SRC, from, src.data.len())?;
        copy_into("copy", &src.data[range], &mut dst.data, at)
    }
}

#[cfg(test)]
mod tests;
