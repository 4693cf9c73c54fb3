//! Keys made from known secrets: snarkjs's, point for point; and what setup refuses.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use cuzk_core::circuit::{MatricesBuilder, SetupError, SetupForm, ToxicWaste, capture, check, setup};
use cuzk_core::curve::{Root, Scalar};
use cuzk_core::format::{Source, params, zkey};
use cuzk_core::key::{ProvingKey, Variables, fit_circuit};
use cuzk_core::progress::{Control, Observer, Progress, Stage};
use cuzk_core::prover::prove;
use cuzk_core::verify::verify;
use cuzk_core::witness::Witness;
use cuzk_tests::circuits::Chain;
use cuzk_tests::fixtures::{self, Fixture};
use ff::{Field, PrimeField};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// The secrets of the circom fixtures, as their README states them.
fn fixture_secrets() -> ToxicWaste {
    let decimal = |text: &str| Scalar::from_str_vartime(text).unwrap();
    let delta = "11f95598a93ee6bf8aa0e9ba7e860bf7bdb54317e2c8a7f931b2821bcebacbfd";
    let delta = delta
        .chars()
        .fold(Scalar::ZERO, |d, c| d * Scalar::from(16) + Scalar::from(u64::from(c.to_digit(16).unwrap())));
    ToxicWaste {
        alpha: decimal("27072266700050364790991691647622503470012295880141284738692895911188729528074"),
        beta: decimal("4484583105360506260895939854744889370987294088950561959353533783284388255068"),
        delta,
        tau: decimal("2445083067757056942095050565637199554852157707908341370107518253453834792201"),
        ..ToxicWaste::from_seed(b"")
    }
}

fn assert_snarkjs_key(fixture: &Fixture) {
    let matrices = fixture.r1cs().matrices;
    let key =
        setup(&matrices, SetupForm::OddCoset, Root::Five, &fixture_secrets(), &Control::default()).unwrap();
    let snarkjs = fixture.zkey().key;
    let name = &fixture.name;
    assert_eq!(key.vk, snarkjs.vk, "{name}: verifying key");
    assert_eq!(key.quotient, snarkjs.quotient, "{name}");
    let queries = [
        ("H", key.h.bytes() == snarkjs.h.bytes()),
        ("L", key.l.points.bytes() == snarkjs.l.points.bytes()),
        ("A", key.a.points.bytes() == snarkjs.a.points.bytes()),
        ("B1", key.b1.points.bytes() == snarkjs.b1.points.bytes()),
        ("B2", key.b2.points.bytes() == snarkjs.b2.points.bytes()),
    ];
    for (query, same) in queries {
        assert!(same, "{name}: {query}");
    }
    let variables = |k: &ProvingKey| {
        [&k.l.variables, &k.a.variables, &k.b1.variables, &k.b2.variables].map(Variables::clone)
    };
    assert_eq!(variables(&key), variables(&snarkjs), "{name}");
}

#[test]
fn snarkjs_keys_point_for_point() {
    for fixture in fixtures::all() {
        assert_snarkjs_key(&fixture);
    }
}

/// Both forms, written to a file and read back: the proofs verify.
#[test]
fn keys_survive_their_files() {
    let captured = capture(Chain { start: Some(Scalar::from(2)), steps: 12, publish: 5 }).unwrap();
    let (matrices, z) = (captured.matrices, captured.witness);
    let waste = ToxicWaste::random().unwrap();
    let monomial = setup(&matrices, SetupForm::Monomial, Root::Seven, &waste, &Control::default()).unwrap();
    let mut bytes = Vec::new();
    params::write(&mut bytes, &monomial).unwrap();
    let read = params::read(&Source::from_bytes("written.params", bytes), None).unwrap();
    let output = prove(&read, &matrices, Witness::dense(z.clone())).unwrap();
    assert_eq!(verify(&monomial.vk, &output.public_inputs, &output.proof), Ok(true));

    let odd = setup(&matrices, SetupForm::OddCoset, Root::Five, &waste, &Control::default()).unwrap();
    let mut bytes = Vec::new();
    zkey::write(&mut bytes, &odd, &matrices).unwrap();
    let read = zkey::read(&Source::from_bytes("written.zkey", bytes)).unwrap();
    let output = prove(&read.key, &read.matrices, Witness::dense(z)).unwrap();
    assert_eq!(verify(&odd.vk, &output.public_inputs, &output.proof), Ok(true));
    // Not each other's.
    assert_ne!(verify(&monomial.vk, &output.public_inputs, &output.proof), Ok(true));
}

