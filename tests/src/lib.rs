//! Shared helpers of the tests that span crates.
