//! The CUDA backend: cuzk's contract over the CUDA driver API.
//!
//! Nothing of CUDA is needed to build this crate. At run time `libcuda` (the driver) is loaded when a device is opened, and the kernels, whose
//! sources are part of the binary, come from a cache on disk or are compiled by NVRTC; whatever is missing is an error with its remedy.
//!
//! | looking for | where |
//! |---|---|
//! | kernels | `kernels/` beside this crate, one file a job |
//! | the driver's API, made safe | `driver/` |
//! | compiling and caching kernels | `kernels.rs`, `compiler.rs` |
//! | buffers, streams, transfers | `device.rs`, `memory.rs`, `driver/pool.rs` |
//! | an operation's host side | the module of its name |

mod backend;
mod classify;
mod compiler;
mod device;
mod driver;
mod kernels;
mod keys;
mod memory;
mod msm;
mod msm_host;
mod msm_plan;
mod ntt;
mod params;
mod pointwise;
mod spmv;
mod tables;

pub use backend::CudaBackend;
pub use device::CudaDevice;
pub use kernels::{BuiltModule, KernelCache, build_kernels};
pub use memory::{CudaBuffer, CudaEvent, CudaPages, CudaPinned, CudaStream};
