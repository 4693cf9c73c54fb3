//! The matrices A, B, C of a rank-1 constraint system over z = [1, public inputs, auxiliary].
//!
//! Coefficients are indices into a dictionary (Filecoin's circuits have 961 to 2,466 distinct ones among hundreds of
//! millions), and a matrix is a stack of blocks, each standing once or many times below itself with some of its columns shifted: a
//! 32 GiB PoRep partition is a preamble and 18 copies of one block.
//!
//! **Rows.** Rows 0..constraints are the circuit's. Every Groth16 key of ours then has one more row per public input, the constant 1
//! included, with `z_i * 0 = 0`: it makes the A polynomials of the inputs independent. These rows are part of A here (so
//! A has `constraints + inputs` rows); B and C end at `constraints`.

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