#[test]
fn unconstrained_wires_are_named_in_the_form_that_cannot_hold_them() {
    let fixture = fixtures::named("unused_inputs");
    let matrices = fixture.r1cs().matrices;
    let waste = ToxicWaste::from_seed(b"unused");
    let error = setup(&matrices, SetupForm::Monomial, Root::Seven, &waste, &Control::default()).unwrap_err();
    let SetupError::Unconstrained { wire } = error else { panic!("{error}") };
    assert_eq!(Some(wire), matrices.unconstrained());
    let key = setup(&matrices, SetupForm::OddCoset, Root::Five, &waste, &Control::default()).unwrap();
    prove(&key, &matrices, Witness::dense(fixture.witness("1"))).unwrap();
}

#[test]
fn no_constraints_at_all() {
    // z = [1, x]: one input row each, domain 2; and z = [1]: domain 1, for which H of a monomial key is empty.
    for inputs in [1, 2] {
        let matrices = MatricesBuilder::default().finish(inputs, 0, true).unwrap();
        let z = vec![Scalar::ONE; inputs];
        assert_eq!(check(&matrices, &z, &Control::default()), Ok(None));
        for (form, root) in [(SetupForm::Monomial, Root::Seven), (SetupForm::OddCoset, Root::Five)] {
            let waste = ToxicWaste::from_seed(b"empty");
            let key = setup(&matrices, form, root, &waste, &Control::default()).unwrap();
            fit_circuit(&key, &matrices).unwrap();
            let output = prove(&key, &matrices, Witness::dense(z.clone())).unwrap();
            assert_eq!(verify(&key.vk, &z[1..], &output.proof), Ok(true));
        }
    }
}

#[test]
fn setup_reports_every_point_and_can_be_cancelled() {
    #[derive(Default)]
    struct Watch {
        total: AtomicU64,
        done: Mutex<Vec<u64>>,
    }
    impl Observer for Watch {
        fn event(&self, stage: Stage, progress: Progress, _: Instant) {
            assert_eq!(stage, Stage::Setup);
            match progress {
                Progress::Begin { total } => self.total.store(total, Ordering::SeqCst),
                Progress::Advance { done } => self.done.lock().unwrap().push(done),
                Progress::End { .. } => (),
            }
        }
    }
    let captured = capture(Chain { start: Some(Scalar::from(2)), steps: 6, publish: 5 }).unwrap();
    let waste = ToxicWaste::from_seed(b"watched");
    for form in [SetupForm::Monomial, SetupForm::OddCoset] {
        let watch = Arc::new(Watch::default());
        let control = Control { observer: watch.clone(), ..Control::default() };
        setup(&captured.matrices, form, Root::Five, &waste, &control).unwrap();
        let done = watch.done.lock().unwrap();
        assert!(done.is_sorted());
        assert_eq!(done.last().copied(), Some(watch.total.load(Ordering::SeqCst)));
        control.cancel.cancel();
        let outcome = setup(&captured.matrices, form, Root::Five, &waste, &control);
        assert!(matches!(outcome, Err(SetupError::Cancelled)));
    }
}

#[test]
fn keys_that_do_not_fit_are_refused_with_both_numbers() {
    let keys: Vec<_> = ["mul3", "sort16", "sparse"].map(|n| fixtures::named(n).zkey()).into();
    for (i, key) in keys.iter().enumerate() {
        for (j, circuit) in keys.iter().enumerate() {
            let fits = fit_circuit(&key.key, &circuit.matrices);
            assert_eq!(fits.is_ok(), i == j);
            if let Err(e) = fits {
                let (a, b) = (key.key.inputs - 1, circuit.key.inputs - 1);
                let (c, d) = (key.key.aux, circuit.key.aux);
                let text = e.to_string();
                assert!(
                    text.contains(&format!("has {a}, the circuit {b}"))
                        || text.contains(&format!("has {c}, the circuit {d}")),
                    "{text}"
                );
            }
        }
    }
    // A monomial key also counts its bases: the same variables, but one more of them in A.
    let matrices = |used: u32| {
        let mut builder = MatricesBuilder::default();
        builder.push_row(0, &mut (1..=used).map(|v| (v, Scalar::ONE)).collect()).unwrap();
        builder.push_row(1, &mut vec![(1, Scalar::ONE)]).unwrap();
        builder.push_row(2, &mut vec![(1, Scalar::ONE), (2, Scalar::ONE), (3, Scalar::ONE)]).unwrap();
        builder.finish(1, 3, true).unwrap()
    };
    let waste = ToxicWaste::from_seed(b"fit");
    let key = setup(&matrices(2), SetupForm::Monomial, Root::Seven, &waste, &Control::default()).unwrap();
    fit_circuit(&key, &matrices(2)).unwrap();
    let error = fit_circuit(&key, &matrices(3)).unwrap_err().to_string();
    assert!(error.contains("bases of A: the key has 3, the circuit 4"), "{error}");
}
