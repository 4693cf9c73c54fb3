//! Storing a block once where a circuit repeats it.
//!
//! Many circuits are a loop: the same rows again and again, on shifted columns. A matrix then is a head, one block with its number of
//! copies and its shifts, and a tail. Whoever knows the loop says so, and every entry of every copy is compared before it is left out.

use rayon::prelude::*;

use super::{Block, Codes, Matrices, Matrix, Shift};

/// A claim about a circuit: rows `first_row..` are `copies` copies of `rows` rows, one below the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// First row of copy 0.
    pub first_row: usize,
    /// Rows of one copy.
    pub rows: usize,
    /// Copies, at least 1.
    pub copies: u32,
    /// Columns that move from copy to copy; all others stay.
    pub shifts: Vec<Shift>,
}

/// Why a circuit does not repeat as claimed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RepeatError {
    /// The matrices are folded already.
    #[error("matrix {matrix} is not flat: it has {blocks} blocks")]
    NotFlat {
        /// 'A', 'B' or 'C'.
        matrix: char,
        /// How many.
        blocks: usize,
    },
    /// The copies reach beyond the constraints.
    #[error("{copies} copies of {rows} rows from row {first_row} end beyond the {constraints} constraints")]
    Rows {
        /// Copies claimed.
        copies: u32,
        /// Rows of one.
        rows: usize,
        /// First row of copy 0.
        first_row: usize,
        /// What there is.
        constraints: usize,
    },
    /// Shifts must be at most [`Block::MAX_SHIFTS`], ascending, disjoint and not empty, and end within the variables.
    #[error(
        "shift {index} is empty, overlaps the one before, is one too many, or leaves the {variables} variables"
    )]
    Shifts {
        /// Which one.
        index: usize,
        /// m.
        variables: usize,
    },
    /// A copy is not the first one shifted.
    #[error("matrix {matrix}: row {row} is not row {expected_row} of the first copy, shifted")]
    Differs {
        /// 'A', 'B' or 'C'.
        matrix: char,
        /// The row that differs.
        row: usize,
        /// The row of copy 0 it should be.
        expected_row: usize,
    },
}

/// The same matrices with the repetition folded. Every entry has been compared.
pub fn fold_repeats(matrices: &Matrices, repeats: &Repeats) -> Result<Matrices, RepeatError> {
    check_claim(matrices, repeats)?;
    let fold = |name, matrix| fold_matrix(name, matrix, repeats);
    Ok(Matrices {
        dictionary: matrices.dictionary.clone(),
        a: fold('A', &matrices.a)?,
        b: fold('B', &matrices.b)?,
        c: matrices.c.as_ref().map(|c| fold('C', c)).transpose()?,
        ..*matrices
    })
}

fn check_claim(matrices: &Matrices, repeats: &Repeats) -> Result<(), RepeatError> {
    let Repeats { first_row, rows, copies, ref shifts } = *repeats;
    let end = rows.checked_mul(copies as usize).and_then(|all| all.checked_add(first_row));
    if rows == 0 || copies == 0 || end.is_none_or(|end| end > matrices.constraints) {
        return Err(RepeatError::Rows { copies, rows, first_row, constraints: matrices.constraints });
    }
    let variables = matrices.variables();
    let mut previous = 0;
    for (index, shift) in shifts.iter().enumerate() {
        let last = u64::from(shift.until) + u64::from(shift.stride) * u64::from(copies - 1);
        let good = index < Block::MAX_SHIFTS
            && shift.from >= previous
            && shift.from < shift.until
            && last <= variables as u64;
        if !good {
            return Err(RepeatError::Shifts { index, variables });
        }
        previous = shift.until;
    }
    Ok(())
}

