//! Capture of bellpepper circuits: what is called, what is compared, what is refused; and proofs on folded matrices.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use bellpepper_core::{Circuit, ConstraintSystem, Index, SynthesisError, Variable};
use cuzk_core::circuit::{
    CaptureError, Matrices, Matrix, Repeats, SetupForm, Shift, ToxicWaste, capture, capture_blank, check,
    fold_repeats, setup, witness_of,
};
use cuzk_core::curve::{Root, Scalar};
use cuzk_core::progress::Control;
use cuzk_core::prover::{Blinding, DeviceProver, Lane, Partition};
use cuzk_core::witness::Witness;
use cuzk_tests::circuits::Chain;
use ff::Field;
use std::sync::Arc;

/// A circuit from a closure over the few things these tests need of a constraint system.
struct Scripted<F>(F);

trait System {
    fn aux(&mut self, value: u64) -> Variable;
    fn input(&mut self, value: u64) -> Variable;
    fn fail(&mut self) -> Result<Variable, SynthesisError>;
    fn row(&mut self, a: &[(u64, Variable)], b: &[(u64, Variable)], c: &[(u64, Variable)]);
}

impl<CS: ConstraintSystem<Scalar>> System for CS {
    fn aux(&mut self, value: u64) -> Variable {
        self.alloc(|| "", || Ok(Scalar::from(value))).unwrap()
    }
    fn input(&mut self, value: u64) -> Variable {
        self.alloc_input(|| "", || Ok(Scalar::from(value))).unwrap()
    }
    fn fail(&mut self) -> Result<Variable, SynthesisError> {
        self.alloc(|| "", || Err(SynthesisError::DivisionByZero))
    }
    fn row(&mut self, a: &[(u64, Variable)], b: &[(u64, Variable)], c: &[(u64, Variable)]) {
        let [a, b, c] = [a, b, c].map(|terms| {
            terms
                .iter()
                .fold(bellpepper_core::LinearCombination::zero(), |lc, (k, v)| lc + (Scalar::from(*k), *v))
        });
        self.enforce(|| "", |_| a, |_| b, |_| c);
    }
}

impl<F: FnOnce(&mut dyn System) -> Result<(), SynthesisError>> Circuit<Scalar> for Scripted<F> {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        (self.0)(cs)
    }
}

fn one() -> Variable {
    Variable::new_unchecked(Index::Input(0))
}

fn rows(matrices: &Matrices, matrix: &Matrix) -> Vec<Vec<(u32, Scalar)>> {
    let mut out = Vec::new();
    matrix.for_each_row(|_, entries| {
        out.push(entries.map(|e| (e.col, matrices.dictionary[e.code as usize])).collect());
    });
    out
}

#[test]
fn inputs_come_first_whenever_they_were_allocated() {
    let circuit = Scripted(|cs: &mut dyn System| {
        let a = cs.aux(6);
        let x = cs.input(42);
        let b = cs.aux(7);
        let y = cs.input(5);
        cs.row(&[(1, b), (0, y)], &[(1, a), (0, x)], &[(1, x)]);
        cs.row(&[(2, y), (3, a), (1, one())], &[], &[]);
        Ok(())
    });
    let captured = capture(circuit).unwrap();
    assert_eq!(captured.witness, [1, 42, 5, 6, 7].map(Scalar::from));
    let m = captured.matrices;
    assert_eq!((m.constraints, m.inputs, m.aux), (2, 3, 2));
    let k = Scalar::from;
    // Zero coefficients are left out, terms ascend, and A ends with one row per input.
    let a = [
        vec![(4, k(1))],
        vec![(0, k(1)), (2, k(2)), (3, k(3))],
        vec![(0, k(1))],
        vec![(1, k(1))],
        vec![(2, k(1))],
    ];
    assert_eq!(rows(&m, &m.a), a);
    assert_eq!(rows(&m, &m.b), [vec![(3, k(1))], vec![]]);
    assert_eq!(rows(&m, m.c.as_ref().unwrap()), [vec![(1, k(1))], vec![]]);
    assert_eq!(check(&m, &captured.witness, &Control::default()).unwrap(), None);
}

#[test]
fn blank_capture_calls_no_closure() {
    let circuit = || {
        Scripted(|cs: &mut dyn System| {
            let x = cs.fail()?;
            cs.row(&[(1, x)], &[(1, x)], &[(1, x)]);
            Ok(())
        })
    };
    assert_eq!(capture_blank(circuit()).unwrap().aux, 1);
    let error = capture(circuit()).unwrap_err();
    assert!(matches!(error, CaptureError::Synthesis(_)), "{error}");
}

#[test]
fn another_number_of_variables_is_an_error() {
    let chain = |steps| Chain { start: Some(Scalar::from(3)), steps, publish: 3 };
    let matrices = capture_blank(Chain { start: None, ..chain(7) }).unwrap();
    let error = witness_of(chain(6), &matrices).unwrap_err().to_string();
    let (expected, found) = (matrices.aux, matrices.aux - 2);
    // Steps 6 and 7 differ by one private value and one square.
    assert!(
        error.contains(&format!("{found} auxiliary")) && error.contains(&expected.to_string()),
        "{error}"
    );
    let error = witness_of(chain(9), &matrices).unwrap_err();
    assert!(matches!(error, CaptureError::Allocations { kind: "input", expected: 3, found: 4 }), "{error}");
}

