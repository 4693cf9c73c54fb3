//! Any bellpepper circuit as matrices and as a witness, without a fork of bellpepper: two constraint systems of our own.
//!
//! Inputs and auxiliary variables may be allocated in any order; z = [1, inputs, auxiliary] is put in order at the end. The
//! matrices are those that bellperson's key generator sees, so a key made by either fits.
//!
//! ```
//! use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
//! use cuzk_core::circuit::{capture_blank, witness_of};
//! use cuzk_core::curve::Scalar;
//!
//! struct Square(Option<Scalar>);
//!
//! impl Circuit<Scalar> for Square {
//!     fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
//!         let root = cs.alloc(|| "root", || self.0.ok_or(SynthesisError::AssignmentMissing))?;
//!         let square = cs.alloc_input(|| "square", || self.0.map(|x| x * x).ok_or(SynthesisError::AssignmentMissing))?;
//!         cs.enforce(|| "square", |lc| lc + root, |lc| lc + root, |lc| lc + square);
//!         Ok(())
//!     }
//! }
//!
//! let matrices = capture_blank(Square(None))?;
//! assert_eq!((matrices.constraints, matrices.inputs, matrices.aux), (1, 2, 1));
//! let z = witness_of(Square(Some(Scalar::from(3))), &matrices)?;
//! assert_eq!(z, [1, 9, 3].map(Scalar::from));
//! # Ok::<(), cuzk_core::circuit::CaptureError>(())
//! ```

use std::sync::Arc;

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use ff::Field;

use super::{Matrices, MatricesBuilder, MatricesError};
use crate::curve::Scalar;

/// A circuit with the witness it was recorded with.
#[derive(Clone)]
pub struct Captured {
    /// The constraints.
    pub matrices: Matrices,
    /// z.
    pub witness: Vec<Scalar>,
}

/// Witness values never reach a log: only the shape is shown.
impl std::fmt::Debug for Captured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Captured({} constraints, {} values)", self.matrices.constraints, self.witness.len())
    }
}

/// Why a circuit could not be captured, or a witness not be generated for it.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The circuit's own code failed.
    #[error("synthesis failed: {0}")]
    Synthesis(Arc<SynthesisError>),
    /// The circuit is beyond what one block holds.
    #[error(transparent)]
    Matrices(#[from] MatricesError),
    /// More than 2^31 variables of a kind.
    #[error("more than 2^31 {kind} variables")]
    TooManyVariables {
        /// "input" or "auxiliary".
        kind: &'static str,
    },
    /// A constraint names a variable that was not allocated.
    #[error("constraint {constraint} uses {kind} variable {index}, but only {allocated} are allocated")]
    UnknownVariable {
        /// Which constraint, from 0.
        constraint: usize,
        /// "input" or "auxiliary".
        kind: &'static str,
        /// Its number.
        index: usize,
        /// How many there are.
        allocated: usize,
    },
    /// The circuit allocates other variables now than when its matrices were captured.
    #[error("the circuit allocated {found} {kind} variables, its matrices were captured with {expected}")]
    Allocations {
        /// "input" or "auxiliary".
        kind: &'static str,
        /// In the matrices.
        expected: usize,
        /// In this run.
        found: usize,
    },
}

impl From<SynthesisError> for CaptureError {
    fn from(error: SynthesisError) -> Self {
        Self::Synthesis(Arc::new(error))
    }
}

/// Matrices and witness of a circuit in one run.
pub fn capture(circuit: impl Circuit<Scalar>) -> Result<Captured, CaptureError> {
    let mut recorder = Recorder::new_with(Some(Assignment::with_one()));
    circuit.synthesize(&mut recorder)?;
    let (matrices, assignment) = recorder.finish()?;
    let witness = assignment.map(Assignment::into_z).unwrap_or_default();
    Ok(Captured { matrices, witness })
}

/// Matrices of a circuit without a witness: no closure that computes a value is called.
pub fn capture_blank(circuit: impl Circuit<Scalar>) -> Result<Matrices, CaptureError> {
    let mut recorder = Recorder::new_with(None);
    circuit.synthesize(&mut recorder)?;
    Ok(recorder.finish()?.0)
}

/// The witness of a circuit whose matrices were captured before: values only, no constraints. The numbers of variables are compared.
pub fn witness_of(circuit: impl Circuit<Scalar>, matrices: &Matrices) -> Result<Vec<Scalar>, CaptureError> {
    let mut assignment = Assignment::with_one();
    assignment.inputs.reserve(matrices.inputs);
    assignment.aux.reserve(matrices.aux);
    circuit.synthesize(&mut assignment)?;
    let counts = [
        ("input", matrices.inputs, assignment.inputs.len()),
        ("auxiliary", matrices.aux, assignment.aux.len()),
    ];
    for (kind, expected, found) in counts {
        if expected != found {
            return Err(CaptureError::Allocations { kind, expected, found });
        }
    }
    Ok(assignment.into_z())
}

/// Auxiliary columns carry this bit until the number of inputs is known. They stay behind the inputs of a row either way.
const AUX: u32 = 1 << 31;

/// Records constraints, and values where there is an assignment.
struct Recorder {
    builder: MatricesBuilder,
    inputs: usize,
    aux: usize,
    constraints: usize,
    assignment: Option<Assignment>,
    terms: Vec<(u32, Scalar)>,
    /// The first error of a constraint; `enforce` cannot return it.
    error: Option<CaptureError>,
}

