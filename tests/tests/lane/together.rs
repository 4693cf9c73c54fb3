//! Proofs, keys and threads that meet: in the queue, on the device, at the end.

use cuzk_core::format::{Source, zkey};

use super::*;

/// A proof that stays in `stage` until the flag is raised, and the flag that tells that it is there.
fn held_in(stage: Stage) -> (Control, Flag, Flag) {
    let (there, go_on) = (Flag::default(), Flag::default());
    let flags = (there.clone(), go_on.clone());
    let control = at_begin(stage, move || {
        flags.0.raise();
        assert!(flags.1.wait());
    });
    (control, there, go_on)
}

#[test]
fn a_stopped_proof_does_not_wait_for_the_queue() {
    let lane = lane();
    let fixture = named("mul3");
    let key = load(&*lane, &fixture);
    let (control, computing, go_on) = held_in(Stage::Spmv);
    let first = lane.submit(key, fixed(&fixture), control).unwrap();
    assert!(computing.wait());
    let second = lane.submit(key, fixed(&fixture), Control::default()).unwrap();
    let begun = Arc::new(AtomicBool::new(false));
    let submit = |deadline: Option<Instant>| {
        let begun = begun.clone();
        let control = at_begin(Stage::Upload, move || begun.store(true, Ordering::SeqCst));
        let cancel = control.cancel.clone();
        (lane.submit(key, Partition { deadline, ..fixed(&fixture) }, control).unwrap(), cancel)
    };
    let (third, fourth) = (submit(None).0, submit(Some(Instant::now() + Duration::from_millis(50))).0);
    let (fifth, token) = submit(None);
    assert!(!third.is_done());
    third.cancel();
    assert!(third.is_done());
    assert!(matches!(third.wait(), Err(ProveError::Cancelled)));
    assert!(matches!(fourth.wait(), Err(ProveError::Deadline)));
    // By the caller's own token, while it waits.
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        token.cancel();
    });
    assert!(matches!(fifth.wait(), Err(ProveError::Cancelled)));
    assert!(!first.is_done() && !second.is_done(), "the first proof was to be held until here");
    go_on.raise();
    first.wait().unwrap();
    second.wait().unwrap();
    assert!(!begun.load(Ordering::SeqCst), "a proof that was stopped in the queue must not begin");
}

#[test]
fn a_lane_may_be_dropped_by_its_own_threads() {
    let fixture = named("mul3");
    for stage in [Stage::Upload, Stage::Spmv, Stage::Verify] {
        let lane = lane();
        let key = load(&*lane, &fixture);
        let (last, dropped) = (Arc::new(Mutex::new(None::<Arc<dyn DeviceProver>>)), Flag::default());
        let submitted = Flag::default();
        let control = {
            let (last, dropped, submitted) = (last.clone(), dropped.clone(), submitted.clone());
            at_begin(stage, move || {
                assert!(submitted.wait());
                drop(last.lock().unwrap().take());
                dropped.raise();
            })
        };
        let first = lane.submit(key, fixed(&fixture), control).unwrap();
        // Enough to fill all stages: the others wait for the thread that drops.
        let rest: Vec<_> =
            (0..6).map(|_| lane.submit(key, fixed(&fixture), Control::default()).unwrap()).collect();
        *last.lock().unwrap() = Some(lane);
        submitted.raise();
        assert!(dropped.wait(), "dropping the lane in {stage:?} waits forever");
        first.wait().unwrap();
        for pending in rest {
            assert!(matches!(pending.wait(), Ok(_) | Err(ProveError::Cancelled)));
        }
    }
}

