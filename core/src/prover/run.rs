//! The way of one proof through its stages: cancellation and deadline at every boundary, and the time each stage took.

use std::time::{Duration, Instant};

use super::ProveError;
use crate::backend::{Device, Result as BackendResult};
use crate::progress::{CancelToken, Control, Stage};

/// One proof on its way.
pub(super) struct Run<D: Device> {
    control: Control,
    /// Cancels this proof alone; the caller's token in `control` may be shared.
    own: CancelToken,
    deadline: Option<Instant>,
    stages: Vec<Timed<D>>,
}

struct Timed<D: Device> {
    stage: Stage,
    host: Duration,
    device: Option<(D::Event, D::Event)>,
}

impl<D: Device> Run<D> {
    pub(super) fn new(control: Control, deadline: Option<Instant>) -> Self {
        Self { control, own: CancelToken::default(), deadline, stages: Vec::new() }
    }

    /// The token that cancels this proof alone.
    pub(super) fn own_token(&self) -> CancelToken {
        self.own.clone()
    }

    /// Whether to go on.
    pub(super) fn check(&self) -> Result<(), ProveError> {
        if self.control.cancel.is_cancelled() || self.own.is_cancelled() {
            return Err(ProveError::Cancelled);
        }
        match self.deadline {
            Some(deadline) if Instant::now() > deadline => Err(ProveError::Deadline),
            _ => Ok(()),
        }
    }

    /// A stage that queues work on `stream`.
    pub(super) fn on_device<T>(
        &mut self,
        device: &D,
        stream: &D::Stream,
        stage: Stage,
        work: impl FnOnce() -> BackendResult<T>,
    ) -> Result<T, ProveError> {
        let from = device.record(stream)?;
        let out = self.on_host(stage, || Ok(work()?))?;
        let to = device.record(stream)?;
        if let Some(last) = self.stages.last_mut() {
            last.device = Some((from, to));
        }
        Ok(out)
    }

    /// A stage on the host.
    pub(super) fn on_host<T>(
        &mut self,
        stage: Stage,
        work: impl FnOnce() -> Result<T, ProveError>,
    ) -> Result<T, ProveError> {
        self.check()?;
        let begin = Instant::now();
        let out = self.control.stage(stage, 0, work)?;
        self.stages.push(Timed { stage, host: begin.elapsed(), device: None });
        Ok(out)
    }

    /// Time per stage; a device's clock goes before the host's. Call when the queued work is done.
    pub(super) fn timings(&self, device: &D) -> Vec<(Stage, Duration)> {
        let time = |timed: &Timed<D>| {
            let (from, to) = timed.device.as_ref()?;
            device.elapsed(from, to).ok().flatten()
        };
        self.stages.iter().map(|timed| (timed.stage, time(timed).unwrap_or(timed.host))).collect()
    }
}
