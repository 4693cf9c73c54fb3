//! Sparse matrix times vector, against the rows written out.

use ff::Field;

use super::rig::{During, Rig, refused};
use super::values::{self, below};
use super::{Outcome, Subject};
use crate::backend::{Backend, DeviceBuffer};
use crate::circuit::{Block, Codes, Matrix, Shift};
use crate::curve::Scalar;

/// A block of rows with the given numbers of entries, at random ascending columns below `cols` (and below `until` in front, if a
/// shift is to stay inside).
fn block<B: Backend>(rig: &mut Rig<B>, lengths: &[usize], cols: usize, codes: usize, wide: bool) -> Block {
    let (mut row_ptr, mut columns, mut all_codes) = (vec![0u32], Vec::new(), Vec::new());
    for &len in lengths {
        let mut row: Vec<u32> = (0..len).map(|_| below(&mut rig.rng, cols) as u32).collect();
        if len >= cols {
            row = (0..cols as u32).collect();
        }
        row.sort_unstable();
        row.dedup();
        all_codes.extend(row.iter().map(|_| below(&mut rig.rng, codes) as u32));
        columns.extend(row);
        row_ptr.push(columns.len() as u32);
    }
    let codes = match wide {
        true => Codes::Wide(all_codes),
        false => Codes::Narrow(all_codes.iter().map(|c| *c as u16).collect()),
    };
    Block { repeat: 1, shifts: Vec::new(), row_ptr, cols: columns, codes }
}

fn examine<B: Backend>(
    rig: &mut Rig<B>,
    matrix: &Matrix,
    cols: usize,
    dictionary: &[Scalar],
    tail: usize,
) -> Outcome {
    let z = values::mixed(&mut rig.rng, cols);
    let mut expected = vec![Scalar::ZERO; matrix.rows() + tail];
    matrix.for_each_row(|row, entries| {
        expected[row] = entries.map(|e| dictionary[e.code as usize] * z[e.col as usize]).sum();
    });
    let on_device = rig.matrix(matrix, cols, dictionary)?;
    let z_buffer = rig.upload(&z)?;
    let mut out = rig.scalar_garbage(expected.len())?;
    let what = format!("matrix of {} rows, {cols} columns, {} entries", matrix.rows(), matrix.nnz());
    rig.backend.spmv(&rig.stream, &on_device, &z_buffer, &mut out).during(&what)?;
    rig.expect(&out, &expected, &what)?;
    rig.expect(&z_buffer, &z, "z after spmv")
}

/// Empty, single, short, long and full rows; a tail of rows that must be zeroed
pub fn rows_of_every_length<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    let dictionary = values::mixed(&mut rig.rng, 50)[1..].to_vec();
    for rows in values::sizes(rig.limits.elements / 4) {
        let cols = rows.max(1) * 2 + 3;
        let mut lengths: Vec<usize> = (0..rows).map(|row| [0, 1, 2, 3, 5, 9, 0, 40][row % 8]).collect();
        if let Some(middle) = lengths.get_mut(rows / 2) {
            *middle = cols;
        }
        let block = block(&mut rig, &lengths, cols, dictionary.len(), false);
        examine(&mut rig, &Matrix { blocks: vec![block] }, cols, &dictionary, rows % 5)?;
    }
    // All rows empty, and one column that every row reads.
    for lengths in [vec![0; 70], vec![1; 70]] {
        let block = block(&mut rig, &lengths, 1, dictionary.len(), false);
        examine(&mut rig, &Matrix { blocks: vec![block] }, 1, &dictionary, 58)?;
    }
    Ok(())
}

/// Preamble, block with two moving ranges, block with four, preamble again
pub fn repeated_blocks_with_shifts<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    let dictionary = values::scalars(&mut rig.rng, 9);
    let shift = |from, until, stride| Shift { from, until, stride };
    let two = vec![shift(10, 30, 20), shift(100, 104, 1)];
    let four = vec![shift(0, 1, 200), shift(1, 2, 0), shift(50, 60, 3), shift(90, 110, 150)];
    for copies in [1, 2, 3, 7, 64] {
        let cols = 200 * (copies as usize + 1);
        let mut blocks = Vec::new();
        for (shifts, repeat, lengths) in [
            (Vec::new(), 1, vec![3, 0, 2]),
            (two.clone(), copies, vec![5, 0, 1, 30]),
            (four.clone(), copies, vec![40]),
            (Vec::new(), 1, vec![1]),
        ] {
            let block = block(&mut rig, &lengths, 110, dictionary.len(), false);
            blocks.push(Block { repeat, shifts: if repeat == 1 { Vec::new() } else { shifts }, ..block });
        }
        examine(&mut rig, &Matrix { blocks }, cols, &dictionary, 11)?;
    }
    Ok(())
}

/// Codes of 32 bits, among them those that do not fit 16
pub fn wide_dictionaries<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    let step = Scalar::random(&mut rig.rng);
    let mut dictionary: Vec<Scalar> =
        std::iter::successors(Some(step), |d| Some(d + step)).take(66_000).collect();
    dictionary[65_536] = -Scalar::ONE;
    let mut wide = block(&mut rig, &[3, 0, 50, 1, 9], 60, dictionary.len(), true);
    if let Codes::Wide(codes) = &mut wide.codes {
        codes[0] = 65_535;
        codes[1] = 65_536;
        codes[2] = 65_999;
    }
    // The two largest narrow codes, and the two widths in one matrix.
    let mut narrow = block(&mut rig, &[2, 40], 60, 65_536, false);
    if let Codes::Narrow(codes) = &mut narrow.codes {
        codes[0] = u16::MAX;
    }
    examine(&mut rig, &Matrix { blocks: vec![wide] }, 60, &dictionary, 3)?;
    examine(&mut rig, &Matrix { blocks: vec![narrow] }, 60, &dictionary[..65_536], 0)
}

/// No rows, no blocks: everything is tail
pub fn empty_matrices<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    let dictionary = values::scalars(&mut rig.rng, 1);
    let no_rows = block(&mut rig, &[], 4, 1, false);
    for blocks in [Vec::new(), vec![no_rows]] {
        for tail in [0, 1, 64] {
            examine(&mut rig, &Matrix { blocks: blocks.clone() }, 4, &dictionary, tail)?;
        }
    }
    Ok(())
}

/// z of another length than the columns, out shorter than the rows
pub fn refuses_wrong_lengths<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    let block = block(&mut rig, &[2, 2, 2], 6, 1, false);
    let matrix = rig.matrix(&Matrix { blocks: vec![block] }, 6, &[Scalar::ONE])?;
    for (z, out) in [(5, 3), (7, 3), (0, 3), (6, 2), (6, 0)] {
        let (z, mut out) = (rig.upload(&vec![Scalar::ONE; z])?, rig.upload(&vec![Scalar::ONE; out])?);
        let result = rig.backend.spmv(&rig.stream, &matrix, &z, &mut out);
        refused(result, format_args!("3 rows of 6 columns with {} and {} elements", z.len(), out.len()))?;
    }
    Ok(())
}
