//! The matrices A, B, C of a rank-1 constraint system over z = [1, public inputs, auxiliary].
//!
//! Coefficients are indices into a dictionary (Filecoin's circuits have 961 to 2,466 distinct ones among hundreds of
//! millions), and a matrix is a stack of blocks, each standing once or many times below itself with some of its columns shifted: a
//! 32 GiB PoRep partition is a preamble and 18 copies of one block.
//!
//! **Rows.** Rows 0..constraints are the circuit's. Every Groth16 key of ours then has one more row per public input, the constant 1
//! included, with `z_i * 0 = 0`: it makes the A polynomials of the inputs independent. These rows are part of A here (so
//! A has `constraints + inputs` rows); B and C end at `constraints`.

use std::collections::HashMap;

use crate::curve::Scalar;

/// The columns `from..until` of a repeated block move by `stride` from one copy to the next; columns in no range stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift {
    /// First column (in copy 0).
    pub from: u32,
    /// One past the last.
    pub until: u32,
    /// Columns per copy.
    pub stride: u32,
}

/// Dictionary indices of a block's entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Codes {
    /// At most 65,536 distinct coefficients.
    Narrow(Vec<u16>),
    /// More.
    Wide(Vec<u32>),
}

impl Codes {
    /// Number of entries.
    pub fn len(&self) -> usize {
        match self {
            Codes::Narrow(codes) => codes.len(),
            Codes::Wide(codes) => codes.len(),
        }
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Dictionary index of entry `i`.
    #[inline]
    pub fn get(&self, i: usize) -> usize {
        match self {
            Codes::Narrow(codes) => codes[i].into(),
            Codes::Wide(codes) => codes[i] as usize,
        }
    }
}

/// A CSR of some rows, standing `repeat` times below itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Copies; at least 1.
    pub repeat: u32,
    /// At most four disjoint ranges, ascending; none if `repeat` is 1.
    pub shifts: Vec<Shift>,
    /// rows + 1 offsets into `cols` and `codes`.
    pub row_ptr: Vec<u32>,
    /// Columns in copy 0; ascending and distinct within a row.
    pub cols: Vec<u32>,
    /// Coefficients, none of them zero.
    pub codes: Codes,
}

impl Block {
    /// Most ranges that a block's shifts may have: kernels hold them in registers.
    pub const MAX_SHIFTS: usize = 4;

    /// Rows of one copy.
    pub fn rows(&self) -> usize {
        self.row_ptr.len() - 1
    }
    /// Column `col` of copy 0 in copy `copy`.
    #[inline]
    pub fn shifted(&self, col: u32, copy: u32) -> u32 {
        let stride = self.shifts.iter().find(|s| (s.from..s.until).contains(&col)).map_or(0, |s| s.stride);
        col + copy * stride
    }
}

/// One matrix.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Matrix {
    /// From the top.
    pub blocks: Vec<Block>,
}

/// An entry of a row: column and dictionary index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Index into z.
    pub col: u32,
    /// Index into the dictionary.
    pub code: u32,
}

impl Matrix {
    /// Total rows.
    pub fn rows(&self) -> usize {
        self.blocks.iter().map(|b| b.rows() * b.repeat as usize).sum()
    }
    /// Total entries, repeats counted.
    pub fn nnz(&self) -> u64 {
        self.blocks.iter().map(|b| b.cols.len() as u64 * u64::from(b.repeat)).sum()
    }
    /// Calls `f` for every entry of one row; there are none beyond the last.
    pub fn for_row(&self, mut row: usize, mut f: impl FnMut(Entry)) {
        for block in &self.blocks {
            let rows = block.rows() * block.repeat as usize;
            if row >= rows {
                row -= rows;
                continue;
            }
            let (copy, row) = ((row / block.rows()) as u32, row % block.rows());
            for i in block.row_ptr[row] as usize..block.row_ptr[row + 1] as usize {
                f(Entry { col: block.shifted(block.cols[i], copy), code: block.codes.get(i) as u32 });
            }
            return;
        }
    }
    /// Calls `f(row, entries)` for every row from the top, repeats written out.
    pub fn for_each_row(&self, mut f: impl FnMut(usize, &mut dyn Iterator<Item = Entry>)) {
        let mut row = 0;
        for block in &self.blocks {
            for copy in 0..block.repeat {
                for r in 0..block.rows() {
                    let range = block.row_ptr[r] as usize..block.row_ptr[r + 1] as usize;
                    let mut entries = range.map(|i| Entry {
                        col: block.shifted(block.cols[i], copy),
                        code: block.codes.get(i) as u32,
                    });
                    f(row, &mut entries);
                    row += 1;
                }
            }
        }
    }
}

