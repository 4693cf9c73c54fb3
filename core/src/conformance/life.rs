//! Opening, describing, reopening.

use super::rig::{Rig, ensure};
use super::{Failure, Outcome, Subject};
use crate::backend::{Backend, BackendError, Device, OpenOptions, Pointwise};
use crate::curve::Scalar;

/// Name, device and memory are there
pub fn says_what_it_is<B: Backend>(subject: &Subject<B>) -> Outcome {
    let rig = subject.rig()?;
    let (info, memory) = (rig.device().info(), rig.device().memory());
    ensure!(!rig.backend.name().is_empty(), "a backend has a name");
    ensure!(
        info.backend == rig.backend.name(),
        "{:?} runs on a device of {:?}",
        rig.backend.name(),
        info.backend
    );
    ensure!(!info.name.is_empty(), "a device has a name");
    ensure!(memory.total > 0 && memory.peak >= memory.ours, "{memory:?}");
    ensure!(
        memory.margin == OpenOptions::DEFAULT_MARGIN.min(memory.total / 8),
        "the margin by default: {memory:?}"
    );
    Ok(())
}

/// An index beyond the devices is an answer with a reason
pub fn refuses_devices_that_are_not_there<B: Backend>(subject: &Subject<B>) -> Outcome {
    match subject.open(&OpenOptions { device: 10_000, ..OpenOptions::default() }) {
        Err(BackendError::Unavailable { reason, .. }) if !reason.is_empty() => Ok(()),
        Err(other) => Err(Failure(format!("device 10000 must be unavailable, but: {other}"))),
        Ok(_) => Err(Failure("device 10000 was opened".into())),
    }
}

fn works<B: Backend>(rig: &Rig<B>) -> Outcome {
    let mut io = rig.upload(&[Scalar::from(7); 9])?;
    rig.backend.pointwise(&rig.stream, &mut io, Pointwise::Scale(Scalar::from(3)))?;
    rig.expect(&io, &[Scalar::from(21); 9], "a product on a reopened device")
}

/// A fresh device with the same limits in place of the old one
pub fn reopens<B: Backend>(subject: &Subject<B>) -> Outcome {
    let options = OpenOptions { memory_limit: Some(64 << 20), margin: 1 << 20, ..OpenOptions::default() };
    let Rig { backend, limits, rng, .. } = subject.rig_with(&options)?;
    let again = backend.reopen()?;
    drop(backend);
    ensure!(
        again.device().memory().total <= 64 << 20,
        "the limit must survive: {:?}",
        again.device().memory()
    );
    ensure!(
        again.device().memory().margin == 1 << 20,
        "the margin must survive: {:?}",
        again.device().memory()
    );
    let stream = again.device().stream("conformance again")?;
    works(&Rig { backend: again, stream, limits, rng })
}
