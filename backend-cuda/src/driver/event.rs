//! Events.
#![expect(unsafe_code, reason = "foreign functions of the CUDA driver")]

use std::sync::Arc;
use std::time::Duration;

use cudarc::driver::sys::{self, CUresult};
use cuzk_core::backend::Result;

use super::Context;

/// A point in a stream, with a time stamp.
pub(crate) struct RawEvent {
    raw: sys::CUevent,
    context: Arc<Context>,
}

// SAFETY: events may be used from any thread.
unsafe impl Send for RawEvent {}
// SAFETY: as above.
unsafe impl Sync for RawEvent {}

impl RawEvent {
    pub(super) fn new(context: &Arc<Context>) -> Result<Self> {
        context.bind("event")?;
        let mut raw = std::ptr::null_mut();
        let flags = sys::CUevent_flags::CU_EVENT_DEFAULT as u32;
        // SAFETY: one out-parameter.
        context.check("event", unsafe { sys::cuEventCreate(&mut raw, flags) })?;
        Ok(Self { raw, context: Arc::clone(context) })
    }
    pub(super) fn raw(&self) -> sys::CUevent {
        self.raw
    }

    /// Whether the work before it is done.
    pub(crate) fn is_complete(&self) -> Result<bool> {
        self.context.bind("event")?;
        // SAFETY: the handle is alive.
        match unsafe { sys::cuEventQuery(self.raw) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            code => self.context.check("event", code).map(|()| true),
        }
    }

    /// Blocks until the work before it is done.
    pub(crate) fn wait(&self) -> Result<()> {
        self.context.bind("wait")?;
        // SAFETY: the handle is alive.
        self.context.check("wait", unsafe { sys::cuEventSynchronize(self.raw) })
    }

    /// Time from `self` to `later`, both complete.
    pub(crate) fn until(&self, later: &Self) -> Result<Duration> {
        self.context.bind("elapsed")?;
        let mut milliseconds = 0f32;
        // SAFETY: one out-parameter; both handles are alive.
        let code = unsafe { sys::cuEventElapsedTime(&mut milliseconds, self.raw, later.raw) };
        self.context.check("elapsed", code)?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1e3))
    }
}

impl Drop for RawEvent {
    fn drop(&mut self) {
        if self.context.bind("event").is_ok() {
            // SAFETY: created in `new`, destroyed once; the driver keeps it until pending work on it is done.
            let _ = unsafe { sys::cuEventDestroy_v2(self.raw) };
        }
    }
}