fn fold_matrix(name: char, matrix: &Matrix, repeats: &Repeats) -> Result<Matrix, RepeatError> {
    let flat = match matrix.blocks.as_slice() {
        [flat] if flat.repeat == 1 => flat,
        blocks => return Err(RepeatError::NotFlat { matrix: name, blocks: blocks.len() }),
    };
    let Repeats { first_row, rows, copies, .. } = *repeats;
    let end = first_row + rows * copies as usize;
    let body =
        Block { repeat: copies, shifts: repeats.shifts.clone(), ..slice(flat, first_row, first_row + rows) };
    let differing = (first_row + rows..end).into_par_iter().find_first(|row| {
        let copy = ((row - first_row) / rows) as u32;
        !is_shifted(flat, *row, &body, (row - first_row) % rows, copy)
    });
    if let Some(row) = differing {
        let expected_row = first_row + (row - first_row) % rows;
        return Err(RepeatError::Differs { matrix: name, row, expected_row });
    }
    let parts = [slice(flat, 0, first_row), body, slice(flat, end, flat.rows())];
    Ok(Matrix { blocks: parts.into_iter().filter(|b| b.rows() > 0).collect() })
}

/// Rows `from..until` of a flat block.
fn slice(flat: &Block, from: usize, until: usize) -> Block {
    let base = flat.row_ptr[from];
    let entries = base as usize..flat.row_ptr[until] as usize;
    let codes = match &flat.codes {
        Codes::Narrow(codes) => Codes::Narrow(codes[entries.clone()].to_vec()),
        Codes::Wide(codes) => Codes::Wide(codes[entries.clone()].to_vec()),
    };
    let row_ptr = flat.row_ptr[from..=until].iter().map(|p| p - base).collect();
    Block { repeat: 1, shifts: Vec::new(), row_ptr, cols: flat.cols[entries].to_vec(), codes }
}

