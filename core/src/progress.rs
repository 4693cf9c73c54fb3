//! What a long operation is doing: one observer interface for bars, timelines, metrics and cancellation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A stage of the work. The names are those of progress bars, JSON results, metrics and traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stage {
    /// Reading and checking files.
    Read,
    /// On-curve and subgroup checks of a key's points.
    CheckPoints,
    /// Moving a key to the device.
    LoadKey,
    /// Witness generation.
    Synthesise,
    /// Witness to the device.
    Upload,
    /// a = A z, b = B z.
    Spmv,
    /// a, b to the scalars of H.
    Quotient,
    /// The sums over the witness.
    WitnessMsms,
    /// The sum over H.
    HMsm,
    /// Adding up the proof's points.
    Finish,
    /// The pairing check.
    Verify,
    /// Making a key.
    Setup,
    /// Checking constraints.
    Check,
}

impl Stage {
    /// As written in results and traces.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Read => "read",
            Stage::CheckPoints => "check_points",
            Stage::LoadKey => "load_key",
            Stage::Synthesise => "synthesise",
            Stage::Upload => "upload",
            Stage::Spmv => "spmv",
            Stage::Quotient => "quotient",
            Stage::WitnessMsms => "witness_msms",
            Stage::HMsm => "h_msm",
            Stage::Finish => "finish",
            Stage::Verify => "verify",
            Stage::Setup => "setup",
            Stage::Check => "check",
        }
    }
}

/// What happened in a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// It began; `total` units of work where known.
    Begin {
        /// 0 where unknown.
        total: u64,
    },
    /// So much is done.
    Advance {
        /// Units done so far.
        done: u64,
    },
    /// It ended, with the device's own time where it has a clock.
    End {
        /// Time on the device.
        device: Option<Duration>,
    },
}

/// Receives progress; called from any thread, must return quickly.
pub trait Observer: Send + Sync {
    /// Something happened in `stage` at `at`.
    fn event(&self, stage: Stage, progress: Progress, at: Instant);
}

/// Observes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _: Stage, _: Progress, _: Instant) {}
}

/// Asks running work to stop at its next operation boundary.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Asks.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }
    /// Whether somebody asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// An observer and a cancellation, handed down through long work.
#[derive(Clone)]
pub struct Control {
    /// Who watches.
    pub observer: Arc<dyn Observer>,
    /// Who may stop it.
    pub cancel: CancelToken,
}

impl Default for Control {
    fn default() -> Self {
        Self { observer: Arc::new(Silent), cancel: CancelToken::default() }
    }
}

impl Control {
    /// Runs a stage between its begin and end events.
    pub fn stage<T>(&self, stage: Stage, total: u64, work: impl FnOnce() -> T) -> T {
        self.observer.event(stage, Progress::Begin { total }, Instant::now());
        let out = work();
        self.observer.event(stage, Progress::End { device: None }, Instant::now());
        out
    }
    /// Reports units done.
    pub fn advance(&self, stage: Stage, done: u64) {
        self.observer.event(stage, Progress::Advance { done }, Instant::now());
    }
}
