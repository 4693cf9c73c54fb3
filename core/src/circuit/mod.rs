//! Circuits as matrices, and the ways to get them: `.r1cs` files, `.zkey` coefficients, bellpepper circuits.

mod builder;
mod capture;
mod check;
mod matrices;
mod repeat;
mod setup;

pub use builder::{MatricesBuilder, MatricesError};
pub use capture::{CaptureError, Captured, capture, capture_blank, witness_of};
pub use check::{CheckError, Unsatisfied, check};
pub use matrices::{Block, Codes, Densities, Entry, Matrices, Matrix, Shift};
pub use repeat::{RepeatError, Repeats, fold_repeats};
pub use setup::{SetupError, SetupForm, ToxicWaste, setup, setup_on};
