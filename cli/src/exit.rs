//! Exit codes, and what leads to them.

use std::io;
use std::path::Path;

use cuzk_core::backend::BackendError;
use cuzk_core::circuit::{CheckError, SetupError};
use cuzk_core::format::FormatError;
use cuzk_core::key::{self, Misfit};
use cuzk_core::prover::{PlanError, ProveError};
use cuzk_core::verify::VerifyError;

/// The codes as help, man page and reference print them.
pub const TABLE: &str = "\
Exit codes:
  0    done; a checked proof or witness is valid
  1    the proof is not valid, or the witness does not satisfy the circuit
  2    usage or bad input: wrong flags, a missing or malformed file, files that do not fit each other
  3    the backend or device is not available
  4    out of memory, or over a given memory limit
  5    cancelled or past a deadline
  70   internal error
  74   input/output error: the operating system refused, the disk is full
  130  interrupted (Ctrl-C, SIGTERM)";

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Ok = 0,
    /// The answer is no.
    Invalid = 1,
    /// The caller's mistake.
    Usage = 2,
    /// No such backend or device.
    Unavailable = 3,
    /// Out of memory.
    OutOfMemory = 4,
    /// Cancelled or late.
    Cancelled = 5,
    /// Our mistake.
    Internal = 70,
    /// The operating system refused.
    Io = 74,
    /// Ctrl-C.
    Interrupted = 130,
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// An error of a command: one line, and the code it ends in.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Ends the process with this.
    pub exit: Exit,
    /// One line that names the file or device and, where there is one, the remedy.
    pub message: String,
}

/// The outcome of a command.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// With this code.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }
    /// The caller's mistake.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }
    /// A negative answer.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Exit::Invalid, message)
    }
    /// Should not happen.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Exit::Internal, message)
    }
    /// Puts what was being done, or which file it was about, in front.
    pub fn within(self, what: impl std::fmt::Display) -> Self {
        Self { exit: self.exit, message: format!("{what}: {}", self.message) }
    }

    /// Puts a file's name in front of a message about it that does not name it.
    pub fn about(self, path: &Path) -> Self {
        let name = path.display().to_string();
        if self.exit == Exit::Invalid && !self.message.contains(&name) { self.within(name) } else { self }
    }

    /// From the operating system, about a path. What the caller named wrongly is usage; the rest is input/output.
    pub fn io(path: &Path, error: &io::Error) -> Self {
        Self::new(io_exit(error), format!("{}: {}", path.display(), plain(error)))
    }
}

/// A missing file or a folder in a file's place is the caller's mistake; a refusal, a full disk or a fault is not.
fn io_exit(error: &io::Error) -> Exit {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory => Exit::Usage,
        io::ErrorKind::InvalidFilename | io::ErrorKind::AlreadyExists => Exit::Usage,
        io::ErrorKind::OutOfMemory => Exit::OutOfMemory,
        _ => Exit::Io,
    }
}

/// The message without "(os error 2)".
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(at) => text[..at].to_lowercase(),
        None => text,
    }
}

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        match error {
            FormatError::Io { file, source } => Self::io(Path::new(&file), &source),
            FormatError::Cancelled { .. } => Self::new(Exit::Cancelled, error.to_string()),
            _ => Self::usage(error.to_string()),
        }
    }
}

impl From<BackendError> for Failure {
    fn from(error: BackendError) -> Self {
        let exit = match &error {
            BackendError::OutOfMemory { .. } => Exit::OutOfMemory,
            BackendError::Unavailable { .. }
            | BackendError::DeviceLost { .. }
            | BackendError::Unsupported { .. } => Exit::Unavailable,
            BackendError::Cancelled => Exit::Cancelled,
            _ => Exit::Internal,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        Self::new(Exit::OutOfMemory, error.to_string())
    }
}

impl From<Misfit> for Failure {
    fn from(error: Misfit) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<key::CheckError> for Failure {
    fn from(error: key::CheckError) -> Self {
        let exit = if matches!(error, key::CheckError::Cancelled) { Exit::Cancelled } else { Exit::Usage };
        Self::new(exit, error.to_string())
    }
}

impl From<VerifyError> for Failure {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::Randomness(_) => Self::new(Exit::Io, error.to_string()),
            _ => Self::usage(error.to_string()),
        }
    }
}

