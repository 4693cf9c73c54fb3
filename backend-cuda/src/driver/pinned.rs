//! Page-locked host memory: a pool of our own, and existing pages made known to the driver.
#![expect(unsafe_code, reason = "foreign functions of the CUDA driver, and slices over their memory")]

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys;
use cuzk_core::backend::{BackendError, Result, SharedBytes};

use super::{Context, NAME};

/// Blocks of page-locked memory by size class; given back to the driver when the pool goes.
pub(crate) struct HostPool {
    context: Arc<Context>,
    free: Mutex<Vec<RawBlock>>,
    bytes: AtomicU64,
}

struct RawBlock {
    at: *mut u8,
    capacity: usize,
}
// SAFETY: a block is owned memory.
unsafe impl Send for RawBlock {}

impl HostPool {
    pub(crate) fn new(context: &Arc<Context>) -> Arc<Self> {
        Arc::new(Self { context: Arc::clone(context), free: Mutex::default(), bytes: AtomicU64::new(0) })
    }
    /// Bytes held, free blocks included.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// A block of at least `bytes`, initialised.
    pub(crate) fn take(self: &Arc<Self>, label: &str, bytes: usize) -> Result<HostBlock> {
        let capacity = bytes.max(4096).checked_next_power_of_two().unwrap_or(usize::MAX);
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(i) = free.iter().position(|block| block.capacity == capacity) {
            let raw = free.swap_remove(i);
            return Ok(HostBlock { raw, pool: Arc::clone(self) });
        }
        drop(free);
        self.context.bind("pinned")?;
        let mut at: *mut c_void = std::ptr::null_mut();
        // SAFETY: one out-parameter.
        let code = unsafe { sys::cuMemHostAlloc(&mut at, capacity, sys::CU_MEMHOSTALLOC_PORTABLE) };
        self.context.check("pinned", code).map_err(|error| match error {
            BackendError::OutOfMemory { device, .. } => BackendError::OutOfMemory {
                device: format!("{device} (page-locked host memory)"),
                label: label.into(),
                requested: capacity as u64,
                available: 0,
            },
            other => other,
        })?;
        // SAFETY: `capacity` bytes were just allocated; zeros make the content initialised for any element type.
        unsafe { std::ptr::write_bytes(at.cast::<u8>(), 0, capacity) };
        self.bytes.fetch_add(capacity as u64, Ordering::Relaxed);
        Ok(HostBlock { raw: RawBlock { at: at.cast(), capacity }, pool: Arc::clone(self) })
    }
}

impl Drop for HostPool {
    fn drop(&mut self) {
        if self.context.bind("pinned").is_err() {
            return;
        }
        for block in self.free.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // SAFETY: allocated by cuMemHostAlloc, freed once: blocks in use hold an Arc of the pool.
            let _ = unsafe { sys::cuMemFreeHost(block.at.cast()) };
        }
    }
}

/// A block in use; back to its pool on drop. Copies on it must be done by then.
pub(crate) struct HostBlock {
    raw: RawBlock,
    pool: Arc<HostPool>,
}

// SAFETY: owned memory; shared references only read.
unsafe impl Sync for HostBlock {}

impl HostBlock {
    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.raw.at
    }
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.raw.at
    }
}

impl Drop for HostBlock {
    fn drop(&mut self) {
        let block = RawBlock { at: self.raw.at, capacity: self.raw.capacity };
        self.pool.free.lock().unwrap_or_else(PoisonError::into_inner).push(block);
    }
}

/// Pages of somebody else, registered with the driver.
pub(crate) struct Registration {
    pages: SharedBytes,
    context: Arc<Context>,
}

impl Registration {
    /// Registers `pages`; read-only where they can only be read (mapped files).
    pub(crate) fn new(context: &Arc<Context>, pages: SharedBytes) -> Result<Self> {
        let bytes = (*pages).as_ref();
        if !bytes.is_empty() {
            context.bind("register")?;
            let at = bytes.as_ptr().cast_mut().cast::<c_void>();
            let portable = sys::CU_MEMHOSTREGISTER_PORTABLE;
            let registered = [portable | sys::CU_MEMHOSTREGISTER_READ_ONLY, portable].iter().any(|flags| {
                // SAFETY: the pages are alive for as long as the registration; the driver only pins them.
                let code = unsafe { sys::cuMemHostRegister_v2(at, bytes.len(), *flags) };
                code == sys::CUresult::CUDA_SUCCESS
            });
            if !registered {
                return Err(BackendError::Unsupported {
                    backend: NAME.into(),
                    op: "register",
                    reason: "the driver cannot register these pages (a locked-memory limit, or a file system that refuses)"
                        .into(),
                });
            }
        }
        Ok(Self { pages, context: Arc::clone(context) })
    }
    pub(crate) fn bytes(&self) -> &[u8] {
        (*self.pages).as_ref()
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let bytes = (*self.pages).as_ref();
        if !bytes.is_empty() && self.context.bind("register").is_ok() {
            // SAFETY: registered in `new`, unregistered once; the driver waits for copies on these pages.
            let _ = unsafe { sys::cuMemHostUnregister(bytes.as_ptr().cast_mut().cast()) };
        }
    }
}
