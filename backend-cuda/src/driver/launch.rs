//! Kernel launches.
#![expect(unsafe_code, reason = "kernel parameters and launches")]

use std::ffi::c_void;

use cudarc::driver::sys;
use cuzk_core::backend::Result;

use super::{Function, RawStream};

/// A type that kernels take by value.
///
/// # Safety
/// Plain data without padding whose layout is the same in Rust and in the kernel; alignment at most 8.
pub(crate) unsafe trait Param: Copy {}
// SAFETY: plain integers.
unsafe impl Param for u32 {}
// SAFETY: plain integers; device addresses too.
unsafe impl Param for u64 {}

/// Arguments of a launch, in order.
#[derive(Default)]
pub(crate) struct Args {
    storage: Vec<u64>,
    offsets: Vec<usize>,
}

impl Args {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Appends an argument.
    pub(crate) fn arg<T: Param>(mut self, value: T) -> Self {
        let at = self.storage.len();
        self.storage.resize(at + size_of::<T>().div_ceil(8), 0);
        // SAFETY: the storage from `at` on has room for T and is aligned to 8, which `Param` promises to be enough.
        unsafe { self.storage.as_mut_ptr().add(at).cast::<T>().write(value) };
        self.offsets.push(at);
        self
    }
}

/// Shape of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch {
    /// Blocks.
    pub(crate) grid: (u32, u32),
    /// Threads of a block.
    pub(crate) block: u32,
    /// Dynamic shared memory of a block, bytes.
    pub(crate) shared: u32,
}

impl Launch {
    /// Enough blocks of `block` threads for `threads`.
    pub(crate) fn cover(threads: u64, block: u32) -> Self {
        Self {
            grid: (u32::try_from(threads.div_ceil(block.into())).unwrap_or(u32::MAX), 1),
            block,
            shared: 0,
        }
    }
    /// The same with dynamic shared memory.
    pub(crate) fn shared(self, shared: usize) -> Self {
        Self { shared: u32::try_from(shared).unwrap_or(u32::MAX), ..self }
    }

    /// Queues the kernel. Buffers in `args` must be those the kernel was written for: the operations' modules are the only callers, and check lengths first.
    pub(crate) fn run(self, stream: &RawStream, function: Function, args: Args) -> Result<()> {
        if self.grid.0 == 0 || self.grid.1 == 0 {
            return Ok(());
        }
        stream.context().bind(function.name)?;
        let Args { mut storage, offsets } = args;
        let base = storage.as_mut_ptr();
        // SAFETY: the offsets are inside the storage.
        let mut pointers: Vec<*mut c_void> =
            offsets.iter().map(|at| unsafe { base.add(*at).cast() }).collect();
        // SAFETY: the function belongs to a module kept by the backend; parameters are copied during the call.
        let code = unsafe {
            sys::cuLaunchKernel(
                function.raw,
                self.grid.0,
                self.grid.1,
                1,
                self.block,
                1,
                1,
                self.shared,
                stream.raw(),
                pointers.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        stream.context().check(function.name, code)
    }
}