impl From<CheckError> for Failure {
    fn from(error: CheckError) -> Self {
        let exit = if matches!(error, CheckError::Cancelled) { Exit::Cancelled } else { Exit::Usage };
        Self::new(exit, error.to_string())
    }
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        match error {
            SetupError::Backend(error) => error.into(),
            SetupError::Cancelled => Self::new(Exit::Cancelled, error.to_string()),
            SetupError::Randomness(_) => Self::new(Exit::Io, error.to_string()),
            SetupError::BadSecret(_) => Self::internal(error.to_string()),
            _ => Self::usage(error.to_string()),
        }
    }
}

impl From<ProveError> for Failure {
    fn from(error: ProveError) -> Self {
        let exit = match error {
            ProveError::Backend(error) => return error.into(),
            ProveError::Plan(error) => return error.into(),
            ProveError::Verify(error) => return error.into(),
            ProveError::NotVerified { .. } => Exit::Invalid,
            ProveError::Misfit(_) | ProveError::BadKey(_) | ProveError::KeyPoint { .. } => Exit::Usage,
            ProveError::Cancelled | ProveError::Deadline => Exit::Cancelled,
            ProveError::Randomness(_) => Exit::Io,
            _ => Exit::Internal,
        };
        Self::new(exit, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_in_the_table() {
        use Exit::*;
        for exit in [Ok, Invalid, Usage, Unavailable, OutOfMemory, Cancelled, Internal, Io, Interrupted] {
            assert!(TABLE.contains(&format!("\n  {:<4} ", exit.code())), "{exit:?}");
        }
    }

    #[test]
    fn library_errors() {
        use cuzk_core::prover::ProveError;
        let oom =
            BackendError::OutOfMemory { device: "d".into(), label: "l".into(), requested: 2, available: 1 };
        let lost = BackendError::DeviceLost { device: "d".into(), op: "msm", reason: "unplugged".into() };
        let kernel = BackendError::Kernel { name: "ntt".into(), log: "line 1".into() };
        let not_verified = ProveError::NotVerified { message: "m".into(), differing_input: None };
        for (error, exit) in [
            (not_verified, Exit::Invalid),
            (ProveError::Backend(lost), Exit::Unavailable),
            (ProveError::Backend(oom), Exit::OutOfMemory),
            (ProveError::Backend(kernel), Exit::Internal),
            (ProveError::Cancelled, Exit::Cancelled),
            (ProveError::Deadline, Exit::Cancelled),
            (ProveError::UnknownKey(1), Exit::Internal),
        ] {
            let shown = error.to_string();
            assert_eq!(Failure::from(error).exit, exit, "{shown}");
        }
        assert_eq!(Failure::from(CheckError::Cancelled).exit, Exit::Cancelled);
        assert_eq!(Failure::from(SetupError::Cancelled).exit, Exit::Cancelled);
        let no_randomness = || cuzk_core::NoRandomness("none".into());
        assert_eq!(Failure::from(SetupError::from(no_randomness())).exit, Exit::Io);
        assert_eq!(Failure::from(ProveError::from(no_randomness())).exit, Exit::Io);
        assert_eq!(Failure::from(SetupError::Unconstrained { wire: 3 }).exit, Exit::Usage);
        assert_eq!(Failure::from(key::CheckError::Cancelled).exit, Exit::Cancelled);
    }

    #[test]
    fn operating_system_errors() {
        let exit = |kind: io::ErrorKind| Failure::io(Path::new("f"), &kind.into()).exit;
        assert_eq!(exit(io::ErrorKind::NotFound), Exit::Usage);
        assert_eq!(exit(io::ErrorKind::IsADirectory), Exit::Usage);
        assert_eq!(exit(io::ErrorKind::PermissionDenied), Exit::Io);
        assert_eq!(exit(io::ErrorKind::StorageFull), Exit::Io);
        let full = Failure::io(Path::new("out/p.json"), &io::Error::from_raw_os_error(28));
        assert_eq!(full.message, "out/p.json: no space left on device");
    }
}
