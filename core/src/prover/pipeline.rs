//! The three stages of a lane, one thread each. A job goes through them in order and ends in its slot, whatever happens.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::lane::{Loaded, lock};
use super::run::{Run, Stop};
use super::{Partition, ProofOutput, ProveError, Sums, compute, finish, upload};
use crate::backend::{Backend, Buffer, Device};
use crate::curve::Scalar;
use crate::progress::CancelToken;

type Outcome = Result<ProofOutput, ProveError>;

/// How often a proof in the queue looks whether it was stopped: a token and a deadline wake nobody.
const LOOK: Duration = Duration::from_millis(20);

/// Where the outcome of a job appears.
pub(super) struct Slot {
    state: Mutex<State>,
    done: Condvar,
    stop: Stop,
}

#[derive(Default)]
struct State {
    /// Whether the first stage has taken it up. Before that nobody but the waiting caller would notice that it was stopped.
    begun: bool,
    outcome: Option<Outcome>,
}

impl Slot {
    pub(super) fn new(stop: Stop) -> Self {
        Self { state: Mutex::default(), done: Condvar::new(), stop }
    }
    /// The first outcome counts.
    fn put(&self, outcome: Outcome) {
        lock(&self.state).outcome.get_or_insert(outcome);
        self.done.notify_all();
    }
    /// Takes the job up, unless it was stopped before.
    fn begin(&self) -> Result<(), ProveError> {
        let mut state = lock(&self.state);
        state.begun = true;
        self.stop.check()
    }
    /// With the outcome of a job that was stopped in the queue.
    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = lock(&self.state);
        self.look(&mut state);
        state
    }
    fn look(&self, state: &mut State) {
        if let (false, None, Err(stopped)) = (state.begun, &state.outcome, self.stop.check()) {
            state.outcome = Some(Err(stopped));
        }
    }
    pub(super) fn is_done(&self) -> bool {
        self.state().outcome.is_some()
    }
    pub(super) fn wait(&self) -> Outcome {
        let mut state = self.state();
        loop {
            if let Some(outcome) = state.outcome.take() {
                return outcome;
            }
            state = if state.begun {
                self.done.wait(state).unwrap_or_else(PoisonError::into_inner)
            } else {
                self.done.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0
            };
            self.look(&mut state);
        }
    }
}

/// One proof to be made.
pub(super) struct Job<B: Backend> {
    pub(super) loaded: Arc<Loaded<B>>,
    pub(super) partition: Partition,
    pub(super) run: Run<B::Device>,
    pub(super) slot: Arc<Slot>,
}

/// A job that is dropped on its way (its stage panicked, the lane is gone) still has an outcome.
impl<B: Backend> Drop for Job<B> {
    fn drop(&mut self) {
        self.slot.put(Err(ProveError::Cancelled));
    }
}

/// Bounds the partitions whose witness is on the device.
#[derive(Default)]
struct Gate {
    inside: Mutex<usize>,
    left: Condvar,
}

/// What a partition that must be alone counts as: more than any limit.
const ALONE: usize = usize::MAX / 2;

impl Gate {
    fn enter(self: &Arc<Self>, limit: usize) -> Inside {
        let mut inside = lock(&self.inside);
        while *inside >= limit.max(1) {
            inside = self.left.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
        *inside += 1;
        Inside { gate: self.clone(), weight: 1 }
    }

    /// The whole device, if nobody is inside. Does not wait: those inside may be waiting for the caller.
    fn try_alone(self: &Arc<Self>) -> Option<Inside> {
        let mut inside = lock(&self.inside);
        (*inside == 0).then(|| {
            *inside = ALONE;
            Inside { gate: self.clone(), weight: ALONE }
        })
    }
}

struct Inside {
    gate: Arc<Gate>,
    weight: usize,
}

impl Drop for Inside {
    fn drop(&mut self) {
        *lock(&self.gate.inside) -= self.weight;
        self.gate.left.notify_all();
    }
}

/// After the first stage: z on the device, and when it is there.
struct Uploaded<B: Backend> {
    z: Buffer<B, Scalar>,
    event: <B::Device as Device>::Event,
    inside: Inside,
}

/// The threads.
pub(super) struct Pipeline<B: Backend> {
    jobs: Option<Sender<Job<B>>>,
    closing: CancelToken,
    threads: Vec<JoinHandle<()>>,
}

impl<B: Backend> Pipeline<B> {
    pub(super) fn start() -> Result<Self, ProveError> {
        let (jobs, submitted) = channel::<Job<B>>();
        // Without room in between: a witness is uploaded while one is computed on, and no earlier.
        let (uploaded, computing) = sync_channel(0);
        let (computed, finishing) = sync_channel(1);
        let closing = CancelToken::default();
        let gate = Arc::<Gate>::default();
        let (stop, finishing_gate) = (closing.clone(), gate.clone());
        let threads = vec![
            spawn("upload", move || upload_stage(&submitted, &uploaded, &gate, &stop))?,
            spawn("compute", move || compute_stage(&computing, &computed))?,
            spawn("finish", move || finish_stage(&finishing, &finishing_gate))?,
        ];
        Ok(Self { jobs: Some(jobs), closing, threads })
    }

