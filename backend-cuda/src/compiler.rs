//! NVRTC, loaded at run time: compiles kernels without a driver or a toolkit.
#![expect(unsafe_code, reason = "foreign functions of NVRTC")]

use std::ffi::{CString, c_char, c_int};

use cudarc::nvrtc::sys::{self, nvrtcResult};
use cuzk_core::backend::{BackendError, Result};

use crate::kernels::HEADERS;

/// The NVRTC of this machine.
pub(crate) struct Compiler {
    version: (c_int, c_int),
}

/// What to do where there is none.
const REMEDY: &str = "libnvrtc was not found: install the CUDA toolkit 12 or 13, or `pip install nvidia-cuda-nvrtc-cu12==12.9.*` and add its \
     lib folder to LD_LIBRARY_PATH, or copy a kernel cache made elsewhere for this architecture";

impl Compiler {
    /// Finds NVRTC, or says what to do about its absence.
    pub(crate) fn find() -> std::result::Result<Self, String> {
        // SAFETY: opens and closes a shared library.
        if !unsafe { sys::is_culib_present() } {
            return Err(REMEDY.into());
        }
        let mut version = (0, 0);
        // SAFETY: the library is present; two out-parameters.
        let code = unsafe { sys::nvrtcVersion(&mut version.0, &mut version.1) };
        if code != nvrtcResult::NVRTC_SUCCESS || version.0 < 12 {
            return Err(format!("libnvrtc {}.{} is too old: {REMEDY}", version.0, version.1));
        }
        Ok(Self { version })
    }

    /// "12.9"
    pub(crate) fn version(&self) -> String {
        format!("{}.{}", self.version.0, self.version.1)
    }

    /// Machine code of a source for sm_`arch`.
    pub(crate) fn compile(&self, name: &str, source: &str, arch: u32) -> Result<Vec<u8>> {
        let failed = |log: String| BackendError::Kernel { name: name.into(), log };
        let c = |text: &str| CString::new(text).map_err(|e| failed(e.to_string()));
        let (c_source, c_name) = (c(source)?, c(&format!("{name}.cu"))?);
        let headers = HEADERS.iter().map(|(_, text)| c(text)).collect::<Result<Vec<_>>>()?;
        let names = HEADERS.iter().map(|(name, _)| c(name)).collect::<Result<Vec<_>>>()?;
        let options = [c(&format!("--gpu-architecture=sm_{arch}"))?, c("--std=c++17")?, c("-lineinfo")?];
        let pointers = |strings: &[CString]| strings.iter().map(|s| s.as_ptr()).collect::<Vec<_>>();
        let (headers, names, options) = (pointers(&headers), pointers(&names), pointers(&options));
        let mut program = Program(std::ptr::null_mut());
        // SAFETY: all strings are terminated and outlive the calls; the counts are those of the arrays.
        unsafe {
            let code = sys::nvrtcCreateProgram(
                &mut program.0,
                c_source.as_ptr(),
                c_name.as_ptr(),
                headers.len() as c_int,
                headers.as_ptr(),
                names.as_ptr(),
            );
            if code != nvrtcResult::NVRTC_SUCCESS {
                return Err(failed(format!("NVRTC {}: {code:?}", self.version())));
            }
            let code = sys::nvrtcCompileProgram(program.0, options.len() as c_int, options.as_ptr());
            if code != nvrtcResult::NVRTC_SUCCESS {
                return Err(failed(self.explain(code, &program.log())));
            }
            let mut size = 0usize;
            let _ = sys::nvrtcGetCUBINSize(program.0, &mut size);
            let mut image = vec![0u8; size];
            let code = sys::nvrtcGetCUBIN(program.0, image.as_mut_ptr().cast::<c_char>());
            if code != nvrtcResult::NVRTC_SUCCESS || size == 0 {
                return Err(failed(format!("NVRTC {} gave no machine code: {code:?}", self.version())));
            }
            Ok(image)
        }
    }

    fn explain(&self, code: nvrtcResult, log: &str) -> String {
        let builtins = code == nvrtcResult::NVRTC_ERROR_BUILTIN_OPERATION_FAILURE;
        let hint = if builtins || log.contains("libnvrtc-builtins") {
            "; libnvrtc-builtins must lie beside libnvrtc, in a folder of LD_LIBRARY_PATH"
        } else {
            ""
        };
        format!("NVRTC {}: {code:?}{hint}: {log}", self.version())
    }
}

struct Program(sys::nvrtcProgram);

impl Program {
    fn log(&self) -> String {
        let mut size = 0usize;
        // SAFETY: the program is alive; the buffer has the size asked for.
        unsafe {
            let _ = sys::nvrtcGetProgramLogSize(self.0, &mut size);
            let mut log = vec![0u8; size];
            let _ = sys::nvrtcGetProgramLog(self.0, log.as_mut_ptr().cast::<c_char>());
            String::from_utf8_lossy(&log).trim_end_matches('\0').trim().to_owned()
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: created once, destroyed once.
            let _ = unsafe { sys::nvrtcDestroyProgram(&mut self.0) };
        }
    }
}
