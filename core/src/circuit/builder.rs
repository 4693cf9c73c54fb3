//! Building matrices row by row.

use std::collections::HashMap;

use super::{Block, Codes, Entry, Matrices, Matrix};
use crate::curve::Scalar;

/// Builds flat matrices row by row; terms may repeat a variable and hold zeros, as files of any producer may.
#[derive(Debug, Default)]
pub struct MatricesBuilder {
    // Randomly seeded, as coefficients come from files: nobody can choose them so that they collide.
    codes: HashMap<[u64; 4], u32, foldhash::fast::RandomState>,
    dictionary: Vec<Scalar>,
    matrices: [FlatMatrix; 3],
}

#[derive(Debug)]
struct FlatMatrix {
    row_ptr: Vec<u32>,
    cols: Vec<u32>,
    codes: Vec<u32>,
}

impl Default for FlatMatrix {
    fn default() -> Self {
        Self { row_ptr: vec![0], cols: Vec::new(), codes: Vec::new() }
    }
}

/// Rows that make no matrices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MatricesError {
    /// More than 2^32 - 1 entries in one matrix: it must be captured in blocks.
    #[error("matrix {matrix} has more than {} entries in one block", u32::MAX)]
    TooManyEntries {
        /// 'A', 'B' or 'C'.
        matrix: char,
    },
    /// Every constraint has a row in every matrix, if an empty one.
    #[error("matrix {matrix} has {found} rows, A has {expected}")]
    Rows {
        /// 'B' or 'C'.
        matrix: char,
        /// Rows of A.
        expected: usize,
        /// Rows of this one.
        found: usize,
    },
    /// A row uses a variable that does not exist.
    #[error("matrix {matrix}, row {row}: variable {variable} of {variables}")]
    Variable {
        /// 'A', 'B' or 'C'.
        matrix: char,
        /// First row that does.
        row: usize,
        /// The variable.
        variable: u32,
        /// How many there are.
        variables: usize,
    },
    /// No inputs, not even the constant 1; or more variables than 2^32 - 1.
    #[error("{inputs} inputs, the constant 1 counted, and {aux} auxiliary variables")]
    Counts {
        /// Inputs.
        inputs: usize,
        /// Auxiliary variables.
        aux: usize,
    },
    /// A coefficient that is not in the dictionary.
    #[error("no coefficient has the code {0}")]
    UnknownCode(u32),
    /// There are three matrices: 0, 1 and 2.
    #[error("no matrix {0}: A is 0, B is 1, C is 2")]
    NoSuchMatrix(usize),
}

const NAMES: [char; 3] = ['A', 'B', 'C'];

impl MatricesBuilder {
    /// Appends one row to matrix 0 (A), 1 (B) or 2 (C). `terms` is scratch: it is sorted, merged, and its zeros are dropped.
    pub fn push_row(&mut self, matrix: usize, terms: &mut Vec<(u32, Scalar)>) -> Result<(), MatricesError> {
        if matrix >= NAMES.len() {
            return Err(MatricesError::NoSuchMatrix(matrix));
        }
        merge(terms);
        for (col, coefficient) in terms.iter() {
            // Merged terms have no zeros, so there always is a code.
            if let Some(code) = self.code(coefficient) {
                let flat = &mut self.matrices[matrix];
                flat.cols.push(*col);
                flat.codes.push(code);
            }
        }
        self.close_row(matrix)
    }