/// Looking into a failure takes the memory of a proof: it must not take it beside another proof.
#[test]
fn a_failure_is_looked_into_only_when_nothing_else_is_under_way() {
    let lane = lane();
    let fixture = named("pow2_exact");
    let key = load(&*lane, &fixture);
    let bad = || Partition::new(Witness::dense(fixture.witness("invalid")));
    let message = |outcome| match outcome {
        Err(ProveError::NotVerified { message, .. }) => message,
        other => panic!("{other:?}"),
    };
    let (computing, failed) = (Flag::default(), Flag::default());
    let (products, verifying) = (Arc::new(Mutex::new(0)), computing.clone());
    let first = {
        let products = products.clone();
        observed(move |stage, progress| match (stage, progress) {
            (Stage::Spmv, Progress::Begin { .. }) => *products.lock().unwrap() += 1,
            (Stage::Verify, Progress::Begin { .. }) => assert!(verifying.wait()),
            _ => (),
        })
    };
    let second = {
        let failed = failed.clone();
        at_begin(Stage::HMsm, move || {
            computing.raise();
            assert!(failed.wait());
        })
    };
    let first = lane.submit(key, bad(), first).unwrap();
    let second = lane.submit(key, fixed(&fixture), second).unwrap();
    let text = message(first.wait());
    failed.raise();
    assert!(text.contains("was not tried"), "{text}");
    assert_eq!(*products.lock().unwrap(), 1);
    second.wait().unwrap();
    let alone = message(lane.submit(key, bad(), Control::default()).unwrap().wait());
    assert!(!alone.contains("was not tried"), "{alone}");
    // The device is given back.
    lane.submit(key, fixed(&fixture), Control::default()).unwrap().wait().unwrap();
}

#[test]
fn a_second_key_leaves_room_for_proofs_with_the_first() {
    let fixture = named("pow2_exact");
    let zkey = fixture.zkey();
    let shape = KeyShape::new(&zkey.key, &zkey.matrices);
    let plan = lane().plan(&shape, PlanRequest::default()).unwrap();
    let (resident, working) = (plan.total() - plan.working(), plan.working());
    let two = |bytes| -> Result<(), ProveError> {
        let options = OpenOptions { memory_limit: Some(bytes), margin: 0, ..OpenOptions::default() };
        let lane = Lane::new(CpuBackend::open(&options).unwrap()).unwrap();
        let request = PlanRequest { bases: Some(Placement::Resident), in_flight: Some(plan.in_flight) };
        let keys = [0, 1].map(|_| {
            let (key, matrices) = (Arc::new(zkey.key.clone()), Arc::new(zkey.matrices.clone()));
            let plan = lane.plan(&shape, request)?;
            lane.load_key(key, matrices, Some(plan), &Control::default())
        });
        for key in keys {
            lane.submit(key?, fixed(&fixture), Control::default())?.wait()?;
        }
        Ok(())
    };
    two(2 * (resident + working)).unwrap();
    // Identities of the key are left out when it is loaded, so it may take less than planned; not by as much as a proof takes.
    let short = two(2 * resident + working);
    assert!(matches!(short, Err(ProveError::Plan(_))), "{short:?}");
}

#[test]
fn a_key_that_was_being_loaded_while_the_device_was_reopened_is_refused() {
    let lane = lane();
    let fixture = named("mul3");
    let zkey = fixture.zkey();
    let (key, matrices) = (Arc::new(zkey.key), Arc::new(zkey.matrices));
    let control = {
        let lane = lane.clone();
        at_begin(Stage::LoadKey, move || lane.reopen().unwrap())
    };
    let outcome = lane.load_key(key, matrices, None, &control);
    assert!(outcome.unwrap_err().to_string().contains("reopened"));
    let key = load(&*lane, &fixture);
    lane.submit(key, fixed(&fixture), Control::default()).unwrap().wait().unwrap();
}

/// A point off the curve in the key given to the call that does everything.
#[test]
fn the_library_call_refuses_bad_points() {
    let fixture = named("mul3");
    let zkey = fixture.zkey();
    let witness = || Witness::dense(fixture.witness("1"));
    cuzk_core::prover::prove(&zkey.key, &zkey.matrices, witness()).unwrap();
    let mut bytes = std::fs::read(fixture.path("circuit.zkey")).unwrap();
    bytes[zkey.key.a.points.offset()] ^= 1;
    let bad = zkey::read(&Source::from_bytes("bad.zkey", bytes)).unwrap();
    let error = cuzk_core::prover::prove(&bad.key, &bad.matrices, witness()).unwrap_err();
    assert!(matches!(error, ProveError::BadKey(_)), "{error}");
}
