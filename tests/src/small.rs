//! A circuit small enough to be proved a thousand times: bits, a chain of products, one public output.

use cuzk_core::circuit::{Matrices, MatricesBuilder, MatricesError};
use cuzk_core::curve::Scalar;
use ff::Field;

const BITS: u32 = 40;
const STEPS: u32 = 9;

/// Variables: 1, the output, 40 bits b_i, and v_0..v_9 with v_(j+1) = v_j (v_j + b_j + 3). The output is v_9.
const BIT: u32 = 2;
const VALUE: u32 = BIT + BITS;

/// The circuit: 50 constraints, so a domain of 64.
///
/// # Errors
/// Never: it is small.
pub fn circuit() -> Result<Matrices, MatricesError> {
    let one = Scalar::ONE;
    let mut builder = MatricesBuilder::default();
    let mut row = |a: &[(u32, Scalar)], b: &[(u32, Scalar)], c: &[(u32, Scalar)]| {
        builder.push_row(0, &mut a.to_vec())?;
        builder.push_row(1, &mut b.to_vec())?;
        builder.push_row(2, &mut c.to_vec())
    };
    for i in 0..BITS {
        row(&[(BIT + i, one)], &[(0, one), (BIT + i, -one)], &[])?;
    }
    for j in 0..STEPS {
        let step = [(VALUE + j, one), (BIT + j, one), (0, Scalar::from(3))];
        row(&[(VALUE + j, one)], &step, &[(VALUE + j + 1, one)])?;
    }
    row(&[(VALUE + STEPS, one)], &[(0, one)], &[(1, one)])?;
    builder.finish(2, (BITS + STEPS + 1) as usize, true)
}

/// A witness that satisfies it, from the bits and v_0.
pub fn witness(bits: u64, start: Scalar) -> Vec<Scalar> {
    let bits: Vec<Scalar> = (0..BITS).map(|i| Scalar::from(bits >> i & 1)).collect();
    let mut values = vec![start];
    for bit in &bits[..STEPS as usize] {
        let v = values[values.len() - 1];
        values.push(v * (v + bit + Scalar::from(3)));
    }
    let output = values[values.len() - 1];
    [vec![Scalar::ONE, output], bits, values].concat()
}