#[test]
fn unknown_variables_are_refused() {
    for (index, kind) in
        [(Index::Input(1), "input"), (Index::Aux(3), "auxiliary"), (Index::Aux(usize::MAX), "auxiliary")]
    {
        let circuit = Scripted(move |cs: &mut dyn System| {
            cs.aux(1);
            cs.row(&[], &[], &[]);
            cs.row(&[], &[(1, Variable::new_unchecked(index))], &[]);
            Ok(())
        });
        let error = capture_blank(circuit).unwrap_err();
        match error {
            CaptureError::UnknownVariable { constraint: 1, kind: found, .. } => assert_eq!(found, kind),
            other => panic!("{other}"),
        }
    }
}

/// Uses what a constraint system offers to code that generates witnesses directly or in parallel.
struct Fast;

impl Circuit<Scalar> for Fast {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        if cs.is_witness_generator() {
            let (aux, inputs) = cs.allocate_empty(2, 1);
            aux.copy_from_slice(&[Scalar::from(6), Scalar::from(7)]);
            inputs[0] = Scalar::from(42);
            cs.extend_aux(&[Scalar::from(8)]);
            assert_eq!((cs.inputs_slice().len(), cs.aux_slice().len()), (2, 3));
        } else {
            let (a, b, x) = (cs.aux(6), cs.aux(7), cs.input(42));
            cs.row(&[(1, a)], &[(1, b)], &[(1, x)]);
            let c = cs.aux(8);
            cs.row(&[(1, c)], &[(1, one())], &[(1, a), (2, one())]);
        }
        // Two independent parts, each with one input and one auxiliary variable.
        let part = |cs: &mut CS, value: u64| {
            let (y, x) = (cs.input(value), cs.aux(value));
            cs.row(&[(1, x)], &[(1, one())], &[(1, y)]);
        };
        if CS::is_extensible() {
            for value in [9, 10] {
                let mut child = CS::new();
                child.alloc_input(|| "one", || Ok(Scalar::ONE))?;
                part(&mut child, value);
                cs.extend(&child);
            }
        } else {
            [9, 10].into_iter().for_each(|value| part(cs, value));
        }
        Ok(())
    }
}

#[test]
fn direct_and_parallel_witness_generation_gives_the_recorded_witness() {
    let captured = capture(Fast).unwrap();
    assert_eq!(captured.witness, [1, 42, 9, 10, 6, 7, 8, 9, 10].map(Scalar::from));
    assert_eq!(witness_of(Fast, &captured.matrices).unwrap(), captured.witness);
    assert_eq!(capture_blank(Fast).unwrap(), captured.matrices);
    assert_eq!(check(&captured.matrices, &captured.witness, &Control::default()).unwrap(), None);
}

#[test]
fn checks_name_the_first_of_several_violations() {
    let captured = capture(Chain { start: Some(Scalar::from(3)), steps: 9000, publish: 1 << 30 }).unwrap();
    for step in [0usize, 4100, 8999] {
        let mut z = captured.witness.clone();
        // The square of this step and every later one: row 2 step is the first that does not hold.
        (step..9000).for_each(|s| z[2 + 2 * s] += Scalar::ONE);
        let found = check(&captured.matrices, &z, &Control::default()).unwrap().unwrap();
        assert_eq!(found.constraint, 2 * step);
    }
}

#[test]
fn folded_matrices_give_the_same_proof() {
    let steps = 50;
    let captured = capture(Chain { start: Some(Scalar::from(3)), steps, publish: 1 << 30 }).unwrap();
    // z = [1, x0, y0, x1, y1, ...]: a step uses x, y and the next x.
    let shifts = vec![Shift { from: 1, until: 4, stride: 2 }];
    let repeats = Repeats { first_row: 0, rows: 2, copies: steps as u32, shifts };
    let folded = fold_repeats(&captured.matrices, &repeats).unwrap();
    assert!(folded.a.blocks[0].cols.len() < 10, "one step only");
    let waste = ToxicWaste::from_seed(b"folded");
    let proofs = [captured.matrices, folded].map(|matrices| {
        let key = setup(&matrices, SetupForm::Monomial, Root::Seven, &waste, &Control::default()).unwrap();
        let backend = cuzk_core::backend::cpu::CpuBackend::open(&Default::default()).unwrap();
        let lane = Lane::new(backend).unwrap();
        let key = lane.load_key(Arc::new(key), Arc::new(matrices), None, &Control::default()).unwrap();
        let blinding = Blinding::Fixed { r: Scalar::from(5), s: Scalar::from(6) };
        let partition = Partition { blinding, ..Partition::new(Witness::dense(captured.witness.clone())) };
        lane.submit(key, partition, Control::default()).unwrap().wait().unwrap().proof
    });
    assert_eq!(proofs[0], proofs[1]);
}
