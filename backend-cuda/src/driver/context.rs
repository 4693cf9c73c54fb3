//! One device's primary context: probing, attributes, and what happens when the device is lost.
#![expect(unsafe_code, reason = "foreign functions of the CUDA driver")]

use std::ffi::{CStr, c_char, c_int};
use std::sync::Arc;
use std::sync::OnceLock;

use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUresult};
use cuzk_core::backend::{BackendError, Result};

use super::unavailable;

/// Every symbol this backend calls: looked for before the first call, because cudarc panics on one that is missing.
const SYMBOLS: [&str; 44] = [
    "cuCtxSetCurrent",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxReset_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDeviceTotalMem_v2",
    "cuDriverGetVersion",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventElapsedTime",
    "cuEventQuery",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuFuncSetAttribute",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuInit",
    "cuLaunchKernel",
    "cuMemAllocFromPoolAsync",
    "cuMemFreeAsync",
    "cuMemFreeHost",
    "cuMemGetInfo_v2",
    "cuMemHostAlloc",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuMemPoolCreate",
    "cuMemPoolDestroy",
    "cuMemPoolGetAttribute",
    "cuMemPoolSetAttribute",
    "cuMemPoolTrimTo",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemsetD8Async",
    "cuModuleGetFunction",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
];

/// Facts of a device, read once.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) name: String,
    pub(crate) capability: (u32, u32),
    pub(crate) multiprocessors: u32,
    pub(crate) total_memory: u64,
    pub(crate) integrated: bool,
    pub(crate) driver: (u32, u32),
    pub(crate) bus: String,
}

impl Facts {
    /// 90 for sm_90.
    pub(crate) fn arch(&self) -> u32 {
        self.capability.0 * 10 + self.capability.1
    }
}

/// The primary context of one device, retained. Poisoned for good by the first error that the driver does not recover from.
pub(crate) struct Context {
    raw: sys::CUcontext,
    device: sys::CUdevice,
    pub(crate) facts: Facts,
    lost: OnceLock<(&'static str, String)>,
}

// SAFETY: a CUcontext may be used from any thread once it is made current there, which `bind` does before every call.
unsafe impl Send for Context {}
// SAFETY: as above; the driver serialises what must be.
unsafe impl Sync for Context {}

/// Loads libcuda, or says why it cannot be used and what to do.
fn probe() -> Result<()> {
    // SAFETY: opens and closes a shared library.
    if !unsafe { sys::is_culib_present() } {
        return Err(unavailable(
            "libcuda.so.1 was not found: install the NVIDIA driver (and in a container pass the GPU through), \
             or choose another backend",
        ));
    }
    // SAFETY: the library is present, so this loads it and does not panic; symbols are looked up by name and not called.
    let missing = unsafe {
        let library = sys::culib();
        SYMBOLS.iter().find(|name| library.get::<unsafe extern "C" fn()>(name.as_bytes()).is_err())
    };
    match missing {
        None => Ok(()),
        Some(symbol) => Err(unavailable(format!(
            "the NVIDIA driver is too old: it lacks {symbol}; install driver 525 or newer (CUDA 12)"
        ))),
    }
}

fn describe(code: CUresult) -> String {
    let mut text: [*const c_char; 2] = [std::ptr::null(); 2];
    // SAFETY: both functions write a pointer to a static string, or leave the null.
    unsafe {
        let _ = sys::cuGetErrorName(code, &mut text[0]);
        let _ = sys::cuGetErrorString(code, &mut text[1]);
    }
    let [name, words] = text.map(|p| {
        if p.is_null() {
            return "unknown error".to_owned();
        }
        // SAFETY: not null, so a static zero-terminated string of the driver.
        unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned()
    });
    format!("{name} ({words})")
}

/// `cuInit`, the number of devices and the driver's version.
fn initialise() -> Result<(usize, (u32, u32))> {
    probe()?;
    let start = |code: CUresult, what: &str| match code {
        CUresult::CUDA_SUCCESS => Ok(()),
        CUresult::CUDA_ERROR_NO_DEVICE => Err(unavailable(
            "the driver sees no CUDA device: check nvidia-smi and CUDA_VISIBLE_DEVICES, or choose another backend",
        )),
        code => Err(unavailable(format!("{what} failed: {}; check nvidia-smi", describe(code)))),
    };
    let (mut version, mut count): (c_int, c_int) = (0, 0);
    // SAFETY: the functions exist (probe) and write to the integers given.
    unsafe {
        start(sys::cuInit(0), "cuInit")?;
        start(sys::cuDriverGetVersion(&mut version), "cuDriverGetVersion")?;
        start(sys::cuDeviceGetCount(&mut count), "cuDeviceGetCount")?;
    }
    let version = version.unsigned_abs();
    Ok((count.unsigned_abs() as usize, (version / 1000, version % 1000 / 10)))
}

impl Context {
    /// Number of CUDA devices.
    pub(crate) fn count() -> Result<usize> {
        Ok(initialise()?.0)
    }

    /// Facts of device `index`, or why it cannot be used.
    pub(crate) fn facts_of(index: usize) -> Result<Facts> {
        Ok(Self::find(index)?.1)
    }

