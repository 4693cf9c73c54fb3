//! The erased prover: pipeline, order, cancellation, isolation of errors, memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "lane/together.rs"]
mod together;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use cuzk_core::backend::OpenOptions;
use cuzk_core::backend::cpu::CpuBackend;
use cuzk_core::progress::{Control, Observer, Progress, Stage};
use cuzk_core::prover::{
    Blinding, DeviceProver, KeyId, KeyShape, Lane, Partition, Placement, PlanRequest, ProveError, Registry,
};
use cuzk_core::witness::Witness;
use cuzk_tests::fixtures::{Fixture, named};
use ff::Field;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

fn lane() -> Arc<dyn DeviceProver> {
    Arc::new(Lane::new(CpuBackend::open(&OpenOptions::default()).unwrap()).unwrap())
}

fn load(lane: &dyn DeviceProver, fixture: &Fixture) -> KeyId {
    let zkey = fixture.zkey();
    lane.load_key(Arc::new(zkey.key), Arc::new(zkey.matrices), None, &Control::default()).unwrap()
}

fn fixed(fixture: &Fixture) -> Partition {
    let witness = Witness::dense(fixture.witness("1"));
    Partition { blinding: fixture.blinding(), ..Partition::new(witness) }
}

fn observed(observer: impl Fn(Stage, Progress) + Send + Sync + 'static) -> Control {
    struct Hook<F>(F);
    impl<F: Fn(Stage, Progress) + Send + Sync> Observer for Hook<F> {
        fn event(&self, stage: Stage, progress: Progress, _: Instant) {
            (self.0)(stage, progress);
        }
    }
    Control { observer: Arc::new(Hook(observer)), ..Control::default() }
}

fn at_begin(wanted: Stage, action: impl Fn() + Send + Sync + 'static) -> Control {
    observed(move |stage, progress| {
        if stage == wanted && matches!(progress, Progress::Begin { .. }) {
            action();
        }
    })
}

/// A flag that one thread raises and another waits for.
#[derive(Clone, Default)]
struct Flag(Arc<(Mutex<bool>, Condvar)>);

impl Flag {
    fn raise(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }
    /// Whether it was raised in time.
    fn wait(&self) -> bool {
        let (_guard, timeout) =
            self.0.1.wait_timeout_while(self.0.0.lock().unwrap(), PATIENCE, |raised| !*raised).unwrap();
        !timeout.timed_out()
    }
}

#[test]
fn many_proofs_of_two_keys_from_two_threads() {
    let lane = lane();
    std::thread::scope(|scope| {
        for name in ["mul3", "pow2_exact"] {
            let lane = &lane;
            scope.spawn(move || {
                let fixture = named(name);
                let key = load(&**lane, &fixture);
                let pending: Vec<_> =
                    (0..6).map(|_| lane.submit(key, fixed(&fixture), Control::default()).unwrap()).collect();
                for pending in pending {
                    let output = pending.wait().unwrap();
                    assert_eq!(output.proof, fixture.proof("proof_1_fixed1.json"), "{name}");
                    assert_eq!(output.public_inputs, fixture.public("1"), "{name}");
                    let stages: Vec<Stage> = output.timings.iter().map(|t| t.0).collect();
                    let expected = [
                        Stage::Upload,
                        Stage::Spmv,
                        Stage::Quotient,
                        Stage::WitnessMsms,
                        Stage::HMsm,
                        Stage::Finish,
                        Stage::Verify,
                    ];
                    assert_eq!(stages, expected);
                }
            });
        }
    });
}

#[test]
fn proofs_are_computed_in_the_order_of_submission() {
    let lane = lane();
    let fixture = named("mul3");
    let key = load(&*lane, &fixture);
    let order = Arc::new(Mutex::new(Vec::new()));
    let pending: Vec<_> = (0..8)
        .map(|i| {
            let order = order.clone();
            let control = at_begin(Stage::HMsm, move || order.lock().unwrap().push(i));
            lane.submit(key, fixed(&fixture), control).unwrap()
        })
        .collect();
    pending.into_iter().for_each(|p| drop(p.wait().unwrap()));
    assert_eq!(*order.lock().unwrap(), (0..8).collect::<Vec<_>>());
}

#[test]
fn stages_of_neighbours_overlap() {
    let lane = lane();
    let fixture = named("mul3");
    let key = load(&*lane, &fixture);
    // The first proof computes until the second has been uploaded, and verifies until the second computes.
    let (uploaded, computing) = (Flag::default(), Flag::default());
    let met = Arc::new(Mutex::new(Vec::new()));
    let first = {
        let (uploaded, computing, met) = (uploaded.clone(), computing.clone(), met.clone());
        observed(move |stage, progress| match (stage, progress) {
            (Stage::Spmv, Progress::Begin { .. }) => met.lock().unwrap().push(uploaded.wait()),
            (Stage::Verify, Progress::Begin { .. }) => met.lock().unwrap().push(computing.wait()),
            _ => (),
        })
    };
    let second = observed(move |stage, progress| match (stage, progress) {
        (Stage::Upload, Progress::End { .. }) => uploaded.raise(),
        (Stage::HMsm, Progress::Begin { .. }) => computing.raise(),
        _ => (),
    });
    let pending = [first, second].map(|control| lane.submit(key, fixed(&fixture), control).unwrap());
    pending.into_iter().for_each(|p| drop(p.wait().unwrap()));
    assert_eq!(*met.lock().unwrap(), [true, true]);
}