/// A circuit: its matrices over z, whose first `inputs` entries are the constant 1 and the public inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrices {
    /// Distinct coefficients; none is zero.
    pub dictionary: Vec<Scalar>,
    /// A, input rows included.
    pub a: Matrix,
    /// B.
    pub b: Matrix,
    /// C; `None` where the source does not have it (`.zkey`).
    pub c: Option<Matrix>,
    /// Constraints, without the input rows.
    pub constraints: usize,
    /// Public inputs and the constant 1.
    pub inputs: usize,
    /// Auxiliary variables.
    pub aux: usize,
}

/// How many bases each query of a monomial key has, and which variables they belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Densities {
    /// Variables with a non-zero A column, ascending.
    pub a: Vec<u32>,
    /// Variables with a non-zero B column, ascending.
    pub b: Vec<u32>,
}

impl Matrices {
    /// m, the length of z.
    pub fn variables(&self) -> usize {
        self.inputs + self.aux
    }
    /// Rows that the domain must hold: constraints and input rows.
    pub fn rows(&self) -> usize {
        self.constraints + self.inputs
    }
    /// log2 of bellman's domain: the smallest power of two that holds the rows.
    pub fn log_domain(&self) -> u32 {
        self.rows().next_power_of_two().trailing_zeros()
    }
    /// The variables that occur in A and in B.
    pub fn densities(&self) -> Densities {
        Densities { a: self.occurring(&self.a), b: self.occurring(&self.b) }
    }
    /// The first variable that occurs in no matrix at all.
    pub fn unconstrained(&self) -> Option<u32> {
        let mut seen = vec![false; self.variables()];
        for matrix in [Some(&self.a), Some(&self.b), self.c.as_ref()].into_iter().flatten() {
            mark(matrix, &mut seen);
        }
        seen.iter().position(|s| !s).map(|v| v as u32)
    }

    fn occurring(&self, matrix: &Matrix) -> Vec<u32> {
        let mut seen = vec![false; self.variables()];
        mark(matrix, &mut seen);
        (0..self.variables() as u32).filter(|&v| seen[v as usize]).collect()
    }
}

fn mark(matrix: &Matrix, seen: &mut [bool]) {
    for block in &matrix.blocks {
        for copy in 0..block.repeat {
            for &col in &block.cols {
                seen[block.shifted(col, copy) as usize] = true;
            }
        }
    }
}

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

/// More than 2^32 - 1 entries in one matrix: it must be captured in blocks.
#[derive(Debug, thiserror::Error)]
#[error("matrix {matrix} has more than {} entries in one block", u32::MAX)]
pub struct TooManyEntries {
    /// 'A', 'B' or 'C'.
    pub matrix: char,
}

impl MatricesBuilder {
    /// Appends one row to matrix 0 (A), 1 (B) or 2 (C). `terms` is scratch: it is sorted, merged, and its zeros are dropped.
    pub fn push_row(&mut self, matrix: usize, terms: &mut Vec<(u32, Scalar)>) -> Result<(), TooManyEntries> {
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

    /// The same with coefficients already in the dictionary: what readers of files use, as they see few distinct ones.
    pub fn push_coded_row(&mut self, matrix: usize, terms: &mut [Entry]) -> Result<(), TooManyEntries> {
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

    fn close_row(&mut self, matrix: usize) -> Result<(), TooManyEntries> {
        let flat = &mut self.matrices[matrix];
        let end =
            u32::try_from(flat.cols.len()).map_err(|_| TooManyEntries { matrix: ['A', 'B', 'C'][matrix] })?;
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
    pub fn finish(mut self, inputs: usize, aux: usize, with_c: bool) -> Result<Matrices, TooManyEntries> {
        let constraints = self.matrices[0].row_ptr.len() - 1;
        for i in 0..inputs {
            self.push_row(0, &mut vec![(i as u32, <Scalar as ff::Field>::ONE)])?;
        }
        Ok(self.finish_with_input_rows(constraints, inputs, aux, with_c))
    }

    /// Closes matrices whose A already has its input rows (`.zkey`).
    pub fn finish_with_input_rows(
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
