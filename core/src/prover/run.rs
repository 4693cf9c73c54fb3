//! The way of one proof through its stages: cancellation and deadline at every boundary, and the time each stage took.

use std::time::{Duration, Instant};

use super::ProveError;
use crate::backend::{Device, Result as BackendResult};
use crate::progress::{CancelToken, Control, Stage};

/// What may stop a proof.
#[derive(Clone)]
pub(super) struct Stop {
    /// The caller's token, which may be shared.
    shared: CancelToken,
    /// Cancels this proof alone.
    own: CancelToken,
    deadline: Option<Instant>,
}

impl Stop {
    pub(super) fn cancel(&self) {
        self.own.cancel();
    }

    /// Whether to go on.
    pub(super) fn check(&self) -> Result<(), ProveError> {
        if self.shared.is_cancelled() || self.own.is_cancelled() {
            return Err(ProveError::Cancelled);
        }
        match self.deadline {
            Some(deadline) if Instant::now() > deadline => Err(ProveError::Deadline),
            _ => Ok(()),
        }
    }
}

/// One proof on its way.
pub(super) struct Run<D: Device> {
    control: Control,
    stop: Stop,
    stages: Vec<Timed<D>>,
}

struct Timed<D: Device> {
    stage: Stage,
    host: Duration,
    device: Option<(D::Event, D::Event)>,
}

impl<D: Device> Run<D> {
    pub(super) fn new(control: Control, deadline: Option<Instant>) -> Self {
        let stop = Stop { shared: control.cancel.clone(), own: CancelToken::default(), deadline };
        Self { control, stop, stages: Vec::new() }
    }

    /// What may stop it.
    pub(super) fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Whether to go on.
    pub(super) fn check(&self) -> Result<(), ProveError> {
        self.stop.check()
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