    /// The same with coefficients that [`Self::code`] has entered: what readers of files use, as they see few distinct ones.
    pub fn push_coded_row(&mut self, matrix: usize, terms: &mut [Entry]) -> Result<(), MatricesError> {
        if matrix >= NAMES.len() {
            return Err(MatricesError::NoSuchMatrix(matrix));
        }
        if let Some(entry) = terms.iter().find(|entry| entry.code as usize >= self.dictionary.len()) {
            return Err(MatricesError::UnknownCode(entry.code));
        }
        if !terms.is_sorted_by_key(|entry| entry.col) {
            terms.sort_unstable_by_key(|entry| entry.col);
        }
        if terms.windows(2).any(|pair| pair[0].col == pair[1].col) {
            let value = |entry: &Entry| (entry.col, self.dictionary[entry.code as usize]);
            let mut decoded: Vec<(u32, Scalar)> = terms.iter().map(value).collect();
            return self.push_row(matrix, &mut decoded);
        }
        let flat = &mut self.matrices[matrix];
        flat.cols.extend(terms.iter().map(|entry| entry.col));
        flat.codes.extend(terms.iter().map(|entry| entry.code));
        self.close_row(matrix)
    }

    fn close_row(&mut self, matrix: usize) -> Result<(), MatricesError> {
        let flat = &mut self.matrices[matrix];
        let end = u32::try_from(flat.cols.len());
        let end = end.map_err(|_| MatricesError::TooManyEntries { matrix: NAMES[matrix] })?;
        flat.row_ptr.push(end);
        Ok(())
    }

    /// Dictionary index of a coefficient, which is entered if it is new; `None` for zero, which is never stored.
    pub fn code(&mut self, coefficient: &Scalar) -> Option<u32> {
        if bool::from(ff::Field::is_zero(coefficient)) {
            return None;
        }
        Some(*self.codes.entry(limbs(coefficient)).or_insert_with(|| {
            self.dictionary.push(*coefficient);
            (self.dictionary.len() - 1) as u32
        }))
    }

    /// What a code stands for.
    pub fn coefficient(&self, code: u32) -> Option<Scalar> {
        self.dictionary.get(code as usize).copied()
    }

    /// Replaces every column: for sources that learn the number of inputs last. Must keep the order within rows.
    pub(super) fn remap_columns(&mut self, column: impl Fn(u32) -> u32) {
        for matrix in &mut self.matrices {
            for col in &mut matrix.cols {
                *col = column(*col);
            }
        }
    }

    /// Appends the input rows to A and closes. `with_c` is false where the source has no C.
    pub fn finish(mut self, inputs: usize, aux: usize, with_c: bool) -> Result<Matrices, MatricesError> {
        self.check(inputs, aux, with_c)?;
        let constraints = self.matrices[0].row_ptr.len() - 1;
        for i in 0..inputs {
            self.push_row(0, &mut vec![(i as u32, <Scalar as ff::Field>::ONE)])?;
        }
        Ok(self.finish_with_input_rows(constraints, inputs, aux, with_c))
    }

    fn check(&self, inputs: usize, aux: usize, with_c: bool) -> Result<(), MatricesError> {
        let variables = inputs.saturating_add(aux);
        if inputs == 0 || u32::try_from(variables).is_err() {
            return Err(MatricesError::Counts { inputs, aux });
        }
        let expected = self.matrices[0].row_ptr.len() - 1;
        for (flat, matrix) in self.matrices.iter().zip(NAMES).take(if with_c { 3 } else { 2 }) {
            let found = flat.row_ptr.len() - 1;
            if found != expected {
                return Err(MatricesError::Rows { matrix, expected, found });
            }
            if let Some(at) = flat.cols.iter().position(|col| *col as usize >= variables) {
                let row = flat.row_ptr.partition_point(|end| *end as usize <= at) - 1;
                return Err(MatricesError::Variable { matrix, row, variable: flat.cols[at], variables });
            }
        }
        Ok(())
    }

    /// Closes matrices whose A already has its input rows (`.zkey`); the caller has checked rows and columns.
    pub(crate) fn finish_with_input_rows(
        self,
        constraints: usize,
        inputs: usize,
        aux: usize,
        with_c: bool,
    ) -> Matrices {
        let narrow = self.dictionary.len() <= 1 << 16;
        let [a, b, c] = self.matrices.map(|flat| flat.close(narrow));
        Matrices { dictionary: self.dictionary, a, b, c: with_c.then_some(c), constraints, inputs, aux }
    }
}

