//! A device that proves, with its type erased: what a command line, a queue or a daemon holds.
//!
//! The only place where the backend's type is erased. [`Lane`] runs any backend as a pipeline of three stages: upload of partition
//! k + 1, computation of k, and finishing and verifying of k - 1 at the same time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::pipeline::{Job, Pipeline, Slot};
use super::plan::{KeyShape, Plan, PlanError, PlanRequest};
use super::run::{Run, Stop};
use super::{Partition, ProofOutput, ProveError, load_key};
use crate::backend::{Backend, BackendError, Device, DeviceInfo, DeviceKey, MemoryUse};
use crate::circuit::Matrices;
use crate::key::{ProvingKey, VerifyingKey};
use crate::progress::Control;

/// A key on a device. Numbers are never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(u64);

/// A device that holds keys and makes proofs. All calls may come from several threads.
pub trait DeviceProver: Send + Sync {
    /// What the device is.
    fn info(&self) -> DeviceInfo;
    /// Its memory now.
    fn memory(&self) -> MemoryUse;
    /// What a key of this shape would take, with what is free now.
    fn plan(&self, shape: &KeyShape, request: PlanRequest) -> Result<Plan, PlanError>;
    /// Brings a key to the device as `plan` says; `None` makes one.
    fn load_key(
        &self,
        key: Arc<ProvingKey>,
        matrices: Arc<Matrices>,
        plan: Option<Plan>,
        control: &Control,
    ) -> Result<KeyId, ProveError>;
    /// Forgets a key; its memory is free once the proofs under way with it are done.
    fn evict(&self, key: KeyId) -> Result<(), ProveError>;
    /// Queues a proof. Proofs of one device are computed in the order of submission.
    fn submit(
        &self,
        key: KeyId,
        partition: Partition,
        control: Control,
    ) -> Result<Box<dyn PendingProof>, ProveError>;
    /// Opens the device again after it was lost. All keys are gone and must be loaded again.
    fn reopen(&self) -> Result<(), ProveError>;
}

/// A proof on its way. Dropping it cancels the proof.
pub trait PendingProof: Send {
    /// Whether `wait` would return at once.
    fn is_done(&self) -> bool;
    /// Blocks until the proof is there, or the reason why not.
    fn wait(self: Box<Self>) -> Result<ProofOutput, ProveError>;
    /// Asks the proof to stop: at once if it is still in the queue, else at its next operation boundary; `wait` then
    /// gives [`ProveError::Cancelled`] unless it was finished.
    fn cancel(&self);
}

/// Any backend as a [`DeviceProver`]. Dropping it cancels what has not begun and waits for the rest.
pub struct Lane<B: Backend> {
    backend: Mutex<Arc<B>>,
    keys: Mutex<HashMap<KeyId, Arc<Loaded<B>>>>,
    next: AtomicU64,
    pipeline: Pipeline<B>,
}

/// A key on a device with what proofs need besides.
pub(super) struct Loaded<B: Backend> {
    /// The open device that holds it: a lost one stays with its keys.
    pub(super) backend: Arc<B>,
    pub(super) key: DeviceKey<B::Device>,
    pub(super) vk: VerifyingKey,
    pub(super) in_flight: usize,
    /// Bytes that its proofs take while they are made.
    working: u64,
}

/// A lock whose holder panicked protects plain data here, and stays usable.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<B: Backend> Lane<B> {
    /// Starts the three stages for an open backend.
    pub fn new(backend: B) -> Result<Self, ProveError> {
        Ok(Self {
            backend: Mutex::new(Arc::new(backend)),
            keys: Mutex::default(),
            next: AtomicU64::new(1),
            pipeline: Pipeline::start()?,
        })
    }

    fn backend(&self) -> Arc<B> {
        lock(&self.backend).clone()
    }
}

impl<B: Backend> DeviceProver for Lane<B> {
    fn info(&self) -> DeviceInfo {
        self.backend().device().info().clone()
    }

    fn memory(&self) -> MemoryUse {
        self.backend().device().memory()
    }

    fn plan(&self, shape: &KeyShape, request: PlanRequest) -> Result<Plan, PlanError> {
        // What is free now includes the working space of proofs with the keys that are here, of which one may be under way beside one
        // with the new key.
        let reserved = lock(&self.keys).values().map(|loaded| loaded.working).max().unwrap_or(0);
        Plan::beside(&*self.backend(), shape, request, reserved)
    }

    fn load_key(
        &self,
        key: Arc<ProvingKey>,
        matrices: Arc<Matrices>,
        plan: Option<Plan>,
        control: &Control,
    ) -> Result<KeyId, ProveError> {
        let backend = self.backend();
        let plan = match plan {
            Some(plan) => plan,
            None => self.plan(&KeyShape::new(&key, &matrices), PlanRequest::default())?,
        };
        let device_key = load_key(&*backend, &key, &matrices, &plan, control)?;
        let current = lock(&self.backend);
        if !Arc::ptr_eq(&current, &backend) {
            let device = backend.device().info();
            return Err(ProveError::Backend(BackendError::DeviceLost {
                device: format!("{}:{}", device.backend, device.index),
                op: "load_key",
                reason: "it was reopened meanwhile; load the key again".into(),
            }));
        }
        let id = KeyId(self.next.fetch_add(1, Ordering::Relaxed));
        let (in_flight, working) = (plan.in_flight, plan.working());
        let loaded = Loaded { backend, key: device_key, vk: key.vk.clone(), in_flight, working };
        // Under both locks, as in `reopen`: no key of a lost device stays.
        lock(&self.keys).insert(id, Arc::new(loaded));
        Ok(id)
    }

    fn evict(&self, key: KeyId) -> Result<(), ProveError> {
        lock(&self.keys).remove(&key).map(drop).ok_or(ProveError::UnknownKey(key.0))
    }

    fn submit(
        &self,
        key: KeyId,
        partition: Partition,
        control: Control,
    ) -> Result<Box<dyn PendingProof>, ProveError> {
        let loaded = lock(&self.keys).get(&key).cloned().ok_or(ProveError::UnknownKey(key.0))?;
        let run = Run::new(control, partition.deadline);
        let pending = Pending { slot: Arc::new(Slot::new(run.stop())), stop: run.stop() };
        self.pipeline.submit(Job { loaded, partition, run, slot: pending.slot.clone() })?;
        Ok(Box::new(pending))
    }

    fn reopen(&self) -> Result<(), ProveError> {
        let lost = self.backend();
        // May take long, so others are not kept waiting.
        let opened = Arc::new(lost.reopen()?);
        let keys = {
            let mut backend = lock(&self.backend);
            if !Arc::ptr_eq(&backend, &lost) {
                // Somebody else was faster; keys may have been loaded since.
                return Ok(());
            }
            *backend = opened;
            std::mem::take(&mut *lock(&self.keys))
        };
        drop(keys);
        Ok(())
    }
}

struct Pending {
    slot: Arc<Slot>,
    stop: Stop,
}

impl PendingProof for Pending {
    fn is_done(&self) -> bool {
        self.slot.is_done()
    }
    fn wait(self: Box<Self>) -> Result<ProofOutput, ProveError> {
        self.slot.wait()
    }
    fn cancel(&self) {
        self.stop.cancel();
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