    pub(super) fn submit(&self, job: Job<B>) -> Result<(), ProveError> {
        let gone = || ProveError::Internal { stage: "submit", message: "the lane's threads are gone".into() };
        self.jobs.as_ref().and_then(|jobs| jobs.send(job).ok()).ok_or_else(gone)
    }
}

impl<B: Backend> Drop for Pipeline<B> {
    fn drop(&mut self) {
        self.closing.cancel();
        self.jobs = None;
        // The last handle may be dropped by one of these threads itself, in an observer. The others may be waiting for it to take or
        // hand over a job, so it waits for none of them: they end when the queue is empty.
        let this = std::thread::current().id();
        if self.threads.iter().any(|thread| thread.thread().id() == this) {
            return;
        }
        for thread in self.threads.drain(..) {
            // A stage catches panics; there is nothing to do about one that slipped through.
            let _ = thread.join();
        }
    }
}

fn spawn(stage: &'static str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, ProveError> {
    std::thread::Builder::new()
        .name(format!("cuzk {stage}"))
        .spawn(work)
        .map_err(|e| ProveError::Internal { stage, message: format!("no thread: {e}") })
}

/// Runs one stage of a job; a panic becomes an error of that job alone.
fn guarded<T>(stage: &'static str, work: impl FnOnce() -> Result<T, ProveError>) -> Result<T, ProveError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        let message = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(ProveError::Internal { stage, message: message.unwrap_or_else(|| "panic".into()) })
    })
}

fn upload_stage<B: Backend>(
    jobs: &Receiver<Job<B>>,
    next: &SyncSender<(Job<B>, Uploaded<B>)>,
    gate: &Arc<Gate>,
    closing: &CancelToken,
) {
    for mut job in jobs {
        if closing.is_cancelled() {
            continue;
        }
        let step = guarded("upload", || {
            job.run.check()?;
            let inside = gate.enter(job.loaded.in_flight);
            // Much may have happened while it waited.
            job.slot.begin()?;
            let Loaded { backend, key, .. } = &*job.loaded;
            let stream = backend.device().stream("upload")?;
            let z = upload(&**backend, &stream, key, &job.partition.witness, &mut job.run)?;
            let event = backend.device().record(&stream)?;
            Ok(Uploaded { z, event, inside })
        });
        pass_on(job, step, next);
    }
}

fn compute_stage<B: Backend>(jobs: &Receiver<(Job<B>, Uploaded<B>)>, next: &SyncSender<(Job<B>, Sums)>) {
    for (mut job, Uploaded { z, event, inside }) in jobs {
        let step = guarded("compute", || {
            let Loaded { backend, key, .. } = &*job.loaded;
            let stream = backend.device().stream("compute")?;
            backend.device().wait_event(&stream, &event)?;
            let sums = compute(&**backend, &stream, key, &z, &mut job.run)?;
            // The device's work is done before the next partition takes the working space.
            backend.device().finish(&stream)?;
            Ok(sums)
        });
        drop((z, event));
        drop(inside);
        pass_on(job, step, next);
    }
}

fn finish_stage<B: Backend>(jobs: &Receiver<(Job<B>, Sums)>, gate: &Arc<Gate>) {
    for (mut job, sums) in jobs {
        let run = std::mem::replace(&mut job.run, Run::new(Default::default(), None));
        let Loaded { backend, key, vk, .. } = &*job.loaded;
        let outcome =
            guarded("finish", || finish(&**backend, key, vk, &job.partition, sums, run, || gate.try_alone()));
        job.slot.put(outcome);
    }
}

/// To the next stage, or to the end.
fn pass_on<B: Backend, T>(job: Job<B>, step: Result<T, ProveError>, next: &SyncSender<(Job<B>, T)>) {
    match step {
        // A failed send drops the job, which then ends as cancelled.
        Ok(value) => drop(next.send((job, value))),
        Err(error) => job.slot.put(Err(error)),
    }
}
