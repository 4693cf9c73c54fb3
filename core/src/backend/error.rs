//! What can go wrong on a device, with names and numbers.

/// The outcome of a backend call.
pub type Result<T, E = BackendError> = std::result::Result<T, E>;

/// An error of a backend. It covers only what the caller could not foresee, and the caller's mistakes that a backend must not
/// turn into wrong results.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// The allocation would leave less than the safety margin, or the driver refused it.
    #[error("out of memory on {device}: {label} needs {requested} bytes, {available} are available")]
    OutOfMemory {
        /// Device name.
        device: String,
        /// Name of the buffer.
        label: String,
        /// Bytes asked for.
        requested: u64,
        /// Bytes that could have been had.
        available: u64,
    },
    /// The device is gone or its context is unusable; it can be reopened.
    #[error("device {device} was lost during {op}: {reason}")]
    DeviceLost {
        /// Device name.
        device: String,
        /// What was running.
        op: &'static str,
        /// The driver's words.
        reason: String,
    },
    /// No such backend or device, or it cannot be used; the reason names the remedy.
    #[error("backend {backend} is not available: {reason}")]
    Unavailable {
        /// Name asked for.
        backend: String,
        /// Why, and what to do about it.
        reason: String,
    },
    /// The backend does not do this; `Unsupported` is an answer, not a fault.
    #[error("{op} is not supported by backend {backend}: {reason}")]
    Unsupported {
        /// Backend name.
        backend: String,
        /// The operation.
        op: &'static str,
        /// Why not.
        reason: String,
    },
    /// A kernel failed to build, load or launch.
    #[error("kernel {name} failed: {log}")]
    Kernel {
        /// Name of the kernel.
        name: String,
        /// Compiler or driver log.
        log: String,
    },
    /// Lengths, ranges or parameters that do not fit the operation.
    #[error("{op}: {what} must be {expected}, found {found}")]
    Invalid {
        /// The operation.
        op: &'static str,
        /// Which argument.
        what: &'static str,
        /// What the operation needs.
        expected: u64,
        /// What was given.
        found: u64,
    },
    /// Two backends disagree (only from `dual`).
    #[error("{op}: {left} and {right} disagree in {buffer}[{index}]: {difference}")]
    Mismatch {
        /// The operation whose results differ.
        op: &'static str,
        /// First backend.
        left: String,
        /// Second backend.
        right: String,
        /// Which result.
        buffer: &'static str,
        /// First differing element.
        index: usize,
        /// How it differs. Never a witness value, nor what is computed from one.
        difference: String,
    },
    /// A cancellation was seen at an operation boundary.
    #[error("cancelled")]
    Cancelled,
    /// Host-side failure: a key file that cannot be read, a thread that cannot be started.
    #[error("{what}: {reason}")]
    Host {
        /// What was attempted.
        what: String,
        /// Why it failed.
        reason: String,
    },
}

impl BackendError {
    /// Shorthand for a length that does not fit; `Ok` when it does.
    pub fn expect_len(op: &'static str, what: &'static str, expected: usize, found: usize) -> Result<()> {
        if expected == found {
            return Ok(());
        }
        Err(Self::Invalid { op, what, expected: expected as u64, found: found as u64 })
    }
}
