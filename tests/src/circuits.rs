//! Small bellpepper circuits that use what circuits use: inputs in between, shared terms, zero coefficients, constants.

use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError};
use blstrs::Scalar;
use ff::Field;

/// x -> x^3 + x + 5, `steps` times, with every `publish`-th value a public input.
#[derive(Clone, Debug)]
pub struct Chain {
    /// First value; `None` for a blank circuit.
    pub start: Option<Scalar>,
    /// Length of the chain.
    pub steps: usize,
    /// Distance of the public values.
    pub publish: usize,
}

impl Circuit<Scalar> for Chain {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let known = |v: Option<Scalar>| v.ok_or(SynthesisError::AssignmentMissing);
        let mut value = self.start;
        let mut x = cs.alloc(|| "start", || known(value))?;
        for step in 0..self.steps {
            let square = value.map(|v| v * v);
            let y = cs.alloc(|| format!("square {step}"), || known(square))?;
            // A term that cancels and one that repeats: x + 7 ONE - 7 ONE, and y as y/2 + y/2.
            let seven = Scalar::from(7);
            cs.enforce(
                || format!("square {step}"),
                |lc| lc + x + (seven, CS::one()) - (seven, CS::one()),
                |lc| lc + x,
                |lc| lc + (Scalar::ONE.halve(), y) + (Scalar::ONE.halve(), y),
            );
            let next = value.zip(square).map(|(v, s)| s * v + v + Scalar::from(5));
            let z = match (step + 1) % self.publish {
                0 => cs.alloc_input(|| format!("public {step}"), || known(next))?,
                _ => cs.alloc(|| format!("value {step}"), || known(next))?,
            };
            cs.enforce(
                || format!("cube {step}"),
                |lc| lc + y,
                |lc| lc + x,
                |lc| lc + z - x - (Scalar::from(5), CS::one()),
            );
            (x, value) = (z, next);
        }
        Ok(())
    }
}

trait Halve {
    fn halve(self) -> Self;
}

impl Halve for Scalar {
    fn halve(self) -> Self {
        self * Scalar::from(2).invert().expect("2 is not 0")
    }
}

/// Linear constraints only: A and B empty but for the constant.
#[derive(Clone, Debug)]
pub struct Linear {
    /// Two summands.
    pub values: Option<(Scalar, Scalar)>,
}

impl Circuit<Scalar> for Linear {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let known = |v: Option<Scalar>| v.ok_or(SynthesisError::AssignmentMissing);
        let a = cs.alloc(|| "a", || known(self.values.map(|v| v.0)))?;
        let sum = cs.alloc_input(|| "sum", || known(self.values.map(|v| v.0 + v.1)))?;
        let b = cs.alloc(|| "b", || known(self.values.map(|v| v.1)))?;
        let one = |lc: LinearCombination<Scalar>| lc + CS::one();
        cs.enforce(|| "sum", |lc| lc + a + b, one, |lc| lc + sum);
        cs.enforce(|| "again", |lc| lc, |lc| lc, |lc| lc + sum - a - b);
        Ok(())
    }
}
