//! The CUDA driver API, as far as this backend needs it, behind safe functions.
//!
//! `libcuda` is loaded at run time. cudarc panics where the library or a symbol is missing, so both are looked for before the first call:
//! [`Context::open`] answers [`BackendError::Unavailable`] with the remedy instead.
//!
//! All memory safety towards the driver is kept here: handles are owned and destroyed once, host memory outlives the copies on it,
//! and ranges are checked by the callers in [`crate::memory`] before a pointer reaches the device.

mod context;
mod event;
mod launch;
mod module;
mod pinned;
mod pool;
mod stream;

pub(crate) use context::{Context, Facts};
pub(crate) use event::RawEvent;
pub(crate) use launch::{Args, Launch, Param};
pub(crate) use module::{Function, Module};
pub(crate) use pinned::{HostBlock, HostPool, Registration};
pub(crate) use pool::{Allocation, Pool};
pub(crate) use stream::RawStream;

use cuzk_core::backend::BackendError;

/// A device address.
pub(crate) type Pointer = u64;

/// Backend name in errors.
pub(crate) const NAME: &str = "cuda";

/// The error for a device that cannot be used, with what to do about it.
pub(crate) fn unavailable(reason: impl Into<String>) -> BackendError {
    BackendError::Unavailable { backend: NAME.into(), reason: reason.into() }
}
