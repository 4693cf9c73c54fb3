//! Device memory from a stream-ordered pool of our own.
//!
//! The pool keeps what is freed (a release threshold of "everything"): mapping memory costs milliseconds a gibibyte, taking it from the pool
//! microseconds. It is trimmed only when an allocation fails. An allocation is usable on every stream when it is returned. It is freed in
//! stream order: behind the work of the streams that used it, so a buffer may be dropped while work on it is queued.
#![expect(unsafe_code, reason = "foreign functions of the CUDA driver")]

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use cudarc::driver::sys::{self, CUmemPool_attribute as Attribute};
use cuzk_core::backend::{BackendError, MemoryUse, Result};

use super::{Context, Pointer, RawStream};

/// Streams told apart in an allocation's record of its users; more than these share entries.
const SLOTS: usize = 64;

/// The memory of one device.
pub(crate) struct Pool {
    raw: sys::CUmemoryPool,
    context: Arc<Context>,
    /// Where allocations are made: never has other work, so that waiting for it is waiting for the allocation alone.
    allocating: RawStream,
    /// Where what several streams used is freed.
    freeing: RawStream,
    streams: Mutex<Vec<Weak<RawStream>>>,
    limit: u64,
    margin: u64,
    ours: AtomicU64,
    peak: AtomicU64,
}

// SAFETY: pools may be used from any thread.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

impl Pool {
    pub(crate) fn new(
        context: &Arc<Context>,
        device: usize,
        limit: Option<u64>,
        margin: u64,
    ) -> Result<Arc<Self>> {
        context.bind("pool")?;
        // SAFETY: the C structure is plain integers and a pointer that may be null.
        let mut properties: sys::CUmemPoolProps = unsafe { std::mem::zeroed() };
        properties.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        properties.location.id = i32::try_from(device).unwrap_or(i32::MAX);
        let mut raw = std::ptr::null_mut();
        // SAFETY: out-parameter and a live structure.
        context.check("pool", unsafe { sys::cuMemPoolCreate(&mut raw, &properties) })?;
        let total = context.facts.total_memory;
        let total = limit.map_or(total, |limit| limit.min(total));
        let pool = Self {
            raw,
            context: Arc::clone(context),
            allocating: RawStream::new(context)?,
            freeing: RawStream::new(context)?,
            streams: Mutex::default(),
            limit: total,
            margin: margin.min(total / 8),
            ours: AtomicU64::new(0),
            peak: AtomicU64::new(0),
        };
        let mut keep = u64::MAX;
        // Without this the allocating stream would wait for other streams' work instead of taking fresh memory.
        let mut no: i32 = 0;
        pool.set(Attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, (&raw mut keep).cast())?;
        pool.set(Attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, (&raw mut no).cast())?;
        Ok(Arc::new(pool))
    }

    fn set(&self, attribute: Attribute, value: *mut c_void) -> Result<()> {
        // SAFETY: callers pass a pointer to a value of the attribute's type.
        self.context.check("pool", unsafe { sys::cuMemPoolSetAttribute(self.raw, attribute, value) })
    }
    fn get(&self, attribute: Attribute) -> u64 {
        let mut value = 0u64;
        // SAFETY: the attributes asked for are 64-bit.
        let code = unsafe { sys::cuMemPoolGetAttribute(self.raw, attribute, (&raw mut value).cast()) };
        if code == sys::CUresult::CUDA_SUCCESS { value } else { 0 }
    }

    /// A new stream whose use of allocations is recorded.
    pub(crate) fn stream(&self) -> Result<(Arc<RawStream>, usize)> {
        let stream = Arc::new(RawStream::new(&self.context)?);
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = streams.iter().position(|s| s.strong_count() == 0).unwrap_or(streams.len());
        if slot >= SLOTS {
            return Err(BackendError::Unsupported {
                backend: super::NAME.into(),
                op: "stream",
                reason: format!("more than {SLOTS} streams at a time"),
            });
        }
        if slot == streams.len() {
            streams.push(Arc::downgrade(&stream));
        } else if let Some(entry) = streams.get_mut(slot) {
            *entry = Arc::downgrade(&stream);
        }
        Ok((stream, slot))
    }

    /// Memory now.
    pub(crate) fn memory(&self, pinned: u64) -> MemoryUse {
        MemoryUse {
            total: self.limit,
            free: self.free(),
            ours: self.ours.load(Ordering::Relaxed),
            peak: self.peak.load(Ordering::Relaxed),
            pinned,
            margin: self.margin,
        }
    }