/// Whether a row of `flat` is row `first` of `body` as it stands in copy `copy`. Both are ascending and distinct in their own columns;
/// a shift may change which of two columns comes first.
fn is_shifted(flat: &Block, row: usize, body: &Block, first: usize, copy: u32) -> bool {
    let range = |b: &Block, r: usize| b.row_ptr[r] as usize..b.row_ptr[r + 1] as usize;
    let (here, there) = (range(flat, row), range(body, first));
    if here.len() != there.len() {
        return false;
    }
    let mut shifted: Vec<(u32, usize)> =
        there.map(|i| (body.shifted(body.cols[i], copy), body.codes.get(i))).collect();
    if !shifted.is_sorted() {
        shifted.sort_unstable();
    }
    here.zip(shifted).all(|(i, (col, code))| flat.cols[i] == col && flat.codes.get(i) == code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::MatricesBuilder;
    use crate::curve::Scalar;
    use ff::Field;
    use rand_core::SeedableRng;

    /// 2 inputs; a preamble of 2 aux and 1 row, then 5 copies of 3 rows over 1 input-free block of 4 aux, then 2 rows.
    fn looped(spoil: impl Fn(usize, usize, &mut Vec<(u32, Scalar)>)) -> Matrices {
        let mut builder = MatricesBuilder::default();
        let mut row = 0;
        let mut push = |terms: [Vec<(u32, u64)>; 3]| {
            for (matrix, terms) in terms.into_iter().enumerate() {
                let mut terms = terms.into_iter().map(|(c, v)| (c, Scalar::from(v))).collect();
                spoil(row, matrix, &mut terms);
                builder.push_row(matrix, &mut terms).unwrap();
            }
            row += 1;
        };
        push([vec![(0, 1), (2, 3)], vec![(3, 1)], vec![(2, 7)]]);
        for copy in 0..5 {
            let x = 4 + 4 * copy;
            push([vec![(x, 5), (x + 1, 9)], vec![(1, 1)], vec![(x + 2, 1)]]);
            push([vec![], vec![(x, 1)], vec![(x + 3, 2), (3, 4)]]);
            push([vec![(0, 1), (2, 8), (x + 3, 1)], vec![(x + 2, 6), (x + 1, 2)], vec![]]);
        }
        push([vec![(23, 1)], vec![(4, 1)], vec![(1, 1)]]);
        push([vec![(22, 1)], vec![(5, 1)], vec![(1, 1)]]);
        builder.finish(2, 22, true).unwrap()
    }

    fn claim() -> Repeats {
        Repeats { first_row: 1, rows: 3, copies: 5, shifts: vec![Shift { from: 4, until: 8, stride: 4 }] }
    }

    fn times(matrix: &Matrix, dictionary: &[Scalar], z: &[Scalar]) -> Vec<Scalar> {
        let mut out = Vec::new();
        matrix.for_each_row(|_, entries| {
            out.push(entries.map(|e| dictionary[e.code as usize] * z[e.col as usize]).sum());
        });
        out
    }

    #[test]
    fn folded_and_flat_give_the_same_products() {
        let flat = looped(|_, _, _| ());
        let folded = fold_repeats(&flat, &claim()).unwrap();
        assert_eq!(folded.a.blocks.len(), 3);
        assert!(folded.a.blocks[1].cols.len() * 5 > folded.a.blocks[1].cols.len());
        let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(1);
        let z: Vec<Scalar> = (0..24).map(|_| Scalar::random(&mut rng)).collect();
        let pairs = [
            (&flat.a, &folded.a),
            (&flat.b, &folded.b),
            (flat.c.as_ref().unwrap(), folded.c.as_ref().unwrap()),
        ];
        for (flat_matrix, folded_matrix) in pairs {
            assert_eq!(flat_matrix.nnz(), folded_matrix.nnz());
            assert_eq!(times(flat_matrix, &flat.dictionary, &z), times(folded_matrix, &flat.dictionary, &z));
            for row in 0..flat_matrix.rows() {
                let (mut x, mut y) = (Vec::new(), Vec::new());
                flat_matrix.for_row(row, |e| x.push(e));
                folded_matrix.for_row(row, |e| y.push(e));
                assert_eq!(x, y, "row {row}");
            }
        }
        assert_eq!(flat.densities(), folded.densities());
        assert_eq!(flat.unconstrained(), folded.unconstrained());
    }

    #[test]
    fn near_misses_are_refused() {
        // One coefficient, one column, one missing and one additional entry, each in the last copy of one matrix.
        let last = 1 + 3 * 4;
        type Spoil = fn(&mut Vec<(u32, Scalar)>);
        let spoils: [(usize, usize, Spoil); 4] = [
            (last, 0, |t| t[1].1 += Scalar::ONE),
            (last + 1, 1, |t| t[0].0 += 1),
            (last + 1, 2, |t| t.truncate(0)),
            (last + 2, 2, |t| t.push((7, Scalar::ONE))),
        ];
        for (row, matrix, spoil) in spoils {
            let flat = looped(|r, m, terms| {
                if (r, m) == (row, matrix) {
                    spoil(terms);
                }
            });
            let expected_row = 1 + (row - 1) % 3;
            let matrix = ['A', 'B', 'C'][matrix];
            assert_eq!(
                fold_repeats(&flat, &claim()),
                Err(RepeatError::Differs { matrix, row, expected_row })
            );
        }
    }

    #[test]
    fn impossible_claims_are_refused() {
        let flat = looped(|_, _, _| ());
        let refuse = |change: fn(&mut Repeats)| {
            let mut claim = claim();
            change(&mut claim);
            fold_repeats(&flat, &claim).unwrap_err()
        };
        assert!(matches!(refuse(|c| c.copies = 6), RepeatError::Rows { constraints: 18, .. }));
        assert!(matches!(refuse(|c| c.rows = 0), RepeatError::Rows { .. }));
        assert!(matches!(refuse(|c| c.copies = u32::MAX), RepeatError::Rows { .. }));
        assert!(matches!(
            refuse(|c| c.shifts[0].stride = 5),
            RepeatError::Shifts { index: 0, variables: 24 }
        ));
        assert!(matches!(refuse(|c| c.shifts[0].until = 4), RepeatError::Shifts { .. }));
        assert!(matches!(refuse(|c| c.shifts[0].until = 7), RepeatError::Differs { .. }));
        assert!(matches!(refuse(|c| c.first_row = 2), RepeatError::Differs { .. }));
        let folded = fold_repeats(&flat, &claim()).unwrap();
        assert!(matches!(
            fold_repeats(&folded, &claim()),
            Err(RepeatError::NotFlat { matrix: 'A', blocks: 3 })
        ));
    }
}
