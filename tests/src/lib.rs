//! Shared helpers of the tests that span crates.

pub mod bites;
pub mod corrupt;
pub mod small;