#[test]
fn cancelling_stops_at_the_next_boundary_and_only_that_proof() {
    let lane = lane();
    let fixture = named("mul3");
    let key = load(&*lane, &fixture);
    let (begun, go_on, ended) = (Flag::default(), Flag::default(), Arc::new(AtomicBool::new(false)));
    let control = {
        let (begun, go_on, ended) = (begun.clone(), go_on.clone(), ended.clone());
        observed(move |stage, progress| match (stage, progress) {
            (Stage::Spmv, Progress::Begin { .. }) => {
                begun.raise();
                assert!(go_on.wait());
            }
            (Stage::Quotient, Progress::Begin { .. }) => ended.store(true, Ordering::SeqCst),
            _ => (),
        })
    };
    let cancelled = lane.submit(key, fixed(&fixture), control).unwrap();
    let next = lane.submit(key, fixed(&fixture), Control::default()).unwrap();
    assert!(begun.wait());
    assert!(!cancelled.is_done());
    cancelled.cancel();
    go_on.raise();
    assert!(matches!(cancelled.wait(), Err(ProveError::Cancelled)));
    assert!(!ended.load(Ordering::SeqCst), "the stage after the cancellation must not begin");
    next.wait().unwrap();
    // By the caller's own token, before it begins.
    let control = Control::default();
    control.cancel.cancel();
    let outcome = lane.submit(key, fixed(&fixture), control).unwrap().wait();
    assert!(matches!(outcome, Err(ProveError::Cancelled)));
}

#[test]
fn dropped_pendings_cancel_and_leave_no_memory() {
    let lane = lane();
    let before = lane.memory().ours;
    let fixture = named("pow2_exact");
    let key = load(&*lane, &fixture);
    let loaded = lane.memory().ours;
    assert!(loaded > before);
    for _ in 0..5 {
        drop(lane.submit(key, fixed(&fixture), Control::default()).unwrap());
    }
    // The queue is in order: when this one is done, the dropped ones are.
    lane.submit(key, fixed(&fixture), Control::default()).unwrap().wait().unwrap();
    assert_eq!(lane.memory().ours, loaded);
    lane.evict(key).unwrap();
    // The last job lets go of the key right after its outcome is there.
    let deadline = Instant::now() + PATIENCE;
    while lane.memory().ours != before && Instant::now() < deadline {
        std::thread::yield_now();
    }
    assert_eq!(lane.memory().ours, before);
}

#[test]
fn errors_stay_with_their_proof() {
    let lane = lane();
    let fixture = named("mul3");
    let key = load(&*lane, &fixture);
    let bad = Partition::new(Witness::dense(fixture.witness("invalid")));
    let short = Partition::new(Witness::dense(fixture.witness("1")[..5].to_vec()));
    let mut not_one = fixture.witness("1");
    not_one[0] = not_one[0].double();
    let late = Partition { deadline: Some(Instant::now() - Duration::from_secs(1)), ..fixed(&fixture) };
    let partitions = [
        fixed(&fixture),
        bad,
        fixed(&fixture),
        short,
        Partition::new(Witness::dense(not_one)),
        late,
        fixed(&fixture),
    ];
    let pending = partitions.map(|p| lane.submit(key, p, Control::default()).unwrap());
    let [a, bad, b, short, not_one, late, c] = pending.map(|p| p.wait());
    for output in [a, b, c] {
        assert_eq!(output.unwrap().proof, fixture.proof("proof_1_fixed1.json"));
    }
    assert!(matches!(bad, Err(ProveError::NotVerified { .. })));
    let short = short.unwrap_err().to_string();
    assert!(short.contains('5') && short.contains('8'), "{short}");
    assert!(not_one.unwrap_err().to_string().contains("not the constant 1"));
    assert!(matches!(late, Err(ProveError::Deadline)));
}

#[test]
fn a_panic_in_a_stage_is_an_error_of_its_proof() {
    let lane = lane();
    let fixture = named("mul3");
    let key = load(&*lane, &fixture);
    let loaded = lane.memory().ours;
    for (stage, name) in [(Stage::Upload, "upload"), (Stage::Quotient, "compute"), (Stage::Verify, "finish")]
    {
        let control = at_begin(stage, || panic!("on purpose"));
        match lane.submit(key, fixed(&fixture), control).unwrap().wait() {
            Err(ProveError::Internal { stage, message }) => {
                assert_eq!((stage, message.as_str()), (name, "on purpose"));
            }
            other => panic!("{stage:?}: {other:?}"),
        }
        lane.submit(key, fixed(&fixture), Control::default()).unwrap().wait().unwrap();
        assert_eq!(lane.memory().ours, loaded, "after a panic in {name}");
    }
}

