//! Memory is counted, limited, and usable after it ran out.

use super::rig::{During, Rig, ensure};
use super::{Failure, Outcome, Subject};
use crate::backend::{Backend, BackendError, Device, OpenOptions, Pointwise};
use crate::curve::Scalar;

const MIB: u64 = 1 << 20;

/// ours rises with every buffer and falls when it is dropped; peak stays
pub fn is_counted<B: Backend>(subject: &Subject<B>) -> Outcome {
    let rig = subject.rig()?;
    let device = rig.device();
    device.finish(&rig.stream)?;
    let before = device.memory();
    let first = device.alloc::<u64>("conformance first", 1 << 17)?;
    let between = device.memory();
    let second = device.alloc::<Scalar>("conformance second", 1 << 16)?;
    let after = device.memory();
    ensure!(between.ours >= before.ours + MIB, "1 MiB was allocated: {before:?}, then {between:?}");
    ensure!(after.ours >= between.ours + 2 * MIB, "2 MiB more were allocated: {between:?}, then {after:?}");
    ensure!(
        after.ours <= before.ours + 4 * MIB,
        "3 MiB must not count for more than 4: {before:?}, then {after:?}"
    );
    ensure!(after.total >= after.ours, "more is ours than there is: {after:?}");
    drop(first);
    device.finish(&rig.stream)?;
    let fallen = device.memory();
    ensure!(fallen.ours + MIB <= after.ours, "1 MiB was dropped: {after:?}, then {fallen:?}");
    drop(second);
    device.finish(&rig.stream)?;
    let last = device.memory();
    ensure!(last.ours == before.ours, "everything was dropped: {before:?}, then {last:?}");
    ensure!(last.peak >= after.ours, "the peak must be remembered: {last:?} after {after:?}");
    let pinned = device.pinned::<u64>("conformance pinned", 1 << 17)?;
    ensure!(device.memory().pinned >= MIB, "1 MiB is pinned: {:?}", device.memory());
    drop(pinned);
    Ok(())
}

fn must_not_fit<B: Backend>(rig: &Rig<B>, len: usize) -> Outcome {
    match rig.device().alloc::<u64>("conformance too large", len) {
        Ok(_) => Err(Failure(format!("{len} words were allocated beyond the limit"))),
        Err(BackendError::OutOfMemory { label, requested, available, .. }) => {
            ensure!(label == "conformance too large", "the error names {label:?}");
            ensure!(
                requested >= (len as u64).saturating_mul(8) && available < requested,
                "{requested} of {available}"
            );
            Ok(())
        }
        Err(other) => Err(Failure(format!("must be out of memory, but: {other}"))),
    }
}

fn still_works<B: Backend>(rig: &Rig<B>) -> Outcome {
    let mut io = rig.upload(&[Scalar::from(3); 100])?;
    rig.backend
        .pointwise(&rig.stream, &mut io, Pointwise::Scale(Scalar::from(5)))
        .during("after running out of memory")?;
    rig.expect(&io, &[Scalar::from(15); 100], "a product after running out of memory")
}

/// A limited device refuses what is beyond, by name and numbers, and works on
pub fn is_limited<B: Backend>(subject: &Subject<B>) -> Outcome {
    let rig = subject.rig_with(&OpenOptions {
        memory_limit: Some(64 * MIB),
        margin: 0,
        ..OpenOptions::default()
    })?;
    let device = rig.device();
    ensure!(device.memory().total <= 64 * MIB, "a device limited to 64 MiB says {:?}", device.memory());
    // Far beyond, just beyond, and so far that bytes overflow.
    for len in [9 << 20, (8 << 20) + 1, 1 << 40, usize::MAX / 8, usize::MAX] {
        must_not_fit(&rig, len)?;
        still_works(&rig)?;
    }
    // A second buffer has only what the first one left.
    let first = device.alloc::<u64>("conformance first", 4 << 20).during("half of the memory")?;
    must_not_fit(&rig, 5 << 20)?;
    still_works(&rig)?;
    drop(first);
    device.finish(&rig.stream)?;
    device.alloc::<u64>("conformance again", 5 << 20).during("what the first buffer left").map(drop)
}

/// The safety margin is not given away
pub fn keeps_a_margin<B: Backend>(subject: &Subject<B>) -> Outcome {
    let options = OpenOptions { memory_limit: Some(64 * MIB), margin: 6 * MIB, ..OpenOptions::default() };
    let rig = subject.rig_with(&options)?;
    ensure!(rig.device().memory().margin == 6 * MIB, "{:?}", rig.device().memory());
    ensure!(rig.device().memory().available() <= 58 * MIB, "{:?}", rig.device().memory());
    must_not_fit(&rig, 59 << 17)?;
    rig.device().alloc::<u64>("conformance fits", 40 << 17).during("40 MiB beside a margin").map(drop)
}
