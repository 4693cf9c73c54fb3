//! Streams, and copies queued on them.
#![expect(unsafe_code, reason = "foreign functions of the CUDA driver")]

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::sys;
use cuzk_core::backend::Result;

use super::{Context, Pointer, RawEvent};

/// A stream that does not synchronise with the default stream.
pub(crate) struct RawStream {
    raw: sys::CUstream,
    context: Arc<Context>,
}

// SAFETY: streams may be used from any thread; the driver serialises calls on one stream.
unsafe impl Send for RawStream {}
// SAFETY: as above.
unsafe impl Sync for RawStream {}

impl RawStream {
    pub(crate) fn new(context: &Arc<Context>) -> Result<Self> {
        context.bind("stream")?;
        let mut raw = std::ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: one out-parameter.
        context.check("stream", unsafe { sys::cuStreamCreate(&mut raw, flags) })?;
        Ok(Self { raw, context: Arc::clone(context) })
    }

    pub(crate) fn raw(&self) -> sys::CUstream {
        self.raw
    }
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Marks the end of what is queued.
    pub(crate) fn record(&self) -> Result<RawEvent> {
        let event = RawEvent::new(&self.context)?;
        self.record_into(&event)?;
        Ok(event)
    }
    fn record_into(&self, event: &RawEvent) -> Result<()> {
        // SAFETY: both handles are alive.
        self.context.check("record", unsafe { sys::cuEventRecord(event.raw(), self.raw) })
    }

    /// Makes later work wait for `event`.
    pub(crate) fn wait_for(&self, event: &RawEvent) -> Result<()> {
        self.context.bind("wait_event")?;
        // SAFETY: both handles are alive.
        self.context.check("wait_event", unsafe { sys::cuStreamWaitEvent(self.raw, event.raw(), 0) })
    }

    /// Blocks until everything queued is done.
    pub(crate) fn finish(&self) -> Result<()> {
        self.context.bind("finish")?;
        // SAFETY: the handle is alive.
        self.context.check("finish", unsafe { sys::cuStreamSynchronize(self.raw) })
    }

    /// Queues zero bytes.
    pub(crate) fn clear(&self, at: Pointer, bytes: usize) -> Result<()> {
        self.fill(at, 0, bytes)
    }

    /// Queues bytes of one value.
    pub(crate) fn fill(&self, at: Pointer, value: u8, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.context.bind("fill")?;
        // SAFETY: callers pass ranges inside live allocations.
        self.context.check("fill", unsafe { sys::cuMemsetD8Async(at, value, bytes, self.raw) })
    }

    /// Queues a copy on the device.
    pub(crate) fn copy(&self, from: Pointer, to: Pointer, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.context.bind("copy")?;
        // SAFETY: callers pass ranges inside live allocations.
        self.context.check("copy", unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, bytes, self.raw) })
    }

    /// Queues a copy to the device. Pageable memory has been read when this returns; page-locked memory must stay until the copy is done.
    pub(crate) fn upload(&self, from: &[u8], to: Pointer) -> Result<()> {
        if from.is_empty() {
            return Ok(());
        }
        self.context.bind("upload")?;
        let source = from.as_ptr().cast::<c_void>();
        // SAFETY: the source is a live slice; the target range was checked by the caller.
        self.context.check("upload", unsafe { sys::cuMemcpyHtoDAsync_v2(to, source, from.len(), self.raw) })
    }

    /// Queues a copy to the host.
    ///
    /// # Safety
    /// `to` must stay alive and otherwise untouched until this stream has reached the end of the copy.
    pub(crate) unsafe fn download(&self, from: Pointer, to: *mut u8, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.context.bind("download")?;
        // SAFETY: by this function's contract.
        self.context.check("download", unsafe {
            sys::cuMemcpyDtoHAsync_v2(to.cast::<c_void>(), from, bytes, self.raw)
        })
    }

    /// Copies to the host and waits.
    pub(crate) fn download_now(&self, from: Pointer, to: &mut [u8]) -> Result<()> {
        // SAFETY: the slice is borrowed until the copy is done.
        unsafe { self.download(from, to.as_mut_ptr(), to.len())? };
        self.finish()
    }
}

impl Drop for RawStream {
    fn drop(&mut self) {
        // Buffers remember the streams that used them: none may be running once the stream is gone.
        if self.finish().is_ok() {
            // SAFETY: created in `new`, destroyed once.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.raw) };
        }
    }
}
