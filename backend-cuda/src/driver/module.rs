//! Loaded modules and their kernels.
#![expect(unsafe_code, reason = "foreign functions of the CUDA driver")]

use std::ffi::CString;
use std::sync::Arc;

use cudarc::driver::sys;
use cuzk_core::backend::{BackendError, Result};

use super::Context;

/// A kernel.
#[derive(Clone, Copy)]
pub(crate) struct Function {
    pub(super) raw: sys::CUfunction,
    /// Its name, for errors.
    pub(crate) name: &'static str,
}

// SAFETY: function handles are plain references into a loaded module, usable from any thread.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// Code on the device.
pub(crate) struct Module {
    raw: sys::CUmodule,
    context: Arc<Context>,
}

// SAFETY: modules may be used from any thread.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    /// Loads a cubin.
    pub(crate) fn load(context: &Arc<Context>, name: &'static str, image: &[u8]) -> Result<Self> {
        context.bind(name)?;
        // The driver reads a cubin's length from its header: it must be complete, which the cache's digest has shown.
        let mut raw = std::ptr::null_mut();
        // SAFETY: the image is alive during the call.
        context.check(name, unsafe { sys::cuModuleLoadData(&mut raw, image.as_ptr().cast()) })?;
        Ok(Self { raw, context: Arc::clone(context) })
    }

    /// A kernel of it, which may use `shared` bytes of dynamic shared memory.
    pub(crate) fn function(&self, name: &'static str, shared: u32) -> Result<Function> {
        self.context.bind(name)?;
        let c_name =
            CString::new(name).map_err(|e| BackendError::Kernel { name: name.into(), log: e.to_string() })?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the module is loaded, the name is terminated.
        self.context.check(name, unsafe { sys::cuModuleGetFunction(&mut raw, self.raw, c_name.as_ptr()) })?;
        if shared > 48 << 10 {
            let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            let bytes = i32::try_from(shared).unwrap_or(i32::MAX);
            // SAFETY: the function handle was just obtained.
            self.context.check(name, unsafe { sys::cuFuncSetAttribute(raw, attribute, bytes) })?;
        }
        Ok(Function { raw, name })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if self.context.bind("module").is_ok() {
            // SAFETY: loaded in `load`, unloaded once; the backend that launches its kernels is gone.
            let _ = unsafe { sys::cuModuleUnload(self.raw) };
        }
    }
}