impl FlatMatrix {
    fn close(self, narrow: bool) -> Matrix {
        let codes = if narrow {
            Codes::Narrow(self.codes.into_iter().map(|c| c as u16).collect())
        } else {
            Codes::Wide(self.codes)
        };
        Matrix {
            blocks: vec![Block {
                repeat: 1,
                shifts: Vec::new(),
                row_ptr: self.row_ptr,
                cols: self.cols,
                codes,
            }],
        }
    }
}

/// Sorts by column, adds up repeated ones, drops zeros.
fn merge(terms: &mut Vec<(u32, Scalar)>) {
    terms.sort_by_key(|t| t.0);
    terms.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    terms.retain(|t| !bool::from(ff::Field::is_zero(&t.1)));
}

/// The Montgomery limbs, as a hash key.
fn limbs(s: &Scalar) -> [u64; 4] {
    let mut out = [0; 4];
    bytemuck::cast_slice_mut(&mut out).copy_from_slice(crate::curve::as_bytes(std::slice::from_ref(s)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff::Field;

    fn rows(counts: [usize; 3]) -> MatricesBuilder {
        let mut builder = MatricesBuilder::default();
        for (matrix, count) in counts.into_iter().enumerate() {
            (0..count).for_each(|i| builder.push_row(matrix, &mut vec![(i as u32, Scalar::ONE)]).unwrap());
        }
        builder
    }

    #[test]
    fn terms_are_sorted_merged_and_rid_of_zeros() {
        let mut builder = MatricesBuilder::default();
        let [one, two] = [1, 2].map(Scalar::from);
        let mut terms = vec![(3, one), (1, two), (3, one), (2, one), (2, -one), (0, Scalar::ZERO)];
        builder.push_row(0, &mut terms).unwrap();
        let codes = [builder.code(&two).unwrap(), builder.code(&one).unwrap()];
        let entry = |col, code| Entry { col, code };
        builder.push_coded_row(0, &mut [entry(2, codes[0]), entry(0, codes[1]), entry(2, codes[1])]).unwrap();
        assert_eq!(builder.code(&Scalar::ZERO), None);
        (0..2).for_each(|_| builder.push_row(1, &mut Vec::new()).unwrap());
        let m = builder.finish(1, 3, false).unwrap();
        let mut found = Vec::new();
        m.a.for_each_row(|_, e| {
            found.push(e.map(|e| (e.col, m.dictionary[e.code as usize])).collect::<Vec<_>>())
        });
        assert_eq!(found, [vec![(1, two), (3, two)], vec![(0, one), (2, Scalar::from(3))], vec![(0, one)]]);
    }

    #[test]
    fn what_makes_no_matrices_is_refused() {
        let expect = |builder: MatricesBuilder, inputs, aux, expected| {
            assert_eq!(builder.finish(inputs, aux, true), Err(expected));
        };
        expect(rows([2, 1, 2]), 1, 1, MatricesError::Rows { matrix: 'B', expected: 2, found: 1 });
        expect(rows([2, 2, 3]), 1, 1, MatricesError::Rows { matrix: 'C', expected: 2, found: 3 });
        let beyond = MatricesError::Variable { matrix: 'A', row: 3, variable: 3, variables: 3 };
        expect(rows([4, 4, 4]), 1, 2, beyond);
        expect(rows([0, 0, 0]), 0, 2, MatricesError::Counts { inputs: 0, aux: 2 });
        expect(rows([0, 0, 0]), 1, usize::MAX, MatricesError::Counts { inputs: 1, aux: usize::MAX });
        let mut builder = rows([1, 1, 1]);
        assert_eq!(builder.push_row(3, &mut Vec::new()), Err(MatricesError::NoSuchMatrix(3)));
        let mut unknown = [Entry { col: 0, code: 1 }];
        assert_eq!(builder.push_coded_row(0, &mut unknown), Err(MatricesError::UnknownCode(1)));
        assert_eq!(builder.push_coded_row(9, &mut unknown), Err(MatricesError::NoSuchMatrix(9)));
    }
}