impl Recorder {
    fn new_with(assignment: Option<Assignment>) -> Self {
        Self {
            builder: MatricesBuilder::default(),
            inputs: 1,
            aux: 0,
            constraints: 0,
            assignment,
            terms: Vec::new(),
            error: None,
        }
    }

    fn finish(mut self) -> Result<(Matrices, Option<Assignment>), CaptureError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        for (kind, count) in [("input", self.inputs), ("auxiliary", self.aux)] {
            if count + self.inputs > AUX as usize {
                return Err(CaptureError::TooManyVariables { kind });
            }
        }
        let inputs = self.inputs as u32;
        self.builder.remap_columns(|col| if col & AUX == 0 { col } else { (col ^ AUX) + inputs });
        let matrices = self.builder.finish(self.inputs, self.aux, true)?;
        Ok((matrices, self.assignment))
    }

    fn push(&mut self, matrix: usize, lc: &LinearCombination<Scalar>) -> Result<(), CaptureError> {
        self.terms.clear();
        for (variable, coefficient) in lc.iter() {
            let (kind, index, allocated, tag) = match variable.get_unchecked() {
                Index::Input(i) => ("input", i, self.inputs, 0),
                Index::Aux(i) => ("auxiliary", i, self.aux, AUX),
            };
            if index >= allocated {
                return Err(CaptureError::UnknownVariable {
                    constraint: self.constraints,
                    kind,
                    index,
                    allocated,
                });
            }
            let col = u32::try_from(index).ok().filter(|i| *i < AUX);
            self.terms.push((col.ok_or(CaptureError::TooManyVariables { kind })? | tag, *coefficient));
        }
        Ok(self.builder.push_row(matrix, &mut self.terms)?)
    }
}

impl ConstraintSystem<Scalar> for Recorder {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        if let Some(assignment) = &mut self.assignment {
            assignment.aux.push(f()?);
        }
        self.aux += 1;
        Ok(Variable::new_unchecked(Index::Aux(self.aux - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        if let Some(assignment) = &mut self.assignment {
            assignment.inputs.push(f()?);
        }
        self.inputs += 1;
        Ok(Variable::new_unchecked(Index::Input(self.inputs - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        if self.error.is_some() {
            return;
        }
        let zero = LinearCombination::zero;
        let rows = [a(zero()), b(zero()), c(zero())];
        let pushed = rows.iter().enumerate().try_for_each(|(matrix, lc)| self.push(matrix, lc));
        self.constraints += 1;
        self.error = pushed.err();
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }
    fn pop_namespace(&mut self) {}
    fn get_root(&mut self) -> &mut Self {
        self
    }
}

/// Values only. Extensible, so that circuits that can be synthesised in parallel are; an instance made by `new` has no inputs (its
/// maker allocates the constant 1), and `extend` leaves out the other's input 0.
struct Assignment {
    inputs: Vec<Scalar>,
    aux: Vec<Scalar>,
}

impl Assignment {
    fn with_one() -> Self {
        Self { inputs: vec![Scalar::ONE], aux: Vec::new() }
    }

    fn into_z(self) -> Vec<Scalar> {
        let mut z = self.inputs;
        z.extend_from_slice(&self.aux);
        z
    }
}

impl ConstraintSystem<Scalar> for Assignment {
    type Root = Self;

    fn new() -> Self {
        Self { inputs: Vec::new(), aux: Vec::new() }
    }

    fn alloc<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.aux.push(f()?);
        Ok(Variable::new_unchecked(Index::Aux(self.aux.len() - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs.push(f()?);
        Ok(Variable::new_unchecked(Index::Input(self.inputs.len() - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, _: LA, _: LB, _: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }
    fn pop_namespace(&mut self) {}
    fn get_root(&mut self) -> &mut Self {
        self
    }

    fn is_extensible() -> bool {
        true
    }
    fn extend(&mut self, other: &Self) {
        self.inputs.extend_from_slice(other.inputs.get(1..).unwrap_or_default());
        self.aux.extend_from_slice(&other.aux);
    }

    fn is_witness_generator(&self) -> bool {
        true
    }
    fn extend_inputs(&mut self, new: &[Scalar]) {
        self.inputs.extend_from_slice(new);
    }
    fn extend_aux(&mut self, new: &[Scalar]) {
        self.aux.extend_from_slice(new);
    }
    fn allocate_empty(&mut self, aux: usize, inputs: usize) -> (&mut [Scalar], &mut [Scalar]) {
        (grow(&mut self.aux, aux), grow(&mut self.inputs, inputs))
    }
    fn allocate_empty_inputs(&mut self, n: usize) -> &mut [Scalar] {
        grow(&mut self.inputs, n)
    }
    fn allocate_empty_aux(&mut self, n: usize) -> &mut [Scalar] {
        grow(&mut self.aux, n)
    }
    fn inputs_slice(&self) -> &[Scalar] {
        &self.inputs
    }
    fn aux_slice(&self) -> &[Scalar] {
        &self.aux
    }
}

/// The `n` new values at the end.
fn grow(values: &mut Vec<Scalar>, n: usize) -> &mut [Scalar] {
    let start = values.len();
    values.resize(start + n, Scalar::ZERO);
    &mut values[start..]
}