#[test]
fn evicted_and_reopened() {
    let lane = lane();
    let fixture = named("mul3");
    let key = load(&*lane, &fixture);
    let pending = lane.submit(key, fixed(&fixture), Control::default()).unwrap();
    lane.evict(key).unwrap();
    pending.wait().unwrap();
    assert!(matches!(lane.submit(key, fixed(&fixture), Control::default()), Err(ProveError::UnknownKey(_))));
    assert!(matches!(lane.evict(key), Err(ProveError::UnknownKey(_))));
    let second = load(&*lane, &fixture);
    assert_ne!(key, second);
    lane.reopen().unwrap();
    assert!(matches!(
        lane.submit(second, fixed(&fixture), Control::default()),
        Err(ProveError::UnknownKey(_))
    ));
    let third = load(&*lane, &fixture);
    lane.submit(third, fixed(&fixture), Control::default()).unwrap().wait().unwrap();
}

#[test]
fn dropping_the_lane_ends_what_has_not_begun() {
    let lane = lane();
    let fixture = named("mul3");
    let key = load(&*lane, &fixture);
    let pending: Vec<_> =
        (0..20).map(|_| lane.submit(key, fixed(&fixture), Control::default()).unwrap()).collect();
    drop(lane);
    let outcomes: Vec<_> = pending.into_iter().map(|p| p.wait()).collect();
    assert!(outcomes.iter().all(|o| matches!(o, Ok(_) | Err(ProveError::Cancelled))));
    assert!(outcomes.iter().any(|o| o.is_err()), "all 20 proofs were made before the lane was dropped");
}

#[test]
fn a_registry_opens_by_name_or_says_why_not() {
    let mut registry = Registry::new();
    registry.register("cpu", CpuBackend::open, || {
        use cuzk_core::backend::{Backend, Device};
        Ok(vec![CpuBackend::open(&OpenOptions::default())?.device().info().clone()])
    });
    let fixture = named("one_constraint");
    let device = registry.open("cpu", &OpenOptions::default()).unwrap();
    let key = load(&*device, &fixture);
    let partition = Partition { blinding: Blinding::Random, ..fixed(&fixture) };
    device.submit(key, partition, Control::default()).unwrap().wait().unwrap();
    let error = registry.open("cuda", &OpenOptions::default()).err().unwrap().to_string();
    assert!(error.contains("cuda") && error.contains("cpu"), "{error}");
    let wrong_index = OpenOptions { device: 7, ..OpenOptions::default() };
    assert!(registry.open("cpu", &wrong_index).is_err());
    for log_n in [None, Some(3), Some(25)] {
        let choice = registry.choose(log_n).unwrap();
        assert_eq!(choice.backend, "cpu");
        assert!(!choice.reason.is_empty());
    }
    assert_eq!(registry.devices().len(), 1);
}

#[test]
fn a_small_device_streams_and_a_tiny_one_refuses_with_the_sum() {
    let fixture = named("sparse");
    let zkey = fixture.zkey();
    let shape = KeyShape::new(&zkey.key, &zkey.matrices);
    let limited = |bytes| -> Arc<dyn DeviceProver> {
        let options = OpenOptions { memory_limit: Some(bytes), margin: 0, ..OpenOptions::default() };
        Arc::new(Lane::new(CpuBackend::open(&options).unwrap()).unwrap())
    };
    let everything = lane().plan(&shape, PlanRequest::default()).unwrap().total();
    let mut seen = Vec::new();
    for permille in (1..=1000).rev() {
        let lane = limited(everything * permille / 1000);
        let plan = match lane.plan(&shape, PlanRequest::default()) {
            Ok(plan) => plan,
            Err(e) => {
                assert!(e.to_string().contains("quotient") && e.largest.contains("domain 2^"), "{e}");
                let (key, matrices) = (zkey.key.clone().into(), zkey.matrices.clone().into());
                let loaded = lane.load_key(key, matrices, None, &Control::default());
                assert!(matches!(loaded, Err(ProveError::Plan(_))));
                break;
            }
        };
        // One proof, and two at a time, for every kind of plan.
        let kind = (plan.bases, plan.in_flight);
        if seen.contains(&kind) {
            continue;
        }
        seen.push(kind);
        let key = load(&*lane, &fixture);
        let pending = [0, 1].map(|_| lane.submit(key, fixed(&fixture), Control::default()).unwrap());
        for pending in pending {
            let output = pending.wait().unwrap_or_else(|e| panic!("{}: {e}", plan.describe()));
            assert_eq!(output.proof, fixture.proof("proof_1_fixed1.json"), "{}", plan.describe());
        }
        assert!(lane.memory().peak <= plan.total(), "{} > {}", lane.memory().peak, plan.sum());
    }
    assert!(seen.iter().any(|(bases, _)| bases.contains(&Placement::Streamed)), "{seen:?}");
    assert!(seen.iter().any(|(_, in_flight)| *in_flight == 1), "{seen:?}");
}
