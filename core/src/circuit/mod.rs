//! Circuits as matrices, and the ways to get them: `.r1cs` files, `.zkey` coefficients, bellpepper circuits.

mod matrices;

pub use matrices::{
    Block, Codes, Densities, Entry, Matrices, MatricesBuilder, Matrix, Shift, TooManyEntries,
};
