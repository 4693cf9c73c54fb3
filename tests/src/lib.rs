//! Shared helpers of the tests that span crates.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

pub mod bites;
pub mod circuits;
pub mod corrupt;
pub mod fixtures;
pub mod small;
