//! Sparse matrix times vector, in parallel over rows. Most coefficients of real circuits are 1 or -1 and most values of a witness
//! 0 or 1: neither costs a multiplication.

use ff::Field;
use rayon::prelude::*;

use super::pointwise::is_zero;
use crate::backend::host::HostDevice;
use crate::backend::{BackendError, DeviceBlock, DeviceCodes, DeviceMatrix, Result};
use crate::circuit::Shift;
use crate::curve::{Scalar, scalar_add, scalar_sub};

/// Rows per task.
const PIECE: usize = 512;

/// What a coefficient asks for.
#[derive(Clone, Copy)]
enum Coefficient {
    One,
    MinusOne,
    Other(Scalar),
}

fn invalid(what: &'static str, expected: usize, found: usize) -> BackendError {
    BackendError::Invalid { op: "spmv", what, expected: expected as u64, found: found as u64 }
}

/// out\[..rows\] = matrix * z, out\[rows..\] = 0.
pub(super) fn multiply(matrix: &DeviceMatrix<HostDevice>, z: &[Scalar], out: &mut [Scalar]) -> Result<()> {
    super::invalid_len("spmv", "length of z", matrix.cols, z.len())?;
    if out.len() < matrix.rows {
        return Err(invalid("length of the result at least", matrix.rows, out.len()));
    }
    let dictionary: Vec<Coefficient> = matrix.dictionary.as_slice().iter().map(classify).collect();
    let (mut rows, tail) = out.split_at_mut(matrix.rows);
    tail.par_chunks_mut(PIECE * 8).for_each(|piece| piece.fill(Scalar::ZERO));
    for block in &matrix.blocks {
        let height = block.rows.saturating_mul(block.repeat as usize);
        if height > rows.len() {
            return Err(invalid("rows of the blocks together", matrix.rows, height));
        }
        let (own, below) = rows.split_at_mut(height);
        multiply_block(block, &dictionary, z, own)?;
        rows = below;
    }
    if rows.is_empty() { Ok(()) } else { Err(invalid("rows that no block fills", 0, rows.len())) }
}

fn classify(value: &Scalar) -> Coefficient {
    if *value == Scalar::ONE {
        Coefficient::One
    } else if *value == -Scalar::ONE {
        Coefficient::MinusOne
    } else {
        Coefficient::Other(*value)
    }
}

fn multiply_block(
    block: &DeviceBlock<HostDevice>,
    dictionary: &[Coefficient],
    z: &[Scalar],
    out: &mut [Scalar],
) -> Result<()> {
    super::invalid_len("spmv", "row offsets of a block", block.rows + 1, block.row_ptr.as_slice().len())?;
    match &block.codes {
        DeviceCodes::Narrow(codes) => rows_of(block, codes.as_slice(), dictionary, z, out),
        DeviceCodes::Wide(codes) => rows_of(block, codes.as_slice(), dictionary, z, out),
    }
}

fn rows_of<T: Copy + Into<u32> + Sync>(
    block: &DeviceBlock<HostDevice>,
    codes: &[T],
    dictionary: &[Coefficient],
    z: &[Scalar],
    out: &mut [Scalar],
) -> Result<()> {
    let (row_ptr, cols) = (block.row_ptr.as_slice(), block.cols.as_slice());
    super::invalid_len("spmv", "codes of a block", cols.len(), codes.len())?;
    out.par_chunks_mut(PIECE).enumerate().try_for_each(|(piece, out)| {
        for (i, out) in out.iter_mut().enumerate() {
            let at = piece * PIECE + i;
            let (copy, row) = (at / block.rows, at % block.rows);
            let range = row_ptr[row] as usize..row_ptr[row + 1] as usize;
            let (Some(cols), Some(codes)) = (cols.get(range.clone()), codes.get(range.clone())) else {
                return Err(invalid("end of a row at most", cols.len(), range.end));
            };
            *out = row_product(cols, codes, &block.shifts, copy, dictionary, z)?;
        }
        Ok(())
    })
}

#[inline]
fn row_product<T: Copy + Into<u32>>(
    cols: &[u32],
    codes: &[T],
    shifts: &[Shift],
    copy: usize,
    dictionary: &[Coefficient],
    z: &[Scalar],
) -> Result<Scalar> {
    let mut sum = Scalar::ZERO;
    for (&col, &code) in cols.iter().zip(codes) {
        let shift = shifts.iter().find(|s| (s.from..s.until).contains(&col)).map_or(0, |s| s.stride as usize);
        let col = col as usize + copy * shift;
        let value = z.get(col).ok_or_else(|| invalid("column below", z.len(), col))?;
        let code = code.into() as usize;
        let coefficient =
            dictionary.get(code).ok_or_else(|| invalid("code below", dictionary.len(), code))?;
        if is_zero(value) {
            continue;
        }
        match coefficient {
            Coefficient::One => sum = scalar_add(&sum, value),
            Coefficient::MinusOne => sum = scalar_sub(&sum, value),
            Coefficient::Other(c) if *value == Scalar::ONE => sum = scalar_add(&sum, c),
            Coefficient::Other(c) => sum = scalar_add(&sum, &(*c * value)),
        }
    }
    Ok(sum)
}