    /// What the driver would give: its own free memory, and what the pool holds and nobody uses.
    fn free(&self) -> Option<u64> {
        self.context.bind("memory").ok()?;
        let (mut free, mut total) = (0usize, 0usize);
        // SAFETY: two out-parameters.
        let code = unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) };
        if code != sys::CUresult::CUDA_SUCCESS {
            return None;
        }
        let reserved = self.get(Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
        let used = self.get(Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
        Some(free as u64 + reserved.saturating_sub(used))
    }

    fn out_of_memory(&self, label: &str, requested: u64, available: u64) -> BackendError {
        BackendError::OutOfMemory {
            device: self.context.facts.name.clone(),
            label: label.into(),
            requested,
            available,
        }
    }

    /// `bytes` of undefined content, usable on any stream.
    pub(crate) fn alloc(self: &Arc<Self>, label: &str, bytes: u64) -> Result<Allocation> {
        let allocation = self.alloc_on(label, bytes, self.memory(0).available(), &self.allocating)?;
        self.allocating.finish()?;
        Ok(allocation)
    }

    /// The same for work on `stream` alone: neither waits nor asks the driver what is free.
    pub(crate) fn scratch(
        self: &Arc<Self>,
        label: &str,
        bytes: u64,
        stream: &RawStream,
    ) -> Result<Allocation> {
        let ours = self.ours.load(Ordering::Relaxed);
        self.alloc_on(label, bytes, self.limit.saturating_sub(ours).saturating_sub(self.margin), stream)
    }

    fn alloc_on(
        self: &Arc<Self>,
        label: &str,
        bytes: u64,
        available: u64,
        stream: &RawStream,
    ) -> Result<Allocation> {
        self.context.bind("alloc")?;
        if bytes > available {
            return Err(self.out_of_memory(label, bytes, available));
        }
        let size = usize::try_from(bytes).unwrap_or(usize::MAX).max(1);
        let mut at: Pointer = 0;
        for attempt in 0..2 {
            // SAFETY: out-parameter; the pool and the stream are alive.
            let code = unsafe { sys::cuMemAllocFromPoolAsync(&mut at, size, self.raw, stream.raw()) };
            match self.context.check("alloc", code) {
                Ok(()) => break,
                Err(BackendError::OutOfMemory { .. }) if attempt == 0 => self.trim()?,
                Err(BackendError::OutOfMemory { .. }) => {
                    return Err(self.out_of_memory(label, bytes, self.memory(0).available()));
                }
                Err(other) => return Err(other),
            }
        }
        let ours = self.ours.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(ours, Ordering::Relaxed);
        Ok(Allocation { at, bytes, users: AtomicU64::new(0), pool: Arc::clone(self) })
    }

    /// Waits for queued frees and gives unused memory back to the driver.
    fn trim(&self) -> Result<()> {
        self.freeing.finish()?;
        for stream in self.live_streams() {
            stream.finish()?;
        }
        // SAFETY: the pool is alive.
        self.context.check("trim", unsafe { sys::cuMemPoolTrimTo(self.raw, 0) })
    }

    fn live_streams(&self) -> Vec<Arc<RawStream>> {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.iter().filter_map(Weak::upgrade).collect()
    }

    fn free_allocation(&self, at: Pointer, users: u64) -> Result<()> {
        self.context.bind("free")?;
        let used: Vec<_> = {
            let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
            let marked = streams.iter().enumerate().filter(|(slot, _)| users >> slot & 1 == 1);
            marked.filter_map(|(_, stream)| stream.upgrade()).collect()
        };
        let on = match used.as_slice() {
            [] => &self.allocating,
            [one] => &**one,
            several => {
                for stream in several {
                    self.freeing.wait_for(&stream.record()?)?;
                }
                &self.freeing
            }
        };
        // SAFETY: allocated from the pool, freed once, behind all work that used it.
        self.context.check("free", unsafe { sys::cuMemFreeAsync(at, on.raw()) })
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.freeing.finish().is_ok() && self.allocating.finish().is_ok() {
            // SAFETY: created in `new`; every allocation holds an Arc of the pool and is freed.
            let _ = unsafe { sys::cuMemPoolDestroy(self.raw) };
        }
    }
}

/// Owned device memory.
pub(crate) struct Allocation {
    at: Pointer,
    bytes: u64,
    users: AtomicU64,
    pool: Arc<Pool>,
}

impl Allocation {
    /// Its address, about to be used by work on the stream in `slot`.
    pub(crate) fn used_by(&self, slot: usize) -> Pointer {
        self.users.fetch_or(1 << slot, Ordering::AcqRel);
        self.at
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.pool.ours.fetch_sub(self.bytes, Ordering::Relaxed);
        // A failure here means that the context is gone, and the memory with it.
        let _ = self.pool.free_allocation(self.at, *self.users.get_mut());
    }
}
