//! Without a driver, a device or a compiler everything ends in an error that says why and what to do; nothing panics.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use cuzk_backend_cuda::{CudaBackend, KernelCache};
use cuzk_core::backend::{BackendError, OpenOptions};

/// On a machine with a GPU device 10,000 stands for what is not there.
#[test]
fn opening_says_why_not() {
    let options = OpenOptions { device: 10_000, ..OpenOptions::default() };
    match CudaBackend::open(&options, &KernelCache::none()) {
        Err(BackendError::Unavailable { backend, reason }) => {
            assert_eq!(backend, "cuda");
            assert!(reason.contains("driver") || reason.contains("device"), "{reason}");
        }
        Err(other) => panic!("unexpected: {other}"),
        Ok(_) => panic!("device 10000 was opened"),
    }
}

#[test]
fn counting_devices_does_not_panic() {
    if let Err(error) = CudaBackend::device_count() {
        assert!(matches!(error, BackendError::Unavailable { .. }), "{error}");
    }
}