    fn find(index: usize) -> Result<(sys::CUdevice, Facts)> {
        let (count, driver) = initialise()?;
        if index >= count {
            return Err(unavailable(format!("there is no CUDA device {index}: {count} found")));
        }
        let fail =
            |what: &str, code| unavailable(format!("{what} on device {index} failed: {}", describe(code)));
        let mut device: sys::CUdevice = 0;
        // SAFETY: plain out-parameters; the index is in range.
        let facts = unsafe {
            ok(sys::cuDeviceGet(&mut device, index as c_int)).map_err(|c| fail("cuDeviceGet", c))?;
            read_facts(device, driver).map_err(|c| fail("reading attributes", c))?
        };
        if facts.capability < (7, 5) {
            return Err(unavailable(format!(
                "{} has compute capability {}.{}; 7.5 (Turing) or newer is needed",
                facts.name, facts.capability.0, facts.capability.1
            )));
        }
        Ok((device, facts))
    }

    /// Opens device `index`.
    pub(crate) fn open(index: usize) -> Result<Arc<Self>> {
        let (device, facts) = Self::find(index)?;
        let mut raw: sys::CUcontext = std::ptr::null_mut();
        // SAFETY: the device was found; the context is released in `drop`.
        ok(unsafe { sys::cuDevicePrimaryCtxRetain(&mut raw, device) }).map_err(|code| {
            unavailable(format!("creating a context on device {index} failed: {}", describe(code)))
        })?;
        Ok(Arc::new(Self { raw, device, facts, lost: OnceLock::new() }))
    }

    /// Throws the lost context away, so that the next [`Context::open`] makes a fresh one.
    pub(crate) fn reset(&self) -> Result<()> {
        // SAFETY: the device exists; whatever the context owned is invalid from here on, which a lost context's is anyway.
        let code = unsafe { sys::cuDevicePrimaryCtxReset_v2(self.device) };
        ok(code).map_err(|c| unavailable(format!("resetting {} failed: {}", self.facts.name, describe(c))))
    }

    /// Whether the device was lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// Makes the context current on this thread; fails at once where the device was lost.
    pub(crate) fn bind(&self, op: &'static str) -> Result<()> {
        if let Some((first, reason)) = self.lost.get() {
            return Err(self.lost_error(first, reason));
        }
        // SAFETY: `raw` is retained for as long as `self` lives.
        let code = unsafe { sys::cuCtxSetCurrent(self.raw) };
        self.check(op, code)
    }

    fn lost_error(&self, op: &'static str, reason: &str) -> BackendError {
        BackendError::DeviceLost { device: self.facts.name.clone(), op, reason: reason.to_owned() }
    }

    /// What a result code means. Everything but a refused allocation or an argument that the driver did not like is the end of the context.
    pub(crate) fn check(&self, op: &'static str, code: CUresult) -> Result<()> {
        match code {
            CUresult::CUDA_SUCCESS => Ok(()),
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => Err(BackendError::OutOfMemory {
                device: self.facts.name.clone(),
                label: op.into(),
                requested: 0,
                available: 0,
            }),
            CUresult::CUDA_ERROR_INVALID_VALUE
            | CUresult::CUDA_ERROR_INVALID_HANDLE
            | CUresult::CUDA_ERROR_NOT_SUPPORTED
            | CUresult::CUDA_ERROR_NOT_FOUND
            | CUresult::CUDA_ERROR_INVALID_IMAGE
            | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
            | CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
            | CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
            | CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED => {
                Err(BackendError::Kernel { name: op.into(), log: describe(code) })
            }
            code => {
                let reason = describe(code);
                let (first, reason) = self.lost.get_or_init(|| (op, reason));
                Err(self.lost_error(first, reason))
            }
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained once in `open`; everything that used the context holds an Arc of it and is gone.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

fn ok(code: CUresult) -> std::result::Result<(), CUresult> {
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(code) }
}

/// SAFETY: `device` must come from `cuDeviceGet`.
unsafe fn read_facts(device: sys::CUdevice, driver: (u32, u32)) -> std::result::Result<Facts, CUresult> {
    let attribute = |which: Attribute| {
        let mut value: c_int = 0;
        // SAFETY: writes one integer.
        ok(unsafe { sys::cuDeviceGetAttribute(&mut value, which, device) })?;
        Ok::<u32, CUresult>(value.unsigned_abs())
    };
    let mut name = [0 as c_char; 256];
    let mut total_memory: usize = 0;
    // SAFETY: the buffer's length is passed; the driver terminates the string. The size is one out-parameter.
    unsafe {
        ok(sys::cuDeviceGetName(name.as_mut_ptr(), name.len() as c_int - 1, device))?;
        ok(sys::cuDeviceTotalMem_v2(&mut total_memory, device))?;
    }
    // SAFETY: the array ends with a zero that the driver was not given.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
    let bus = [
        attribute(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)?,
        attribute(Attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?,
        attribute(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?,
    ];
    Ok(Facts {
        name,
        capability: (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        total_memory: total_memory as u64,
        integrated: attribute(Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED)? != 0,
        driver,
        bus: format!("{:04x}:{:02x}:{:02x}", bus[0], bus[1], bus[2]),
    })
}
